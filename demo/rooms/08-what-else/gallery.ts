// Which picture is looked at: a computed one, or a file of one's own, which never leaves the page.

import { choice } from "../../src/ui/choice.js";
import { fileButton, h, IMAGES } from "../../src/ui/dom.js";
import { FINE, type Image, type ImageName, madeImage, readImage } from "./images.js";
import type { WhatElseState, WhatElseStore } from "./state.js";

export type Gallery = ReturnType<typeof gallery>;

export function gallery(store: WhatElseStore) {
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
