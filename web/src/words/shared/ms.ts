import type { Shared } from "./words";

export const count = (number: number, noun: string) => `${number.toLocaleString("ms")} ${noun}`;
export const isNumber = (label: string) => /^[\divxlc]+$/i.test(label);

export const ms: Shared = {
  unreachable: "Pelayan tidak dapat dihubungi. Cuba lagi sebentar lagi.",
  interrupted: "Jawapan terputus. Tanya sekali lagi.",
  retryIn: (message, seconds) => `${message} Cuba lagi dalam ${seconds} s.`,
  close: "Tutup",
  newConversation: "Perbualan baharu",
  promise:
    "Setiap ayat jawapan menunjukkan perkataan tepat yang menjadi asasnya. Jika dokumen tiada jawapan, anda diberitahu.",
  askQuestion: "Tanya soalan",
  question: "Soalan",
  ask: "Tanya",
  stop: "Henti",
  searching: "Mencari dalam dokumen",
  reading: (passages) => `Membaca ${count(passages, "petikan teks")}`,
  citation: (marker) => `Petikan ${marker}`,
  answerIs: (answer) => `Jawapan: ${answer}`,
  notSupported: "bercanggah",
  notSaid: "Dokumen bercanggah dengan hal ini",
  unsupported: (wrong, all) => `${wrong} daripada ${count(all, "ayat")} bercanggah dengan dokumen.`,
  table: "Jadual",
  cited: "Dipetik",
  closest: "Petikan paling hampir",
  stoppedEarly: "Dihentikan. Teks di atas belum disemak sepenuhnya.",
  askAgain: "Tanya lagi",
  onPage: (label) => (isNumber(label) ? `halaman ${label}` : label),
  newTab: "membuka tab baharu",
  goodAnswer: "Jawapan baik",
  badAnswer: "Jawapan buruk",
  thanks: "Terima kasih atas maklum balas anda.",
};
