// Pictures of 32 x 32 pixels: two that are computed, and one's own.

import type { Cell } from "../../src/model/cell.js";
import { houseAt, ripplesAt } from "../../src/model/made-pictures.js";
import { squareOf } from "../../src/ui/square-of.js";

export const SIZE = 32;
export const PIXELS = SIZE * SIZE;

export const IMAGES = ["shapes", "ripples", "own"] as const;
export type ImageName = (typeof IMAGES)[number];

/** Red, green and blue from 0 to 1, pixel by pixel, in single precision. */
export type Colours = Float32Array<ArrayBuffer>;

export function madeImage(name: Exclude<ImageName, "own">): Colours {
  const colour = name === "shapes" ? houseAt : ripplesAt;
  const colours = new Float32Array(PIXELS * 3);
  for (let pixel = 0; pixel < PIXELS; pixel++) {
    colours.set(colour(pixel % SIZE, Math.floor(pixel / SIZE)), pixel * 3);
  }
  return colours;
}

/** The middle of a picture file, as a square of so few pixels. */
export async function readImage(file: File): Promise<Colours> {
  const { data } = await squareOf(file, SIZE);
  return Float32Array.from(
    { length: PIXELS * 3 },
    (_, index) => (data[Math.floor(index / 3) * 4 + (index % 3)] ?? 0) / 255,
  );
}

/** Of the pictures that stand beside each other: the same place in all of them. */
export function pixelCell(pixel: number): Cell {
  return { name: "pixel", row: Math.floor(pixel / SIZE), col: pixel % SIZE };
}

/** How light each pixel is: the luma of ITU-R BT.601. */
export function greyOf(colours: Colours): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: PIXELS }, (_, pixel) => {
    const [red = 0, green = 0, blue = 0] = colours.subarray(pixel * 3, pixel * 3 + 3);
    return 0.299 * red + 0.587 * green + 0.114 * blue;
  });
}
