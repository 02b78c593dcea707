// Attention of one patch, drawn over the picture that it is a patch of.

import { fileButton, h, IMAGES } from "../../src/ui/dom.js";
import { HeedPixels } from "../../src/ui/heed-pixels.js";
import { exact } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { squareOf } from "../../src/ui/square-of.js";
import type { Library } from "./library.js";
import { PATCHES, SIDE } from "./photo.js";
import { type BringScene, rowAt } from "./scene.js";

export class PhotoPicture {
  readonly #library: Library;
  readonly #picture;
  readonly #asks = new HeedPixels();
  readonly #answers = new HeedPixels();
  readonly #message = h("p", { class: "field-message", role: "status" });
  #shares: Float64Array = new Float64Array(0);

  /** `look`: at a patch, as a query or as a key; `taken`: another picture is there. */
  constructor(library: Library, look: (row: number | undefined, col: number) => void, taken: () => void) {
    this.#library = library;
    const open = fileButton("Open a picture…", "patched", IMAGES, async ([file]) => {
      if (file === undefined) return;
      try {
        library.photo = await squareOf(file, SIDE);
        this.#message.textContent = `“${file.name}”, its middle, at ${SIDE} × ${SIDE} pixels. It stays on this device, and is no part of the address.`;
        taken();
      } catch {
        this.#message.textContent = `“${file.name}” could not be read as a picture. Try a PNG, JPEG or WebP file.`;
      }
    });
    // A patch that is chosen is the query; on the other picture, it is the key.
    this.#asks.choose = (patch) => look(patch, patch);
    this.#answers.choose = (patch) => look(undefined, patch);
    this.#picture = picture({
      name: "photo",
      title: "What a patch attends to",
      body: [h("div", {}, open), this.#message, h("div", { class: "photo-pair" }, this.#asks, this.#answers)],
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
    const common = { size: PATCHES, channels: 1, lit: photo } as const;
    const all = new Float64Array(source.keys).fill(1);
    this.#asks.show({ ...common, title: "Query", about: "choose a patch", data: all, range: [0, 1], cursor: row });
    this.#answers.show({
      ...common,
      title: "Attention",
      about: "the brightest patch has the most",
      data: this.#shares,
      range: [0, most],
      cursor: col,
    });
    this.#picture.say(
      `The picture is ${PATCHES} × ${PATCHES} patches, each a token. Head ${at.head + 1} was made to look for ${source.headName(at.layer, at.head)}. The patch in row ${Math.floor(row / PATCHES) + 1}, column ${(row % PATCHES) + 1} gives at most ${exact(most, 4)} to one patch.`,
    );
  }
}
