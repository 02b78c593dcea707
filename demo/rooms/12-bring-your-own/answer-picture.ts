// A model's answer as bars: the odds of what comes next, or how its states move; by the whole model, and without the heads that are switched off.

import { brokenOff } from "../../src/ui/controls.js";
import { button, h, heads as headLine, line } from "../../src/ui/dom.js";
import { exact, percent, small, whole } from "../../src/ui/numbers.js";
import { inColours, picture } from "../../src/ui/picture.js";
import type { Answer } from "./model/run.js";
import type { ModelPanel } from "./model-panel.js";
import type { BringScene } from "./scene.js";
import type { BringStore } from "./state.js";

/** Named in the sentence; others are counted. */
const NAMED = 4;

const TITLES = {
  next: "The next word",
  mask: "The masked word",
  label: "The label",
  states: "How far the tokens move",
};

export function answerPicture(store: BringStore, { element: panel }: ModelPanel) {
  let scene: BringScene | undefined;
  let answer: Answer | undefined;
  /** Counts what was asked: only the last is shown. */
  let turn = 0;
  const rows = h("tbody");
  const [caption, key] = [h("caption"), h("p", { class: "small-label" })];
  const table = h("table", { class: "plain-table odds" }, caption, headLine("", "", ""), rows);
  const all = button("Switch all on", () => store.change({ off: [] }));
  const said = h("p", { role: "status" });
  const body = h("div", { class: "model-answer" }, table, key, said, all);
  const { element, say } = picture({
    name: "answer",
    title: "A model, and what it answers",
    body: [panel, body],
    data: () => ({ state: store.state, source: scene?.source.name, answer }),
  });
  element.hidden = panel.hidden;
  new MutationObserver(() => {
    element.hidden = panel.hidden;
  }).observe(panel, { attributeFilter: ["hidden"] });

  const draw = (): void => {
    if (answer === undefined || scene === undefined) return;
    const off = offOf(scene);
    const without = `without ${namesOf(off, scene.source.heads)}`;
    caption.textContent = TITLES[answer.kind];
    all.hidden = off.length === 0;
    rows.replaceChildren(...(answer.kind === "states" ? stateLines(answer, scene) : oddLines(answer, off.length > 0)));
    key.replaceChildren(
      ...(answer.kind === "states" || off.length === 0 ? [] : inColours({ line: "the whole model", share: without })),
    );
    said.textContent = off.length === 0 ? "" : effectOf(answer, without);
  };
  const ask = async (heads: readonly number[]): Promise<void> => {
    const own = ++turn;
    const model = scene?.source.model;
    if (model === undefined) return;
    if (heads.length === 0) {
      answer = model.answer;
      return draw();
    }
    try {
      const found = await model.without(heads);
      if (own !== turn) return;
      answer = found;
      draw();
    } catch (error) {
      if (own === turn) said.textContent = brokenOff(error);
    }
  };
  return {
    element,
    show: (next: BringScene): void => {
      const before = scene;
      scene = next;
      const { model } = next.source;
      body.hidden = model === undefined;
      say(model === undefined ? "" : TEXT);
      const isSame = before?.source === next.source && offOf(before).join() === offOf(next).join();
      if (!isSame) void ask(offOf(next));
    },
  };
}

const TEXT =
  "Choose a head below, and press it again to switch it off: it then gives nothing to the layers above it. The weights that are shown stay those of the whole model.";

/** Those that the model has. */
export const offOf = ({ state, source }: BringScene): readonly number[] =>
  source.model === undefined ? [] : state.off.filter((head) => head < source.layers * source.heads);

/** "layer 1 head 2 and 3 others" */
function namesOf(off: readonly number[], heads: number): string {
  const named = off.slice(0, NAMED).map((head) => `layer ${Math.floor(head / heads) + 1} head ${(head % heads) + 1}`);
  const others = off.length - named.length;
  return [...named, ...(others > 0 ? [`${whole(others)} more`] : [])].join(", ").replace(/, (?=[^,]*$)/, " and ");
}

function oddLines({ odds }: Exclude<Answer, { kind: "states" }>, isChanged: boolean) {
  const most = Math.max(...odds.map(({ before, after }) => Math.max(before, after)));
  return odds.map(({ word, before, after }) => {
    const bars = h("div", { class: "odds-bars" }, bar(before / most, isChanged ? "was" : "is"));
    if (isChanged) bars.append(bar(after / most, "is"));
    const figures = isChanged ? `${percent(before)} → ${percent(after)}` : percent(before);
    return line(h("bdi", {}, word), [bars, figures]);
  });
}

function stateLines({ moved }: Extract<Answer, { kind: "states" }>, { source }: BringScene) {
  const most = Math.max(...moved, Number.MIN_VALUE);
  return moved.map((one, token) => {
    const bars = h("div", { class: "odds-bars" }, bar(one / most, "is"));
    return line(h("bdi", {}, source.words?.q?.[token] ?? `${token + 1}`), [bars, percent(one)]);
  });
}

function bar(part: number, look: "was" | "is"): HTMLElement {
  const made = h("i", { class: look });
  made.style.setProperty("--part", String(part));
  return made;
}

function effectOf(answer: Answer, without: string): string {
  const Without = `W${without.slice(1)}`;
  if (answer.kind === "states") {
    return `${Without} the mean of all tokens turns to a cosine of ${exact(answer.cosine, 4)} with what it was.`;
  }
  return `${Without} the odds move by ${small(answer.apart)} nats (Kullback–Leibler).`;
}
