// Square pictures: two that are computed, and one's own, which never leaves the page; and the choice of one. A convolution is shown on the fine
// ones, sets and copied code use the coarse.

import { houseAt, ripplesAt } from "../../src/model/made-pictures.js";
import type { Cell } from "../../src/model/store.js";
import { boundChoice } from "../../src/ui/controls.js";
import { fileButton, h, IMAGES } from "../../src/ui/dom.js";
import { squareOf } from "../../src/ui/square-of.js";
import { COARSE, FINE, store, type WhatElseState } from "./state.js";

export const PIXELS = COARSE ** 2;

/** Red, green and blue from 0 to 1, pixel by pixel, in single precision. */
export type Colours = Float32Array<ArrayBuffer>;

/** `fine`: the grey at 128 by 128. */
type Image = Readonly<Record<"colours" | "grey" | "fine", Colours>>;

const images = new Map<WhatElseState["image"], Image>();

/** Without a photo of one's own the house stands in. */
export function imageOf({ image }: WhatElseState): Image {
  const known = images.get(image);
  if (known !== undefined) return known;
  if (image === "own") return imageOf({ ...store.state, image: "shapes" });
  const colourAt = image === "shapes" ? houseAt : ripplesAt;
  const coloursAt = (side: number): readonly number[] =>
    Array.from({ length: side ** 2 }, (_, pixel) =>
      colourAt(((pixel % side) * COARSE) / side, (Math.floor(pixel / side) * COARSE) / side),
    ).flat();
  const made = both(coloursAt(COARSE), coloursAt(FINE));
  images.set(image, made);
  return made;
}

function both(coarse: readonly number[], fine: readonly number[]): Image {
  const colours = Float32Array.from(coarse);
  return { colours, grey: greyOf(colours), fine: greyOf(Float32Array.from(fine)) };
}

/** The middle of a picture file, without its opacity. */
async function readColours(file: File, side: number): Promise<readonly number[]> {
  const { data } = await squareOf(file, side);
  return Array.from(data, (part) => part / 255).filter((_, index) => index % 4 < 3);
}

export function gallery(): HTMLElement {
  const message = h("p", { class: "field-message", role: "status" });
  const open = fileButton("Open a picture…", "photo", IMAGES, async ([picked]) => {
    if (picked === undefined) return;
    try {
      images.set("own", both(await readColours(picked, COARSE), await readColours(picked, FINE)));
      message.textContent = `“${picked.name}”, its middle, at ${FINE} × ${FINE} pixels. It stays on this device, and is no part of the address.`;
    } catch {
      message.textContent = `“${picked.name}” could not be read as a picture. Try a PNG, JPEG or WebP file.`;
    }
    store.change({ image: "own", photo: store.state.photo + 1 });
  });
  const names = { shapes: "house", ripples: "ripples", own: "your photo" };
  const tellMissing = ({ image }: WhatElseState): void => {
    if (image === "own" && !images.has("own") && message.textContent === "")
      message.textContent = "No picture of your own yet: open one. Until then the house stands in.";
    if (image !== "own") message.textContent = "";
  };
  store.listen(tellMissing);
  tellMissing(store.state);
  return h("div", { class: "gallery" }, boundChoice(store, "image", "Picture", names, { entry: "new" }), open, message);
}

/** Of the pictures that stand beside each other: the same place in all of them. */
export function pixelCell(pixel: number, side: number): Cell {
  return { name: "pixel", row: Math.floor(pixel / side), col: pixel % side };
}

/** How light each pixel is: the luma of ITU-R BT.601. */
export function greyOf(colours: Colours): Colours {
  return Float32Array.from({ length: colours.length / 3 }, (_, pixel) => {
    const [red = 0, green = 0, blue = 0] = colours.subarray(pixel * 3, pixel * 3 + 3);
    return 0.299 * red + 0.587 * green + 0.114 * blue;
  });
}
