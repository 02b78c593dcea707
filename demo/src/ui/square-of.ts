// The middle of a picture file as a square of so many pixels.

import { h } from "./dom.js";

export async function squareOf(file: File, side: number): Promise<ImageData> {
  const bitmap = await createImageBitmap(file);
  const edge = Math.min(bitmap.width, bitmap.height);
  const context = h("canvas", { width: side, height: side }).getContext("2d", { willReadFrequently: true });
  if (context === null) throw new Error("this browser draws no pictures");
  context.imageSmoothingQuality = "high";
  context.fillRect(0, 0, side, side);
  const [left, top] = [(bitmap.width - edge) / 2, (bitmap.height - edge) / 2];
  context.drawImage(bitmap, left, top, edge, edge, 0, 0, side, side);
  bitmap.close();
  return context.getImageData(0, 0, side, side);
}
