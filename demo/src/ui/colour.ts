// CSS colours as numbers, whatever they are written as.

let pixel: CanvasRenderingContext2D | null | undefined;

function onePixel(): CanvasRenderingContext2D | null {
  const canvas = document.createElement("canvas");
  canvas.width = 1;
  canvas.height = 1;
  return canvas.getContext("2d", { willReadFrequently: true });
}

/** Red, green, blue and opacity, 0 to 255. */
export function colourOf(css: string): readonly [number, number, number, number] {
  pixel ??= onePixel();
  if (pixel === null) return [0, 0, 0, 255];
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = css;
  pixel.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0, alpha = 0] = pixel.getImageData(0, 0, 1, 1).data;
  return [red, green, blue, alpha];
}
