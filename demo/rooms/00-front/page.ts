// The front page: one question, a guess, the answer of a trained model, and one word to turn, whose weights were
// recorded; and one's own sentence, which a small model reads here.

import { HeedMatrix, type MatrixSelection } from "heed/viz";
import { Store } from "../../src/model/store.js";
import { startFrame } from "../../src/page/frame.js";
import { copyFrom } from "../../src/ui/code.js";
import { choice } from "../../src/ui/controls.js";
import { find, on } from "../../src/ui/dom.js";
import { numbered } from "../../src/ui/named-matrices.js";
import { percent } from "../../src/ui/numbers.js";
import { arcs } from "./arcs.js";
import { answerText, failText, headsText } from "./captions.js";
import { eightLines } from "./lines.js";
import { ANIMAL, askerIn, HEADS, LAYERS, TROPHY, weightOn, weightsOf, weightsOn } from "./recorded.js";
import { FRONT_STATE, HERE, isAnswered, SENTENCE, STORIES } from "./state.js";
import { wheelOf } from "./wheel.js";
import "../../style/front.css";

startFrame();
const store = new Store(FRONT_STATE);

const turned = (ending: string): void => store.change({ ending });
const wheel = wheelOf(ANIMAL.endings, turned);
const stage = arcs({ last: wheel.element, pressed: (guess) => store.change({ guess }, "new") });
find("#stage", HTMLElement).replaceChildren(stage.element);
const [answer, ask] = [find("#answer", HTMLElement), find("#ask", HTMLElement)];
find("#show", HTMLButtonElement).addEventListener("click", () => store.change({ shown: "yes" }, "new"));

let [trophyEnding = ""] = TROPHY.endings;
const trophyWheel = wheelOf(TROPHY.endings, (ending) => {
  trophyEnding = ending;
  show();
});
const trophy = arcs({ last: trophyWheel.element });
find("#trophy", HTMLElement).replaceChildren(trophy.element);

const heads = new HeedMatrix();
on<MatrixSelection>(heads, "select", ({ row, col }) => store.change({ layer: row + 1, head: col + 1 }, "run"));
find("#heads", HTMLElement).replaceChildren(heads);
const stories = choice("Show", STORIES, (value) => {
  const story = STORIES.find((one) => one.value === value);
  if (story !== undefined) store.change({ layer: story.layer, head: story.head }, "new");
});
find("#stories", HTMLElement).replaceChildren(stories.element);

/** Weights were recorded in thousandths: none of them is 0. */
const seen = (weight: number): number => Math.max(weight, 1e-4);

function show(): void {
  const { state } = store;
  const { guess, ending, layer, head } = state;
  const answered = isAnswered(state);
  const row = answered ? weightsOf(ANIMAL, ending, state) : undefined;
  stage.show({ words: ANIMAL.words, asker: askerIn(ANIMAL), row, ringed: guess });
  wheel.show(ending, answered);
  ask.hidden = answered;
  answer.replaceChildren(...(answered ? answerText(state) : []));
  heads.show({
    name: "heads",
    title: "it → animal",
    about: `with ${ending}`,
    matrix: { rows: LAYERS, cols: HEADS, data: Float64Array.from(weightsOn(ANIMAL, ending, "animal"), seen) },
    rowLabels: numbered("layer ", LAYERS),
    colLabels: numbered("head ", HEADS),
    tone: "share",
    full: 1,
  });
  heads.light([{ row: layer - 1, col: head - 1 }]);
  find("#head-name", HTMLElement).textContent =
    `head ${head} of layer ${layer}, which gives animal ${percent(weightOn(ANIMAL, ending, state, "animal"))}`;
  find("#heads-text", HTMLElement).textContent = headsText(ending);
  stories.show(`${layer}.${head}`);
  trophy.show({ words: TROPHY.words, asker: askerIn(TROPHY), row: weightsOf(TROPHY, trophyEnding, state) });
  trophyWheel.show(trophyEnding, true);
  find("#fail-text", HTMLElement).textContent = failText(state);
}

find("#begin", HTMLAnchorElement).href = FRONT_STATE.toHash({ ...FRONT_STATE.initial, text: SENTENCE });
find("#back", HTMLButtonElement).addEventListener("click", () => store.change({ ...HERE, text: null }, "new"));

const byHand = find("#by-hand", HTMLAnchorElement);
byHand.addEventListener("click", () => {
  byHand.hash = new URLSearchParams({ t: find("#sentence", HTMLTextAreaElement).value }).toString();
});

/** What there is for a sentence of one's own comes with the first. */
let own: Promise<() => void> | undefined;
let isPlaced = false;

/** The question, or in its place a sentence of one's own. */
async function place(): Promise<void> {
  const { text } = store.state;
  const isOwn = text !== null;
  if (isPlaced && isOwn === find("#own", HTMLElement).hidden) scrollTo({ top: 0, behavior: "instant" });
  isPlaced = true;
  for (const part of document.querySelectorAll<HTMLElement>("[data-place]")) {
    part.hidden = (part.dataset["place"] === "own") !== isOwn;
  }
  if (text === null) return;
  // One may begin to type at once.
  if (own === undefined) find("#sentence", HTMLTextAreaElement).defaultValue = text;
  own ??= import("./own.js").then(({ ownSentence }) => ownSentence(store));
  (await own)();
}

store.listen(() => {
  show();
  void place();
});
show();
void place();

find("#lines", HTMLElement).replaceChildren(eightLines());
const install = find("#install", HTMLButtonElement);
install.addEventListener("click", () => void copyFrom(install, "npm install heed"));
