// Square pictures: two that are computed, and one's own, which never leaves the page; and the choice of one. A convolution is shown on the fine
// ones, sets and copied code use the coarse.

import { houseAt, ripplesAt } from "../../src/model/made-pictures.js";
import type { Cell } from "../../src/model/store.js";
import { choice } from "../../src/ui/controls.js";
import { fileButton, h, IMAGES } from "../../src/ui/dom.js";
import { squareOf } from "../../src/ui/square-of.js";
import { COARSE, FINE, type PICTURES, store, type WhatElseState } from "./state.js";

export const PIXELS = COARSE ** 2;

type ImageName = (typeof PICTURES)[number];

/** Red, green and blue from 0 to 1, pixel by pixel, in single precision. */
export type Colours = Float32Array<ArrayBuffer>;

/** `fine`: the grey at 128 by 128. */
type Image = Readonly<Record<"colours" | "grey" | "fine", Colours>>;

function madeImage(name: Exclude<ImageName, "own">): Image {
  const colour = name === "shapes" ? houseAt : ripplesAt;
  return imageOf((side) =>
    Array.from({ length: side ** 2 }, (_, pixel) =>
      colour(((pixel % side) * COARSE) / side, (Math.floor(pixel / side) * COARSE) / side),
    ).flat(),
  );
}

/** The middle of a picture file. */
async function readImage(file: File): Promise<Image> {
  const [coarse, fine] = await Promise.all([COARSE, FINE].map((side) => squareOf(file, side)));
  return imageOf((side) =>
    Array.from((side === COARSE ? coarse : fine)?.data ?? [], (part) => part / 255).filter((_, index) => index % 4 < 3),
  );
}

function imageOf(coloursAt: (side: number) => readonly number[]): Image {
  const [colours, fine] = [Float32Array.from(coloursAt(COARSE)), Float32Array.from(coloursAt(FINE))];
  return { colours, grey: greyOf(colours), fine: greyOf(fine) };
}

export type Gallery = ReturnType<typeof gallery>;

export function gallery() {
  let image = madeImage("shapes");
  let own: Image | undefined;
  let shown: ImageName | undefined;
  const message = h("p", { class: "field-message", role: "status" });
  const open = fileButton("Open a picture…", "photo", IMAGES, async ([picked]) => {
    if (picked === undefined) return;
    try {
      own = await readImage(picked);
      shown = undefined;
      message.textContent = `“${picked.name}”, its middle, at ${FINE} × ${FINE} pixels. It stays on this device, and is no part of the address.`;
    } catch {
      message.textContent = `“${picked.name}” could not be read as a picture. Try a PNG, JPEG or WebP file.`;
    }
    store.change({ image: "own" });
  });
  const names = { shapes: "house", ripples: "ripples", own: "your photo" };
  const choices = choice<ImageName>("Picture", names, (chosen) => {
    store.change({ image: chosen }, "new");
    if (chosen === "own" && own === undefined) open.click();
  });
  return {
    element: h("div", { class: "gallery" }, choices.element, open, message),
    image: (): Image => image,
    show(state: WhatElseState): void {
      choices.show(state.image);
      if (state.image === "own" && own === undefined)
        message.textContent = "No picture of your own yet: open one. Until then the house stands in.";
      if (state.image === shown) return;
      shown = state.image;
      image = shown === "own" ? (own ?? madeImage("shapes")) : madeImage(shown);
      if (shown !== "own") message.textContent = "";
    },
  };
}

/** The coarse pixel over a fine one, and the fine one in the corner of a coarse one. */
export const coarsely = (pixel: number): number => scaled(pixel, FINE, COARSE);
export const finely = (pixel: number): number => scaled(pixel, COARSE, FINE);

function scaled(pixel: number, from: number, to: number): number {
  const [row, col] = [Math.floor(pixel / from), pixel % from].map((place) => Math.floor((place * to) / from));
  return (row ?? 0) * to + (col ?? 0);
}

/** Of the pictures that stand beside each other: the same place in all of them. */
export function pixelCell(pixel: number, side: number): Cell {
  return { name: "pixel", row: Math.floor(pixel / side), col: pixel % side };
}

/** How light each pixel is: the luma of ITU-R BT.601. */
export function greyOf(colours: Colours): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: colours.length / 3 }, (_, pixel) => {
    const [red = 0, green = 0, blue = 0] = colours.subarray(pixel * 3, pixel * 3 + 3);
    return 0.299 * red + 0.587 * green + 0.114 * blue;
  });
}
