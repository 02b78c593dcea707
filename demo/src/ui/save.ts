// Hands a picture or its numbers to the reader as a file.

import { h } from "./dom.js";
import { drawingOf } from "./drawing.js";

const PIXELS_PER_POINT = 2;

export function saveSvg(name: string, picture: HTMLElement): void {
  saveBlob(`${name}.svg`, new Blob([textOf(picture)], { type: "image/svg+xml" }));
}

export async function savePng(name: string, picture: HTMLElement): Promise<void> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(textOf(picture))}`;
  await image.decode();
  const [width, height] = [image.naturalWidth, image.naturalHeight].map((side) => side * PIXELS_PER_POINT);
  const canvas = h("canvas", { width, height });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((done) => {
    canvas.toBlob(done, "image/png");
  });
  if (blob === null) throw new Error(`a picture of ${canvas.width} × ${canvas.height} pixels is too large here`);
  saveBlob(`${name}.png`, blob);
}

/** Infinity and NaN, which JSON lacks, become words, and typed arrays lists. */
export function saveJson(name: string, data: unknown): void {
  const plain = (_key: string, value: unknown): unknown =>
    ArrayBuffer.isView(value)
      ? Array.from(value as Float64Array)
      : typeof value === "number" && !Number.isFinite(value)
        ? String(value)
        : value;
  const text = JSON.stringify(data, plain, 1);
  saveBlob(`${name}.json`, new Blob([`${text}\n`], { type: "application/json" }));
}

function textOf(picture: HTMLElement): string {
  return new XMLSerializer().serializeToString(drawingOf(picture));
}

export function saveBlob(name: string, blob: Blob): void {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
