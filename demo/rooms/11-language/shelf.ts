// The KV cache as a shelf: a key and a value of every word in every layer, put there once and read again for each word that is written.

import { DIM, LAYERS, LONGEST } from "../../src/language/words.js";
import { h, heads, line, refill, tableFrame } from "../../src/ui/dom.js";
import { whole } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import type { LanguageScene } from "./scene.js";

/** Keys and values of a word in all layers, in f32. */
const BYTES_OF_SINGLE = 4;
const BYTES = LAYERS * 2 * DIM * BYTES_OF_SINGLE;

export function shelfPicture() {
  const [head, rows, costs] = [h("tr", {}), h("tbody", {}), h("tbody", {})];
  const table = h("table", { class: "plain-table" }, heads("", "computes", "keeps"), costs);
  let count = 0;
  const { element, say } = picture({
    name: "cache",
    title: "The KV cache is a shelf",
    body: [
      tableFrame("Keys and values on the shelf", h("table", { class: "shelf" }, h("thead", {}, head), rows)),
      tableFrame("What a word costs", table),
    ],
    data: () => ({ bytes: BYTES, words: count }),
  });
  say(
    `Each word puts ${whole(BYTES)} bytes on the shelf: a key and a value of ${DIM} numbers, ${BYTES_OF_SINGLE} bytes each, in both layers. The next word reads them, and computes only its own.`,
  );
  return {
    element,
    show: ({ state, columns, words }: LanguageScene): void => {
      element.hidden = state.kind === "masked";
      count = columns.length;
      const slots = Array.from({ length: LONGEST }, (_, slot) => words[columns[slot] ?? -1]?.text);
      const names = slots.map((word) =>
        word === undefined ? h("td", {}) : h("th", { scope: "col" }, h("span", { class: "slot-word" }, word)),
      );
      refill(head, h("td", {}), ...names);
      const kept = Array.from({ length: 2 * LAYERS }, (_, row) => {
        const name = row % 2 === 0 ? "K" : "V";
        const cells = slots.map((word) => h("td", { class: word === undefined ? "" : name }));
        return h("tr", {}, h("th", { scope: "row" }, `${name}, layer ${(row >> 1) + 1}`), ...cells);
      });
      refill(rows, ...kept);
      costs.replaceChildren(
        line("With the cache", ["1 word", `${whole(count * BYTES)} bytes`]),
        line("Without", [`${count} ${count === 1 ? "word" : "words"}`, "0 bytes"]),
      );
    },
  };
}
