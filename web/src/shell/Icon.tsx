import { SHARED } from "./paths";

const PATHS = {
  ...SHARED,
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  menu: "M4 7h16M4 12h16M4 17h16",
  minus: "M5 12h14",
  download: "M12 4v12M6 10l6 6 6-6M4 20h16",
  search: "M16.5 16.5L21 21M18 11a7 7 0 1 1-14 0 7 7 0 0 1 14 0z",
  files: "M14 3H6v18h12V7zM14 3v4h4M9 12h6M9 16h6",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v6M14 11v6",
  filter: "M4 6h16M7 12h10M10 18h4",
  key: "M14 10a4 4 0 1 1-8 0 4 4 0 0 1 8 0zM13 12l8 8M18 17l2-2M16 15l1.5-1.5",
  left: "M15 5l-7 7 7 7",
  right: "M9 5l7 7-7 7",
  out: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
  upload: "M12 16V4M6 10l6-6 6 6M4 20h16",
  picture: "M4 5h16v14H4zM4 16l5-5 4 4 2-2 5 5M16 9h.01",
  light:
    "M12 4V2M12 22v-2M4 12H2M22 12h-2M6.3 6.3L4.9 4.9M19.1 19.1l-1.4-1.4M17.7 6.3l1.4-1.4M4.9 19.1l1.4-1.4M16 12a4 4 0 1 1-8 0 4 4 0 0 1 8 0z",
  dark: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
  system: "M3 5h18v11H3zM9 20h6M12 16v4",
  keyboard: "M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M18 10h.01M7 14h10",
  check: "M5 12.5l4.5 4.5L19 7.5",
  info: "M12 11v6M12 7.5h.01M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0z",
  dots: "M6 12h.01M12 12h.01M18 12h.01",
  pencil: "M4 20l1-4L16 5l3 3L8 19zM13.5 7.5l3 3",
  more: "M6 9l6 6 6-6",
  gauge: "M4 18a9 9 0 1 1 16 0M12 14l4-5M12 14h.01",
} as const;

export type IconName = keyof typeof PATHS;

/** A decorative icon, hidden from screen readers. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
