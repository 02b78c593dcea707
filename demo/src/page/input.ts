// Where the page begins: a sentence or numbers typed by hand, and examples to start from.

import { formatSingle, readBlock, WHAT_IS_TYPED } from "heed/viz";
import { MOST_WIDTH } from "../model/embed.js";
import { fill, type Matrix, rowsOf } from "../model/matrix.js";
import { isNameless, NOTHING_EDITED, type State, type WalkStore } from "../model/state.js";
import { cutIntoWords, MOST_TOKENS } from "../model/tokens.js";
import type { Walk } from "../model/walk.js";
import { choice } from "../ui/choice.js";
import { h } from "../ui/dom.js";
import { presets } from "../ui/presets.js";
import { PRESETS } from "./presets.js";

export class SentenceInput {
  readonly #store: WalkStore;
  #source = choice("Start from", { words: "a sentence", numbers: "numbers" }, (value) => this.#switchSource(value));
  #text = h("input", {
    type: "text",
    id: "sentence",
    maxlength: 400,
    autocomplete: "off",
    spellcheck: "false",
    dir: "auto",
  });
  #numbers = h("textarea", { id: "numbers", rows: 5, spellcheck: "false", "aria-describedby": "numbers-help" });
  #textBox = h("div", { class: "field" }, h("label", { for: "sentence" }, "Sentence"), this.#text);
  #numbersBox = h(
    "div",
    { class: "field" },
    h("label", { for: "numbers" }, "X, one row per line"),
    this.#numbers,
    h("small", { id: "numbers-help" }, `Up to ${MOST_TOKENS} × ${MOST_WIDTH}; type, or paste from a spreadsheet.`),
  );
  #message = h("p", { class: "field-message", role: "status" });
  #wantsNumbers = false;
  /** What was read from the field last. */
  #read: Matrix | null = null;
  /** What stands in the field is no matrix. */
  #isUnread = false;
  #walk: Walk | undefined;

  constructor(store: WalkStore, root: HTMLElement) {
    this.#store = store;
    this.#text.addEventListener("input", () =>
      this.#store.change({ text: this.#text.value, numbers: null, hidden: [], asker: -1 }, "run"),
    );
    this.#numbers.addEventListener("input", () => this.#readNumbers());
    root.replaceChildren(
      h("div", { class: "controls-input" }, this.#source.element, this.#textBox, this.#numbersBox),
      this.#message,
      presets("Try", PRESETS, ({ state }) => this.#start(state)),
    );
  }

  show(state: State, walk: Walk): void {
    this.#walk = walk;
    // A single changed number must not swap the field under the reader's hand.
    const byHand = state.numbers !== null && (this.#wantsNumbers || isNameless(state));
    this.#source.show(byHand ? "numbers" : "words");
    this.#textBox.hidden = byHand;
    this.#numbersBox.hidden = !byHand;
    // Setting the same text again would move the cursor.
    if (this.#text.value !== state.text) this.#text.value = state.text;
    if (document.activeElement !== this.#numbers || state.numbers !== this.#read) {
      if (state.numbers !== null) this.#numbers.value = write(state.numbers);
      this.#isUnread = false;
    }
    this.#sayWhatIsWrong(state);
  }

  #switchSource(value: "words" | "numbers"): void {
    const { state } = this.#store;
    this.#wantsNumbers = value === "numbers";
    if (value === "words") {
      const text = cutIntoWords(state.text).words.length === 0 ? (PRESETS[0]?.state.text ?? "") : state.text;
      this.#store.change({ numbers: null, text, edited: NOTHING_EDITED }, "new");
      return;
    }
    this.#store.change({ numbers: this.#walk?.x ?? null }, "new");
  }

  #readNumbers(): void {
    const matrix = matrixFrom(readBlock(this.#numbers.value));
    this.#isUnread = matrix === null;
    if (matrix === null) {
      this.#sayWhatIsWrong(this.#store.state);
      return;
    }
    this.#read = matrix;
    this.#store.change({ numbers: matrix, asker: -1 }, "run");
  }

  #sayWhatIsWrong(state: State): void {
    this.#numbers.ariaInvalid = this.#isUnread ? "true" : null;
    this.#message.textContent = this.#isUnread
      ? `Not every line is a row of numbers yet; the picture shows the last X that was. ${WHAT_IS_TYPED}`
      : messageOf(state);
  }

  #start(preset: State): void {
    const { step, all, loop, role, columns } = this.#store.state;
    this.#wantsNumbers = false;
    this.#store.change({ ...preset, step, all, loop, role, columns }, "new");
  }
}

function messageOf(state: State): string {
  const { words, leftOut } = cutIntoWords(state.text);
  if (state.numbers !== null) return "";
  if (words.length === 0) return "No words yet. Type some, or take an example.";
  return leftOut > 0 ? `The first ${MOST_TOKENS} words are shown, ${leftOut} left out.` : "";
}

function write(matrix: Matrix): string {
  return rowsOf(matrix)
    .map((row) => row.map(formatSingle).join("  "))
    .join("\n");
}

/** Rows of equal length, cut to what the page can show; null for none. */
function matrixFrom(rows: readonly (readonly number[])[] | null): Matrix | null {
  if (rows === null || rows.length === 0) return null;
  const cols = Math.min(MOST_WIDTH, Math.max(...rows.map((row) => row.length)));
  const kept = rows.slice(0, MOST_TOKENS);
  return fill(kept.length, cols, (row, col) => kept[row]?.[col] ?? 0);
}
