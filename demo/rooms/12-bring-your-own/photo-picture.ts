// Attention of one patch, drawn over the picture that it is a patch of.

import { fileButton, h, IMAGES } from "../../src/ui/dom.js";
import { HeedPixels } from "../../src/ui/heed-pixels.js";
import { exact } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { squareOf } from "../../src/ui/square-of.js";
import { PATCHES, SIDE } from "./photo.js";
import { type BringScene, type Library, rowAt } from "./scene.js";
import type { BringStore } from "./state.js";

/** `look`: at a patch, as a query or as a key. */
export function photoPicture(store: BringStore, library: Library, look: (row: number, col: number) => void) {
  const [query, keys] = [new HeedPixels(), new HeedPixels()];
  const message = h("p", { class: "field-message", role: "status" });
  let weights: ArrayLike<number> = [];
  let asking = 0;
  const open = fileButton("Open a picture…", "patched", IMAGES, async ([file]) => {
    if (file === undefined) return;
    try {
      library.photo = await squareOf(file, SIDE);
      const size = `its middle, at ${SIDE} × ${SIDE} pixels`;
      message.textContent = `“${file.name}”, ${size}. It stays on this device, and is no part of the address.`;
      store.change({ source: "photo", brought: store.state.brought + 1 });
    } catch {
      message.textContent = `“${file.name}” could not be read as a picture. Try a PNG, JPEG or WebP file.`;
    }
  });
  // A patch that is chosen is the query; on the other picture, it is the key.
  query.choose = (patch) => look(patch, patch);
  keys.choose = (patch) => look(asking, patch);
  const { element, say } = picture({
    name: "photo",
    title: "What a patch attends to",
    body: [h("div", {}, open), message, h("div", { class: "photo-pair" }, query, keys)],
    data: () => ({ patches: PATCHES, weights: Array.from(weights) }),
  });
  return {
    element,
    show: (scene: BringScene): void => {
      const { state, source, row, col, at } = scene;
      element.hidden = state.source !== "photo";
      if (element.hidden) return;
      asking = row;
      weights = rowAt(scene, row).weights;
      const most = Array.from(weights).reduce((best, weight) => Math.max(best, weight), 0);
      const common = { size: PATCHES, channels: 1, lit: library.picture } as const;
      const all = new Float64Array(source.keys).fill(1);
      query.show({ ...common, title: "Query", about: "choose a patch", data: all, range: [0, 1], cursor: row });
      const attention = { title: "Attention", about: "the brightest patch has the most" };
      keys.show({ ...common, ...attention, data: weights, range: [0, most], cursor: col });
      const patches = `The picture is ${PATCHES} × ${PATCHES} patches, each a token`;
      const head = `Head ${at.head + 1} looks for ${source.headName?.(at.layer, at.head)}`;
      const patch = `The patch in row ${Math.floor(row / PATCHES) + 1}, column ${(row % PATCHES) + 1}`;
      say(`${patches}. ${head}. ${patch} has a largest attention weight of ${exact(most, 4)}.`);
    },
  };
}
