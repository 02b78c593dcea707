// CSS colours as numbers, whatever they are written as.

import { h } from "./dom.js";

let pixel: CanvasRenderingContext2D | null = null;

/** Red, green, blue and opacity, 0 to 255. */
export function colourOf(css: string): readonly [number, number, number, number] {
  pixel ??= h("canvas", { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  if (pixel === null) return [0, 0, 0, 255];
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = css;
  pixel.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0, alpha = 0] = pixel.getImageData(0, 0, 1, 1).data;
  return [red, green, blue, alpha];
}
