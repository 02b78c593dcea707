// What the room says of its pictures.

import { LONGEST } from "../../src/language/words.js";
import { percent } from "../../src/ui/numbers.js";
import type { LanguageScene } from "./scene.js";
import { headName } from "./state.js";

/** A word that is likelier is worth a mention. */
const LIKELY = 0.03;

export function mainText(scene: LanguageScene): string {
  const { state, bars, columns, before, words } = scene;
  const [best] = bars;
  if (words.length < 2) return "Type a sentence, and its words stand here.";
  if (best === undefined) return columns.length === 0 ? "It knows none of these words." : "";
  if (state.off.length > 0 && before !== undefined) return ablatedText(scene);
  const open = bars.filter(({ probability }) => probability >= LIKELY).length;
  const unsure = open > 1 ? `${open} words are possible` : `only “${best.word}” is left`;
  if (columns.length >= LONGEST && state.kind === "causal") {
    return `The model has read ${LONGEST} words, as many as in its longest lesson. Start again.`;
  }
  return state.kind === "masked"
    ? `BERT sees both sides of the blank: lines come from left and right, and ${unsure}. Below each layer stands what it would say if it stopped there. Now turn the mask: GPT sees only the left side.`
    : `GPT sees only the left side: every line comes from there, and ${unsure}. So it can write: each word that it says becomes one that it reads. Below each layer stands what it would say if it stopped there.`;
}

function ablatedText({ state, bars, before }: LanguageScene): string {
  const [moved] = bars
    .map(({ id, word, probability }) => ({ word, probability, was: before?.get(id) ?? probability }))
    .sort((a, b) => Math.abs(b.probability - b.was) - Math.abs(a.probability - a.was));
  const heads = state.off.map(headName).join(", ").replaceAll("Head", "head");
  if (moved === undefined) return "";
  const change =
    Math.abs(moved.probability - moved.was) < 0.01
      ? "hardly anything changes"
      : `“${moved.word}” goes from ${percent(moved.was)} to ${percent(moved.probability)}`;
  return `Without ${heads}, ${change}. Press a head again to bring it back.`;
}
