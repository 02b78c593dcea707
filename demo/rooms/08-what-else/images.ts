// Pictures of 32 x 32 pixels: two that are computed, and one's own.

export const SIZE = 32;
export const PIXELS = SIZE * SIZE;

export const IMAGES = ["shapes", "ripples", "own"] as const;
export type ImageName = (typeof IMAGES)[number];

/** Red, green and blue from 0 to 1, pixel by pixel, in single precision. */
export type Colours = Float32Array<ArrayBuffer>;

export function madeImage(name: Exclude<ImageName, "own">): Colours {
  const colour = name === "shapes" ? shapeAt : rippleAt;
  const colours = new Float32Array(PIXELS * 3);
  for (let pixel = 0; pixel < PIXELS; pixel++) {
    colours.set(colour(pixel % SIZE, Math.floor(pixel / SIZE)), pixel * 3);
  }
  return colours;
}

type Colour = readonly [number, number, number];

/** A house on a meadow under a sun. */
function shapeAt(x: number, y: number): Colour {
  if (Math.hypot(x - 25, y - 6) < 4) return [1, 0.8, 0.2];
  if (y >= 25) return [0.25, 0.6, 0.25];
  const inHouse = x >= 6 && x < 20;
  if (inHouse && y >= 16) return x >= 11 && x < 15 && y >= 19 ? [0.3, 0.18, 0.1] : [0.85, 0.82, 0.75];
  if (y >= 8 && y < 16 && Math.abs(x - 12.5) <= y - 7) return [0.7, 0.2, 0.15];
  return [0.5, 0.7, 0.9];
}

function rippleAt(x: number, y: number): Colour {
  const wave = (from: readonly [number, number], length: number): number =>
    0.5 + 0.5 * Math.cos((2 * Math.PI * Math.hypot(x - from[0], y - from[1])) / length);
  return [wave([5, 6], 9), wave([26, 10], 7), wave([14, 30], 12)];
}

/** The middle of a picture file, as a square of so few pixels. */
export async function readImage(file: File): Promise<Colours> {
  const bitmap = await createImageBitmap(file);
  const side = Math.min(bitmap.width, bitmap.height);
  const canvas = document.createElement("canvas");
  canvas.width = SIZE;
  canvas.height = SIZE;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (context === null) throw new Error("this browser draws no pictures");
  context.imageSmoothingQuality = "high";
  context.fillRect(0, 0, SIZE, SIZE);
  const [left, top] = [(bitmap.width - side) / 2, (bitmap.height - side) / 2];
  context.drawImage(bitmap, left, top, side, side, 0, 0, SIZE, SIZE);
  bitmap.close();
  const { data } = context.getImageData(0, 0, SIZE, SIZE);
  return Float32Array.from(
    { length: PIXELS * 3 },
    (_, index) => (data[Math.floor(index / 3) * 4 + (index % 3)] ?? 0) / 255,
  );
}

/** How light each pixel is: the luma of ITU-R BT.601. */
export function greyOf(colours: Colours): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: PIXELS }, (_, pixel) => {
    const [red = 0, green = 0, blue = 0] = colours.subarray(pixel * 3, pixel * 3 + 3);
    return 0.299 * red + 0.587 * green + 0.114 * blue;
  });
}
