// A model's answer: the odds of what comes next, or how far its tokens move; by the whole model, and without the heads that are switched off.

import { listed } from "../../src/brought/arrays.js";
import type { Answer } from "../../src/brought/run.js";
import { brokenOff } from "../../src/ui/controls.js";
import { button, h } from "../../src/ui/dom.js";
import { exact, small, whole } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import type { ModelPanel } from "./model-panel.js";
import type { BringScene } from "./scene.js";
import type { BringStore } from "./state.js";

/** Heads in a sentence; others are counted. */
const NAMED = 4;

const TITLES = {
  next: "The next word:",
  mask: "The masked word:",
  label: "The label:",
  states: "",
};

const TEXT =
  "Choose a head below, and press it again to switch it off: the layers above then get nothing from it. All pictures below are of the whole model.";

export function answerPicture(store: BringStore, { element: panel }: ModelPanel) {
  let scene: BringScene | undefined;
  let answer: Answer | undefined;
  /** Counts what was asked: only the last is shown. */
  let turn = 0;
  const title = h("p", { class: "small-label" });
  const odds = h("ol", { class: "odds" });
  const said = h("p", { role: "status", class: "odds-said" });
  const all = button("Switch all on", () => store.change({ off: [] }));
  const body = h("div", {}, title, odds, said, all);
  const { element, say } = picture({
    name: "answer",
    title: "A model, and what it answers",
    body: [panel, body],
    data: () => ({ state: store.state, source: scene?.source.name, answer }),
  });
  // Until a model, or a text for one, is there.
  element.hidden = true;
  return {
    element,
    show: async (next: BringScene): Promise<void> => {
      const isSame = scene?.source === next.source && String(offOf(scene)) === String(offOf(next));
      scene = next;
      if (isSame) return;
      const [own, off] = [++turn, offOf(next)];
      const { model, heads, words } = next.source;
      body.hidden = model === undefined;
      say(model === undefined ? "" : TEXT);
      if (model === undefined) return;
      try {
        const found = off.length === 0 ? model.answer : await model.without(off);
        if (own !== turn) return;
        answer = found;
        title.textContent = TITLES[found.kind];
        odds.replaceChildren(...linesOf(found, off.length > 0, words?.q));
        said.textContent = off.length === 0 ? "" : effectOf(found, namesOf(off, heads));
        all.hidden = off.length === 0;
      } catch (error) {
        if (own === turn) said.textContent = brokenOff(error);
      }
    },
  };
}

/** Those heads that are switched off and that the model has. */
export const offOf = ({ state, source }: BringScene): readonly number[] =>
  source.model === undefined ? [] : state.off.filter((head) => head < source.layers * source.heads);

function namesOf(off: readonly number[], heads: number): string {
  const others = off.length - NAMED;
  const named = off.slice(0, NAMED).map((head) => `layer ${Math.floor(head / heads) + 1} head ${(head % heads) + 1}`);
  return listed([...named, ...(others > 0 ? [`${whole(others)} more`] : [])]);
}

/** A line under each is as long as its part. */
function linesOf(answer: Answer, isChanged: boolean, words: readonly string[] = []): HTMLElement[] {
  const lineOf = (word: string, part: number, figure: string): HTMLElement => {
    const made = h("li", {}, h("bdi", {}, word), " ", h("span", {}, figure));
    made.style.setProperty("--part", String(part));
    return made;
  };
  if (answer.kind !== "states") {
    return answer.odds.map(({ word, before, after }) =>
      lineOf(word, after, isChanged ? `${percent(before)} → ${percent(after)}` : percent(before)),
    );
  }
  return isChanged ? answer.moved.map((part, token) => lineOf(words[token] ?? "", part, percent(part))) : [];
}

const percent = (part: number): string => `${exact(100 * part, 1)}\u00a0%`;

function effectOf(answer: Answer, without: string): string {
  return answer.kind === "states"
    ? `Without ${without}: each token as a part of its length, and the mean of all keeps a cosine of ${exact(answer.cosine, 4)} with what it was.`
    : `Before, and without ${without}. The odds move by ${small(answer.apart)} nats (Kullback–Leibler).`;
}
