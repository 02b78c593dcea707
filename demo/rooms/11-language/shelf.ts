// The KV cache as a shelf: a key and a value of every word in every layer, put there once and read again for each word that is written.

import type { Engine } from "../../src/engine/engine.js";
import { DIM, LAYERS, LONGEST } from "../../src/language/words.js";
import { agreement } from "../../src/page/furnish.js";
import { h } from "../../src/ui/dom.js";
import { exact, whole } from "../../src/ui/numbers.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import { heads, line, tableFrame } from "../../src/ui/table.js";
import type { CachedModel, Taken } from "./cached.js";
import type { LanguageScene } from "./scene.js";

/** Keys and values of a word in all layers, in f32. */
const BYTES = LAYERS * 2 * DIM * 4;
const BYTES_OF_SINGLE = 4;

export class Shelf {
  readonly picture: Picture;
  readonly #engine: Engine;
  readonly #rows = h("tbody", {});
  readonly #head = h("tr", {});
  readonly #costs = h("tbody", {});
  #model: { readonly off: string; readonly opened: Promise<CachedModel> } | undefined;
  #taken: Taken[] = [];
  #reading: Promise<void> = Promise.resolve();

  constructor(engine: Engine) {
    this.#engine = engine;
    this.picture = picture({
      name: "cache",
      title: "The KV cache is a shelf",
      body: [
        tableFrame(
          "Keys and values on the shelf",
          h("table", { class: "shelf" }, h("thead", {}, this.#head), this.#rows),
        ),
        h("table", { class: "plain-table" }, heads("", "computes", "keeps", "takes (median)"), this.#costs),
      ],
      data: () => ({ bytes: BYTES, taken: this.#taken }),
    });
  }

  show(scene: LanguageScene): void {
    const { state, columns, words } = scene;
    this.picture.element.hidden = state.kind === "masked";
    if (state.kind === "masked" || columns.length === 0) return;
    const slots = Array.from({ length: LONGEST }, (_, slot) => words[columns[slot] ?? -1]?.text);
    const names = slots.map((word) =>
      word === undefined ? h("td", {}) : h("th", { scope: "col" }, h("span", { class: "slot-word" }, word)),
    );
    this.#head.replaceChildren(h("td", {}), ...names);
    const rows = Array.from({ length: 2 * LAYERS }, (_, row) => {
      const name = row % 2 === 0 ? "K" : "V";
      const cells = slots.map((word) => h("td", { class: word === undefined ? "" : name }));
      return h("tr", {}, h("th", { scope: "row" }, `${name}, layer ${(row >> 1) + 1}`), ...cells);
    });
    this.#rows.replaceChildren(...rows);
    this.#showCosts(columns.length);
    const ids = columns.map((at) => words[at]?.id ?? 0);
    this.#reading = this.#reading.then(() => this.#read(ids, state.off)).catch(() => this.#close());
  }

  async #read(ids: readonly number[], off: readonly number[]): Promise<void> {
    const heed = await this.#engine.opened;
    if (heed === undefined) return;
    if (this.#model?.off !== String(off)) {
      this.#close();
      const opened = import("./cached.js").then(({ CachedModel }) => CachedModel.open(heed, off));
      this.#model = { off: String(off), opened };
    }
    const taken = await (await this.#model?.opened)?.read(ids);
    if (taken === undefined) return;
    this.#taken.push(taken);
    this.#showCosts(ids.length);
  }

  #close(): void {
    void this.#model?.opened.then((model) => model.dispose()).catch(() => {});
    this.#model = undefined;
    this.#taken = [];
  }

  #showCosts(count: number): void {
    const taken = this.#taken;
    const row = (name: string, computes: string, keeps: number, time: (one: Taken) => number) => {
      const median = taken.map(time).sort((a, b) => a - b)[taken.length >> 1];
      return line(name, [computes, `${whole(keeps)} bytes`, median === undefined ? "–" : `${exact(median, 2)} ms`]);
    };
    this.#costs.replaceChildren(
      row("With the cache", "1 word", count * BYTES, ({ cached }) => cached),
      row("Without", `${count} ${count === 1 ? "word" : "words"}`, 0, ({ whole: all }) => all),
    );
    const each = `Each word puts ${whole(BYTES)} bytes on the shelf: a key and a value of ${DIM} numbers, ${BYTES_OF_SINGLE} bytes each, in both layers. `;
    const apart = Math.max(...taken.map((one) => one.apart));
    this.picture.say(
      taken.length === 0
        ? `${each}Write a word, and both ways are timed.`
        : `${each}Both ways ${agreement(apart)}. So small a model hardly notices; a large one does.`,
    );
  }
}
