/** A picture that a question is about: its name, and the picture itself as an address. */
export interface Picture {
  name: string;
  url: string;
}

/** Pixels of the longer side: more than the server shows the model. */
const LONGEST = 1600;
const QUALITY = 0.9;

/** Return a picture as it is sent: so small that the photo of a phone is not refused, and without data on its place. */
export async function reduced(file: File): Promise<Picture> {
  const image = await createImageBitmap(file);
  const scale = Math.min(1, LONGEST / Math.max(image.width, image.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(image.width * scale));
  canvas.height = Math.max(1, Math.round(image.height * scale));
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error("This browser cannot draw.");
  pen.fillStyle = "white";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  return { name: file.name, url: canvas.toDataURL("image/jpeg", QUALITY) };
}
