import { SHARED } from "../shell/paths";

type Child = Node | string | false | null | undefined;

/**
 * Return an element with attributes and children. Texts become text nodes: nothing here ever reads HTML, so no document,
 * answer or setting can bring in an element. Attributes come from this program, and addresses from `safeLink`.
 */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== false && child !== null && child !== undefined));
  return made;
}

/** Return a decorative icon, hidden from screen readers. */
export function icon(name: keyof typeof SHARED): SVGSVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", SHARED[name]);
  svg.append(path);
  return svg;
}

/** Return a button with an icon and a name for screen readers. */
export function iconButton(
  name: keyof typeof SHARED,
  label: string,
  onClick: () => void,
  look = "",
): HTMLButtonElement {
  const button = el("button", { type: "button", class: `icon-button ${look}`, "aria-label": label, title: label });
  button.append(icon(name));
  button.addEventListener("click", onClick);
  return button;
}
