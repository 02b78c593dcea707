// The sources that there are: the example, made when it is first looked at, and what was brought, which lives as long as the page.

import { exampleSource } from "./example.js";
import { madePicture, photoSource } from "./photo.js";
import type { Source } from "./source.js";
import type { BringState } from "./state.js";

export class Library {
  own: Source | undefined;
  #photoSource: Source | undefined;
  #photo: ImageData | undefined;
  #example: { readonly tokens: number; readonly seed: number; readonly source: Source } | undefined;

  /** One's own picture, else one that is computed. */
  get photo(): ImageData {
    this.#photo ??= madePicture();
    return this.#photo;
  }

  set photo(picture: ImageData) {
    this.#photo = picture;
    this.#photoSource = undefined;
  }

  /** The example stands in for what is not there (yet). */
  sourceOf({ source, tokens, seed }: BringState): Source {
    if (source === "own" && this.own !== undefined) return this.own;
    if (source === "photo") {
      this.#photoSource ??= photoSource("a picture", this.photo);
      return this.#photoSource;
    }
    if (this.#example?.tokens !== tokens || this.#example.seed !== seed) {
      this.#example = { tokens, seed, source: exampleSource(tokens, seed) };
    }
    return this.#example.source;
  }
}
