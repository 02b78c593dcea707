// A model's answer as bars: the odds of what comes next, or how far its tokens move; by the whole model, and without the heads that are
// switched off. Which head matters most is found by switching off each of them alone.

import { listed } from "../../src/brought/arrays.js";
import type { Answer } from "../../src/brought/run.js";
import { strongestOf } from "../../src/model/strongest.js";
import { brokenOff, LongWork } from "../../src/ui/controls.js";
import { button, h, heads as headLine, line } from "../../src/ui/dom.js";
import { exact, small, whole } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import type { ModelPanel } from "./model-panel.js";
import type { BringScene } from "./scene.js";
import type { BringStore } from "./state.js";

/** Heads in a sentence; others are counted. */
const NAMED = 4;
const RANKED = 5;
/** Tokens whose movement is drawn, those that move most. */
const MOST_TOKENS = 24;

const TITLES = {
  next: "The next word",
  mask: "The masked word",
  label: "The label",
  states: "How far the tokens move",
};

const TEXT =
  "Choose a head below, and press it again to switch it off: the layers above then get nothing from it. All pictures below are of the whole model.";

export function answerPicture(store: BringStore, { element: panel }: ModelPanel) {
  let scene: BringScene | undefined;
  let answer: Answer | undefined;
  /** Counts what was asked: only the last is shown. */
  let turn = 0;
  const rows = h("tbody");
  const caption = h("caption");
  const table = h("table", { class: "plain-table odds" }, caption, headLine("", "", ""), rows);
  const said = h("p", { role: "status", class: "odds-said" });
  const all = button("Switch all on", () => store.change({ off: [] }));
  const ranked = h("div", { class: "chips", role: "group", "aria-label": "Heads that matter most" });
  const rank = new LongWork({
    name: "Which head matters most?",
    run: async (signal, say) => {
      const { model, layers, heads } = scene?.source ?? {};
      if (model === undefined || layers === undefined || heads === undefined) return "";
      const effects = new Float64Array(layers * heads);
      for (const head of effects.keys()) {
        say(`Without head ${head + 1} of ${effects.length} …`);
        effects[head] = sizeOf(await model.without([head]));
        signal.throwIfAborted();
      }
      const chips = strongestOf(effects, RANKED).map((head) => {
        const choose = (): void => store.change({ layer: Math.floor(head / heads), head: head % heads, off: [head] });
        return button(`${nameOf(head, heads)}: ${small(effects[head] ?? 0)}`, choose, "chip");
      });
      ranked.replaceChildren(...chips);
      return `Each of ${effects.length} heads was switched off alone.`;
    },
  });
  const tools = h("div", { class: "controls-options" }, all, rank.line(ranked));
  const body = h("div", {}, table, said, tools);
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
    const isChanged = off.length > 0;
    caption.textContent = TITLES[answer.kind];
    table.hidden = answer.kind === "states" && !isChanged;
    rows.replaceChildren(...(answer.kind === "states" ? stateLines(answer, scene) : oddLines(answer, isChanged)));
    said.textContent = isChanged ? effectOf(answer, namesOf(off, scene.source.heads)) : "";
    all.hidden = !isChanged;
  };
  const ask = async (heads: readonly number[]): Promise<void> => {
    const own = ++turn;
    const model = scene?.source.model;
    if (model === undefined) return;
    try {
      const found = heads.length === 0 ? model.answer : await model.without(heads);
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
      const { source } = next;
      body.hidden = source.model === undefined;
      say(source.model === undefined ? "" : TEXT);
      if (before?.source !== source) {
        ranked.replaceChildren();
        rank.renew();
      } else if (offOf(before).join() === offOf(next).join()) return;
      void ask(offOf(next));
    },
  };
}

/** Those heads that are switched off and that the model has. */
export const offOf = ({ state, source }: BringScene): readonly number[] =>
  source.model === undefined ? [] : state.off.filter((head) => head < source.layers * source.heads);

const nameOf = (head: number, heads: number): string =>
  `layer ${Math.floor(head / heads) + 1} head ${(head % heads) + 1}`;

function namesOf(off: readonly number[], heads: number): string {
  const others = off.length - NAMED;
  const named = off.slice(0, NAMED).map((head) => nameOf(head, heads));
  return listed([...named, ...(others > 0 ? [`${whole(others)} more`] : [])]);
}

function oddLines({ odds }: Exclude<Answer, { kind: "states" }>, isChanged: boolean) {
  const most = Math.max(...odds.map(({ before, after }) => Math.max(before, after)));
  return odds.map(({ word, before, after }) => {
    const bars = isChanged ? [bar(before / most, "was"), bar(after / most, "is")] : [bar(before / most, "is")];
    const figures = isChanged ? `${percent(before)} → ${percent(after)}` : percent(before);
    return line(h("bdi", {}, word), [h("div", { class: "odds-bars" }, ...bars), figures]);
  });
}

function stateLines({ moved }: Extract<Answer, { kind: "states" }>, { source }: BringScene) {
  const tokens = [...strongestOf(moved, MOST_TOKENS)].sort((a, b) => a - b);
  const most = Math.max(...moved);
  return tokens.map((token) => {
    const part = moved[token] ?? 0;
    const word = h("bdi", {}, source.words?.q?.[token] ?? `${token + 1}`);
    return line(word, [h("div", { class: "odds-bars" }, bar(part / most, "is")), percent(part)]);
  });
}

function bar(part: number, look: "was" | "is"): HTMLElement {
  const made = h("i", { class: look });
  made.style.setProperty("--part", String(part));
  return made;
}

const percent = (part: number): string => `${exact(100 * part, 1)}\u00a0%`;

/** By which heads are ranked. */
const sizeOf = (answer: Answer): number => (answer.kind === "states" ? 1 - answer.cosine : answer.apart);

function effectOf(answer: Answer, without: string): string {
  return answer.kind === "states"
    ? `Without ${without}: each token as a part of its length, and the mean of all keeps a cosine of ${exact(answer.cosine, 4)} with what it was.`
    : `Thick bars: without ${without}. The odds move by ${small(answer.apart)} nats (Kullback–Leibler).`;
}
