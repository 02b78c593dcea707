// The sentence of the walk: where it is written, with examples to start from; and its arcs, which say in words what they show.

import { type FlowSelection, HeedFlow } from "heed/viz";
import { at, fill, identity, type Matrix, singleRows } from "../../src/model/matrix.js";
import { INITIAL, isNameless, type State, type WalkStore } from "../../src/model/state.js";
import { strongestOf } from "../../src/model/strongest.js";
import { cutIntoWords, LONGEST_TEXT, MOST_TOKENS } from "../../src/model/tokens.js";
import { meaningOf, WORDS_KNOWN } from "../../src/model/vocabulary.js";
import type { Walk } from "../../src/model/walk.js";
import { presets } from "../../src/ui/controls.js";
import { find, h, on } from "../../src/ui/dom.js";
import { percent } from "../../src/ui/numbers.js";

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
  const text = h("input", { type: "text", id: "sentence", maxlength: LONGEST_TEXT, autocomplete: "off", dir: "auto" });
  text.spellcheck = false;
  const message = h("p", { class: "field-message", role: "status" });
  text.addEventListener("input", () => store.change({ text: text.value, numbers: null, hidden: [], asker: -1 }, "run"));
  const start = (preset: State): void => {
    const { step, all, loop, role, by } = store.state;
    store.change({ ...preset, step, all, loop, role, by }, "new");
  };
  root.replaceChildren(
    h("div", { class: "field" }, h("label", { for: "sentence" }, "Sentence"), text),
    message,
    presets("Try", PRESETS, ({ state }) => start(state)),
  );
  return {
    show: (state: State): void => {
      // Setting the same text again would move the cursor.
      if (text.value !== state.text) text.value = state.text;
      message.textContent = messageOf(state);
    },
  };
}

function messageOf(state: State): string {
  const { words, leftOut } = cutIntoWords(state.text);
  if (isNameless(state))
    return "X is numbers now. Change them under “Numbers”, or paste some there from a spreadsheet.";
  if (state.numbers !== null) return "";
  if (words.length === 0) return "No words yet. Type some, or take an example.";
  return leftOut > 0 ? `The first ${MOST_TOKENS} words are shown, ${leftOut} left out.` : "";
}

const NOTE = `Dotted words are not among the ${WORDS_KNOWN} that this page knows: their numbers are made from their letters and mean nothing.`;

export function sentenceStage(store: WalkStore, root: HTMLElement) {
  const flow = find("heed-flow", HeedFlow, root);
  const [said, note] = [find(".stage-caption", HTMLElement, root), find(".stage-note", HTMLElement, root)];
  let shown: { readonly walk: Walk; readonly weights: Matrix | undefined } | undefined;
  let hovered = -1;

  const draw = (): void => {
    if (shown === undefined) return;
    const { state } = store;
    const { walk, weights } = shown;
    const asker = [hovered, state.asker].find((word) => word >= 0) ?? tellingWord(walk);
    const first = walk.labels.length - walk.askers.length;
    const rows = walk.labels.map((_, word) =>
      word < first || weights === undefined ? undefined : walk.labels.map((_, key) => at(weights, word - first, key)),
    );
    const noted = (word: string): boolean => walk.unknown.includes(word);
    flow.show({ words: walk.labels, shares: rows, hidden: new Set(state.hidden), asker, noted });
    said.replaceChildren(...caption(walk, rows[asker], asker, state));
    note.textContent = walk.unknown.length > 0 ? NOTE : "";
  };
  const hover = (word: number): void => {
    hovered = word;
    draw();
  };
  on<FlowSelection>(flow, "inspect", ({ word }) => hover(word));
  flow.addEventListener("leave", () => hover(-1));
  on<FlowSelection>(flow, "select", ({ word }) => store.change({ asker: word }));
  flow.still = true;
  return {
    /** `weights`: of the head in view, from the kernel where it runs. */
    show: (walk: Walk, weights: Matrix | undefined): void => {
      if (shown?.walk.labels.join("\n") !== walk.labels.join("\n")) hovered = -1;
      shown = { walk, weights };
      draw();
    },
  };
}

/** The word to begin with when nobody has chosen one: a pronoun, as it has most to ask; -1 where there is no word. */
export function tellingWord(walk: Walk): number {
  const first = walk.labels.length - walk.askers.length;
  const ranks = walk.askers.map((word): number => {
    const { points = 0, glue = 0 } = meaningOf(word) ?? {};
    if (points > 0) return 0;
    return glue > 0 ? 2 : 1;
  });
  return ranks.length === 0 ? -1 : first + ranks.indexOf(Math.min(...ranks));
}

function caption(walk: Walk, weights: readonly number[] | undefined, asker: number, state: State): (Node | string)[] {
  const word = walk.labels[asker];
  if (word === undefined) return ["Type a sentence, and its words will look at each other here."];
  const name = (label: string): HTMLElement =>
    h("b", { class: walk.unknown.includes(label) ? "noted" : undefined }, h("bdi", {}, label));
  if (weights === undefined) return [name(word), " does not ask: only the last words do."];
  const best = strongestOf(weights, 3).filter((key) => (weights[key] ?? 0) >= 0.03);
  if (best.length === 0) return [name(word), " may see no word at all: its output is zero."];
  const list = best.flatMap((key, index): (Node | string)[] => [
    index === 0 ? "" : ", ",
    name(walk.labels[key] ?? ""),
    ` ${percent(weights[key] ?? 0)}`,
  ]);
  const head = state.heads > 1 ? ` (head ${state.head + 1} of ${state.heads})` : "";
  return [name(word), " → ", ...list, `${head}.`];
}
