import react from "@vitejs/plugin-react";
import { build, defineConfig, loadEnv, type Plugin } from "vite";

/** What the page may do, said in the page itself: a published copy has no server of ours to say it. */
function policy(api: string): string {
  const connect = api ? `'self' ${new URL(api).origin}` : "'self'";
  return `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src ${connect}; base-uri 'none'; form-action 'none'`;
}

const TARGET = { target: "es2022", cssTarget: ["chrome123", "firefox120", "safari17.5"] };

/** Build the chat on other sites beside the page: one script without modules, because it comes from another origin. */
function widget(): Plugin {
  let outDir = "";
  return {
    name: "widget",
    apply: "build",
    configResolved: (config) => {
      outDir = config.build.outDir;
    },
    closeBundle: async () => {
      await build({
        configFile: false,
        publicDir: false,
        logLevel: "warn",
        build: {
          ...TARGET,
          outDir,
          emptyOutDir: false,
          lib: { entry: "src/widget/main.ts", formats: ["iife"], name: "ragstone", fileName: () => "widget.js" },
        },
      });
    },
  };
}

export default defineConfig(({ command, mode }) => {
  const { VITE_API = "", VITE_BASE = "./" } = loadEnv(mode, ".", "VITE_");
  return {
    base: VITE_BASE,
    build: {
      outDir: "../ragstone/serve/page",
      emptyOutDir: true,
      ...TARGET,
      assetsInlineLimit: 0,
      modulePreload: false,
    },
    plugins: [
      react(),
      widget(),
      {
        name: "policy",
        // The development server puts scripts of its own into the page.
        transformIndexHtml: (html: string) =>
          command === "build" ? html.replace("%POLICY%", policy(VITE_API)) : html.replace("%POLICY%", ""),
      },
    ],
    server: {
      proxy: {
        "^/(query|research|search|documents|jobs|conversations|feedback|responses|me|places|pages|rows|originals|sign-in|sign-out|admin|status|stats|sync|suggestions|collections)":
          "http://127.0.0.1:8000",
      },
    },
  };
});
