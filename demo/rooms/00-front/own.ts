// One's own sentence, read by the small language model: arcs of the word in the light, and what the model goes on with.

import { type FlowSelection, HeedFlow } from "heed/viz";
import { cutIntoWords } from "../../src/model/tokens.js";
import { choice } from "../../src/ui/choice.js";
import { button, find, h, on } from "../../src/ui/dom.js";
import { percent } from "../../src/ui/numbers.js";
import type { Language, Reading } from "./language.js";
import type { FrontStore } from "./state.js";

const HEADS = ["1.1", "1.2", "1.3", "1.4", "2.1", "2.2", "2.3", "2.4"];
const TRY: readonly (readonly [string, string])[] = [
  ["tired", "the dog didn't cross the road because it was tired . it was the"],
  ["wide", "the dog didn't cross the road because it was wide . it was the"],
  ["who got it", "susan gave mary the ring . who got the ring ?"],
  ["who gave it", "susan gave mary the ring . who gave the ring ?"],
];

export class OwnSentence {
  readonly #store: FrontStore;
  readonly #field = find("#sentence", HTMLInputElement);
  readonly #flow = find("#own heed-flow", HeedFlow);
  readonly #said = find("#own-said", HTMLElement);
  readonly #heads;
  #language: Promise<Language> | undefined;
  /** The last sentence that was asked for: an answer to another one comes too late. */
  #asked: string | undefined;
  #words: readonly string[] = [];
  #places: readonly number[] = [];
  #reading: Reading | undefined;
  #asker = -1;

  constructor(store: FrontStore) {
    this.#store = store;
    this.#heads = choice(
      "Layer and head",
      HEADS.map((value) => ({ value, text: value.replace(".", " · ") })),
      (ownHead) => store.change({ ownHead }, "new"),
    );
    this.#flow.still = true;
    find("#own-heads", HTMLElement).replaceChildren(this.#heads.element);
    this.#field.addEventListener("input", () => store.change({ text: this.#field.value }, "run"));
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      seen.disconnect();
      void this.#read();
    });
    seen.observe(this.#flow);
    const examples = TRY.map(([name, text]) => button(name, () => store.change({ text }, "new"), "link"));
    find("#own-examples", HTMLElement).append(...examples);
    on<FlowSelection>(this.#flow, "select", ({ word }) => {
      this.#asker = word;
      this.#draw();
    });
  }

  show(before?: { readonly text: string }): void {
    const { text, ownHead } = this.#store.state;
    if (this.#field.value !== text) this.#field.value = text;
    this.#heads.show(ownHead);
    if (before !== undefined && before.text !== text) void this.#read();
    else this.#draw();
  }

  async #read(): Promise<void> {
    const { text } = this.#store.state;
    this.#asked = text;
    try {
      this.#language ??= import("./language.js").then(({ openLanguage }) => openLanguage());
      const language = await this.#language;
      find("#own-words", HTMLElement).textContent = language.words.join(" ");
      const { words } = cutIntoWords(text);
      const places = language.reads(words);
      const reading = places.length === 0 ? undefined : await language.read(places.map((place) => words[place] ?? ""));
      if (this.#asked !== text) return;
      [this.#words, this.#places, this.#reading] = [words, places, reading];
      this.#asker = places.at(-1) ?? -1;
      this.#draw();
    } catch (error) {
      this.#language = undefined;
      this.#said.textContent = `The model could not be read: ${error instanceof Error ? error.message : String(error)}.`;
    }
  }

  #draw(): void {
    if (this.#asked === undefined) return;
    const [words, places, reading] = [this.#words, this.#places, this.#reading];
    const [layer = 0, head = 0] = this.#store.state.ownHead.split(".").map((part) => Number(part) - 1);
    const rows = reading?.weights[layer]?.[head] ?? [];
    const shares = words.map((_, word) => {
      const row = rows[places.indexOf(word)];
      return row && words.map((_, key) => row[places.indexOf(key)] ?? 0);
    });
    const unread = words.filter((_, word) => !places.includes(word));
    this.#flow.show({ words, shares, hidden: new Set(), asker: this.#asker, noted: (word) => unread.includes(word) });
    const next = reading?.next.flatMap(({ word, share }, index): (Node | string)[] => [
      index === 0 ? "" : ", ",
      h("b", {}, word),
      ` ${percent(share)}`,
    ]);
    this.#said.replaceChildren(
      ...(next === undefined ? ["It knows none of these words."] : ["It goes on with ", ...next, "."]),
      ...(unread.length === 0 ? [] : [" Dotted words it does not know, and skips."]),
    );
  }
}
