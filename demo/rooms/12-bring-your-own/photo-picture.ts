// Attention of one patch, drawn over the picture that it is a patch of.

import { h } from "../../src/ui/dom.js";
import { HeedPixels } from "../../src/ui/heed-pixels.js";
import { exact } from "../../src/ui/numbers.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import { squareOf } from "../../src/ui/square-of.js";
import type { Library } from "./library.js";
import { PATCHES, SIDE } from "./photo.js";
import { type BringScene, rowAt } from "./scene.js";

export class PhotoPicture {
  readonly #library: Library;
  readonly #picture: Picture;
  readonly #asks = new HeedPixels();
  readonly #answers = new HeedPixels();
  readonly #message = h("p", { class: "field-message", role: "status" });
  #shares: Float64Array = new Float64Array(0);

  /** `look`: at a patch, as a query or as a key; `taken`: another picture is there. */
  constructor(library: Library, look: (row: number | undefined, col: number) => void, taken: () => void) {
    this.#library = library;
    const file = h("input", { type: "file", accept: "image/*", id: "patched" });
    file.addEventListener("change", async () => {
      const [picked] = file.files ?? [];
      if (picked === undefined) return;
      try {
        library.photo = await squareOf(picked, SIDE);
        this.#message.textContent = `“${picked.name}”, its middle, at ${SIDE} × ${SIDE} pixels. It stays on this device, and is no part of the address.`;
        taken();
      } catch {
        this.#message.textContent = `“${picked.name}” could not be read as a picture. Try a PNG, JPEG or WebP file.`;
      }
      file.value = "";
    });
    // A patch that is chosen asks; on the other picture, one that answers is looked at.
    this.#asks.choose = (patch) => look(patch, patch);
    this.#answers.choose = (patch) => look(undefined, patch);
    this.#picture = picture({
      name: "photo",
      title: "What a patch sees",
      body: [
        h("div", {}, h("label", { class: "button file-button", for: "patched" }, "Open a picture…", file)),
        this.#message,
        h("div", { class: "photo-pair" }, this.#asks, this.#answers),
      ],
      data: () => ({ patches: PATCHES, shares: Array.from(this.#shares) }),
    });
  }

  get element(): HTMLElement {
    return this.#picture.element;
  }

  show(scene: BringScene): void {
    const { state, source, row, col, at } = scene;
    this.element.hidden = state.source !== "photo";
    if (this.element.hidden) return;
    const { photo } = this.#library;
    this.#shares = rowAt(scene, row)?.shares ?? new Float64Array(source.keys);
    const most = this.#shares.reduce((best, share) => Math.max(best, share), 0);
    const common = { size: PATCHES, data: this.#shares, channels: 1 as const, cursor: row };
    const all = new Float64Array(source.keys).fill(1);
    this.#asks.show({ ...common, title: "Ask", about: "choose a patch", data: all, range: [0, 1], lit: photo });
    this.#answers.show({
      ...common,
      title: "Attention",
      about: "the brightest has the most",
      range: [0, most],
      lit: photo,
      cursor: col,
    });
    this.#picture.say(
      `The picture is ${PATCHES} × ${PATCHES} patches, each a token. Head ${at.head + 1} was made to look for ${source.headName(at.layer, at.head)}. The patch in row ${Math.floor(row / PATCHES) + 1}, column ${(row % PATCHES) + 1} gives at most ${exact(most, 4)} to one patch.`,
    );
  }
}
