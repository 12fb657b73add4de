import react from "@vitejs/plugin-react";
import { defineConfig, loadEnv } from "vite";

/** What the page may do, said in the page itself: a published copy has no server of ours to say it. */
function policy(api: string): string {
  const connect = api ? `'self' ${new URL(api).origin}` : "'self'";
  return `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src ${connect}; base-uri 'none'; form-action 'none'`;
}

export default defineConfig(({ command, mode }) => {
  const { VITE_API = "", VITE_BASE = "./" } = loadEnv(mode, ".", "VITE_");
  return {
    base: VITE_BASE,
    build: {
      outDir: "../ragstone/serve/page",
      emptyOutDir: true,
      target: "es2022",
      cssTarget: ["chrome123", "firefox120", "safari17.5"],
      assetsInlineLimit: 0,
      modulePreload: false,
    },
    plugins: [
      react(),
      {
        name: "policy",
        // The development server puts scripts of its own into the page.
        transformIndexHtml: (html: string) =>
          command === "build" ? html.replace("%POLICY%", policy(VITE_API)) : html.replace("%POLICY%", ""),
      },
    ],
    server: {
      proxy: {
        "^/(query|search|documents|jobs|conversations|feedback|responses|me|places|pages|originals|sign-in|sign-out|admin|status|stats|sync)":
          "http://127.0.0.1:8000",
      },
    },
  };
});
