/** The icons that the page and the chat on other sites have in common, on a square of 24 units. */
export const SHARED = {
  send: "M12 19V5M5 12l7-7 7 7",
  stop: "M7 7h10v10H7z",
  close: "M6 6l12 12M18 6L6 18",
  warn: "M12 4l9 16H3zM12 10v4M12 17h.01",
  again: "M20 11a8 8 0 1 0-2.3 6.3M20 5v6h-6",
  chat: "M4 5h16v11H10l-5 4v-4H4z",
  plus: "M12 5v14M5 12h14",
  up: "M7 21V10l5-8c1.6 0 2.6 1.2 2.3 2.8L13.6 9H19a2 2 0 0 1 2 2.4l-1.5 7.5A2.6 2.6 0 0 1 17 21H7zM7 21H3V10h4",
  down: "M17 3v11l-5 8c-1.6 0-2.6-1.2-2.3-2.8l.7-4.2H5a2 2 0 0 1-2-2.4l1.5-7.5A2.6 2.6 0 0 1 7 3h10zM17 3h4v11h-4",
} as const;
