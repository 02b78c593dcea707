// Which picture is looked at: a computed one, or a file of one's own, which never leaves the page.

import { choice } from "../../src/ui/choice.js";
import { h } from "../../src/ui/dom.js";
import { FINE, type ImageName, madeImage, readImage } from "./images.js";
import type { WhatElseState, WhatElseStore } from "./state.js";

export class Gallery {
  readonly element;
  image = madeImage("shapes");
  #own: typeof this.image | undefined;
  #shown: ImageName | undefined;
  readonly #choice;
  readonly #message = h("p", { class: "field-message", role: "status" });

  constructor(change: WhatElseStore["change"]) {
    this.#choice = choice<ImageName>(
      "Picture",
      [
        { value: "shapes", text: "house" },
        { value: "ripples", text: "ripples" },
        { value: "own", text: "your photo" },
      ],
      (image) => {
        change({ image }, "new");
        if (image === "own" && this.#own === undefined) file.click();
      },
    );
    const file = h("input", { type: "file", accept: "image/*", id: "photo" });
    file.addEventListener("change", async () => {
      const [picked] = file.files ?? [];
      if (picked === undefined) return;
      try {
        this.#own = await readImage(picked);
        this.#shown = undefined;
        this.#message.textContent = `“${picked.name}”, its middle, at ${FINE} × ${FINE} pixels. It stays on this device, and is no part of the address.`;
      } catch {
        this.#message.textContent = `“${picked.name}” could not be read as a picture. Try a PNG, JPEG or WebP file.`;
      }
      change({ image: "own" });
    });
    this.element = h(
      "div",
      { class: "gallery" },
      this.#choice.element,
      h("label", { class: "button file-button", for: "photo" }, "Open a picture…", file),
      this.#message,
    );
  }

  show({ image }: WhatElseState): void {
    this.#choice.show(image);
    if (image === "own" && this.#own === undefined) {
      this.#message.textContent = "No picture of your own yet: open one. Until then the house stands in.";
    }
    if (image === this.#shown) return;
    this.#shown = image;
    this.image = image === "own" ? (this.#own ?? madeImage("shapes")) : madeImage(image);
    if (image !== "own") this.#message.textContent = "";
  }
}
