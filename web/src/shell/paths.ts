/** The icons that the page and the chat on other sites have in common, on a square of 24 units. */
export const SHARED = {
  send: "M12 19V5M5 12l7-7 7 7",
  stop: "M7 7h10v10H7z",
  close: "M6 6l12 12M18 6L6 18",
  warn: "M12 4l9 16H3zM12 10v4M12 17h.01",
  again: "M20 11a8 8 0 1 0-2.3 6.3M20 5v6h-6",
  chat: "M4 5h16v11H10l-5 4v-4H4z",
  plus: "M12 5v14M5 12h14",
} as const;
