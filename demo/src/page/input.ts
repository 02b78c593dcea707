// Where the page begins: a sentence or numbers typed by hand, and examples to start from.

import { formatSingle, readBlock, WHAT_IS_TYPED } from "heed/viz";
import { fill, identity, type Matrix, rowsOf, singleRows } from "../model/matrix.js";
import { INITIAL, isNameless, NOTHING_EDITED, type State, type WalkStore } from "../model/state.js";
import { cutIntoWords, MOST_TOKENS } from "../model/tokens.js";
import { MOST_WIDTH } from "../model/vocabulary.js";
import type { Walk } from "../model/walk.js";
import { choice, presets } from "../ui/controls.js";
import { h } from "../ui/dom.js";

/** A preset says everything but where the reader stands in the walk. The word `asks` is in the light, or the first word of a sentence that lacks it. */
const preset = (name: string, patch: Partial<State>, asks = "it") => {
  const state = { ...INITIAL, ...patch };
  return { name, state: { ...state, asker: Math.max(0, cutIntoWords(state.text).words.indexOf(asks)) } };
};

const SLOW_FOX = "The hungry fox saw a rabbit because it was slow";
const OWNER = "When he saw his owner, the dog was happy, so he wagged his tail";
const THEN_IT = "The dog chased the cat and then it";
const UNCHANGED = identity(INITIAL.width);
const [NUMBERS, SAME] = [singleRows([1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, -1], [0.5, 0.5, 0, 0]), identity(4)];
const TWICE = fill(4, 4, (row, col) => (row === col ? 2 : 0));

/** Sentences and settings worth starting from. */
const PRESETS = [
  preset("“it”, one head", {}),
  preset("“it”, two heads", { heads: 2 }),
  preset("too wide, not tired", { text: INITIAL.text.replace("tired", "wide") }),
  preset("The big, fluffy dog", { text: "The big, fluffy dog" }, "dog"),
  preset("“he”: dog or owner?", { text: OWNER }, "he"),
  preset("Causal: no looking ahead", { text: SLOW_FOX, causal: "lower-right" }),
  preset("Causal: only the last word asks", { text: THEN_IT, causal: "lower-right", asking: 1 }),
  preset("Padding", { text: "Susan gave roses to Mary [pad] [pad] [pad]", width: 12, hidden: [5, 6, 7] }),
  preset("No parameters: softmax(XXᵀ) X", { scale: 1, wq: UNCHANGED, wk: UNCHANGED }),
  preset("Just numbers", { text: "", numbers: NUMBERS, wq: TWICE, wk: SAME }),
];

export function sentenceInput(store: WalkStore, root: HTMLElement) {
  let walk: Walk | undefined;
  let wantsNumbers = false;
  /** What was read from the field last. */
  let read: Matrix | undefined;
  /** What stands in the field is no matrix. */
  let isUnread = false;
  const source = choice("Start from", { words: "a sentence", numbers: "numbers" }, (value) => {
    wantsNumbers = value === "numbers";
    const text = cutIntoWords(store.state.text).words.length === 0 ? INITIAL.text : store.state.text;
    const typed = { numbers: null, text, ...NOTHING_EDITED };
    store.change(wantsNumbers ? { numbers: walk?.x ?? null } : typed, "new");
  });
  const text = h("input", { type: "text", id: "sentence", maxlength: 400, autocomplete: "off", dir: "auto" });
  text.spellcheck = false;
  const numbers = h("textarea", { id: "numbers", rows: 5, spellcheck: "false", "aria-describedby": "numbers-help" });
  const help = `Up to ${MOST_TOKENS} × ${MOST_WIDTH}; type, or paste from a spreadsheet.`;
  const box = (id: string, label: string, ...inside: readonly HTMLElement[]): HTMLElement =>
    h("div", { class: "field" }, h("label", { for: id }, label), ...inside);
  const boxes = [
    box("sentence", "Sentence", text),
    box("numbers", "X, one row per line", numbers, h("small", { id: "numbers-help" }, help)),
  ];
  const message = h("p", { class: "field-message", role: "status" });

  const sayWhatIsWrong = (state: State): void => {
    numbers.ariaInvalid = isUnread ? "true" : null;
    const unread = `Not every line is a row of numbers yet; the picture shows the last X that was. ${WHAT_IS_TYPED}`;
    message.textContent = isUnread ? unread : messageOf(state);
  };
  text.addEventListener("input", () => store.change({ text: text.value, numbers: null, hidden: [], asker: -1 }, "run"));
  numbers.addEventListener("input", () => {
    const matrix = matrixFrom(readBlock(numbers.value));
    isUnread = matrix === undefined;
    read = matrix ?? read;
    if (matrix === undefined) sayWhatIsWrong(store.state);
    else store.change({ numbers: matrix, asker: -1 }, "run");
  });
  const start = (preset: State): void => {
    const { step, all, loop, role, by } = store.state;
    wantsNumbers = false;
    store.change({ ...preset, step, all, loop, role, by }, "new");
  };
  root.replaceChildren(
    h("div", { class: "controls-input" }, source.element, ...boxes),
    message,
    presets("Try", PRESETS, ({ state }) => start(state)),
  );
  return {
    show: (state: State, now: Walk): void => {
      walk = now;
      // A single changed number must not swap the field under the reader's hand.
      const byHand = state.numbers !== null && (wantsNumbers || isNameless(state));
      source.show(byHand ? "numbers" : "words");
      for (const [index, box] of boxes.entries()) box.hidden = byHand === (index === 0);
      // Setting the same text again would move the cursor.
      if (text.value !== state.text) text.value = state.text;
      if (document.activeElement !== numbers || state.numbers !== read) {
        if (state.numbers !== null) numbers.value = write(state.numbers);
        isUnread = false;
      }
      sayWhatIsWrong(state);
    },
  };
}

function messageOf(state: State): string {
  const { words, leftOut } = cutIntoWords(state.text);
  if (state.numbers !== null) return "";
  if (words.length === 0) return "No words yet. Type some, or take an example.";
  return leftOut > 0 ? `The first ${MOST_TOKENS} words are shown, ${leftOut} left out.` : "";
}

const write = (matrix: Matrix): string =>
  Array.from(rowsOf(matrix), (row) => row.map(formatSingle).join("  ")).join("\n");

/** Rows of equal length, cut to what the page can show. */
function matrixFrom(rows: readonly (readonly number[])[] | null): Matrix | undefined {
  if (rows === null || rows.length === 0) return undefined;
  const cols = Math.min(MOST_WIDTH, Math.max(...rows.map((row) => row.length)));
  const kept = rows.slice(0, MOST_TOKENS);
  return fill(kept.length, cols, (row, col) => kept[row]?.[col] ?? 0);
}
