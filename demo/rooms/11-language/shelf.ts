// The KV cache as a shelf: a key and a value of every word in every layer, put there once and read again for each word that is written.

import type { Engine } from "../../src/engine/engine.js";
import { DIM, LAYERS, LONGEST } from "../../src/language/words.js";
import { agreement } from "../../src/page/room.js";
import { h, heads, line, refill, tableFrame } from "../../src/ui/dom.js";
import { exact, whole } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import type { CachedModel, Taken } from "./cached.js";
import type { LanguageScene } from "./scene.js";

/** Keys and values of a word in all layers, in f32. */
const BYTES_OF_SINGLE = 4;
const BYTES = LAYERS * 2 * DIM * BYTES_OF_SINGLE;

export function shelfPicture(engine: Engine) {
  const [head, rows, costs] = [h("tr", {}), h("tbody", {}), h("tbody", {})];
  const table = h("table", { class: "plain-table" }, heads("", "computes", "keeps", "takes (median)"), costs);
  let model: { readonly off: string; readonly opened: Promise<CachedModel> } | undefined;
  let taken: Taken[] = [];
  let reading: Promise<void> = Promise.resolve();
  const { element, say } = picture({
    name: "cache",
    title: "The KV cache is a shelf",
    body: [
      tableFrame("Keys and values on the shelf", h("table", { class: "shelf" }, h("thead", {}, head), rows)),
      tableFrame("What a word costs", table),
    ],
    data: () => ({ bytes: BYTES, taken }),
  });

  async function read(ids: readonly number[], off: readonly number[]): Promise<void> {
    const heed = await engine.started();
    if (model?.off !== String(off)) {
      close();
      const opened = import("./cached.js").then(({ openCached }) => openCached(heed, off));
      model = { off: String(off), opened };
    }
    const one = await (await model.opened).read(ids);
    if (one === undefined) return;
    taken.push(one);
    showCosts(ids.length);
  }

  function close(): void {
    void model?.opened.then((opened) => opened.dispose()).catch(() => {});
    model = undefined;
    taken = [];
  }

  function showCosts(count: number): void {
    const row = (name: string, computes: string, keeps: number, time: (one: Taken) => number) => {
      const median = taken.map(time).sort((a, b) => a - b)[taken.length >> 1];
      return line(name, [computes, `${whole(keeps)} bytes`, median === undefined ? "–" : `${exact(median, 2)} ms`]);
    };
    costs.replaceChildren(
      row("With the cache", "1 word", count * BYTES, ({ cached }) => cached),
      row("Without", `${count} ${count === 1 ? "word" : "words"}`, 0, ({ whole: all }) => all),
    );
    const apart = Math.max(...taken.map((one) => one.apart));
    const compared =
      taken.length === 0
        ? "Write a word, and both ways are timed."
        : `Both ways ${agreement(apart)}. So small a model hardly notices; a large one does.`;
    say(
      `Each word puts ${whole(BYTES)} bytes on the shelf: a key and a value of ${DIM} numbers, ${BYTES_OF_SINGLE} bytes each, in both layers. ${compared}`,
    );
  }

  return {
    element,
    show: ({ state, columns, words }: LanguageScene): void => {
      element.hidden = state.kind === "masked";
      if (state.kind === "masked" || columns.length === 0) return;
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
      showCosts(columns.length);
      const ids = columns.map((at) => words[at]?.id ?? 0);
      reading = reading.then(() => read(ids, state.off)).catch(close);
    },
  };
}
