// The front page: one question, a guess, the answer of a trained model, and one word to turn, whose weights were
// recorded; and one's own sentence, which a small model reads here.

import { HeedMatrix, type MatrixSelection } from "heed/viz";
import { Store } from "../../src/model/store.js";
import { startFrame } from "../../src/page/frame.js";
import { comesBack } from "../../src/page/kept.js";
import { copyFrom } from "../../src/ui/code.js";
import { choice } from "../../src/ui/controls.js";
import { find, on } from "../../src/ui/dom.js";
import { numbered } from "../../src/ui/named-matrices.js";
import { answerText, failText, headsText } from "./captions.js";
import { eightLines } from "./lines.js";
import { ownSentence } from "./own.js";
import { ANIMAL, HEADS, LAYERS, TROPHY, weightsOf, weightsOn } from "./recorded.js";
import { largeSentence } from "./sentence.js";
import { bringsSentence, FRONT_STATE, isAnswered, STORIES } from "./state.js";
import "../../style/front.css";

startFrame();
const store = new Store(FRONT_STATE);

const stage = largeSentence({
  ...ANIMAL,
  asker: "it",
  turned: (ending) => store.change({ ending }),
  guessed: (guess) => store.change({ guess }, "new"),
});
find("#stage", HTMLElement).replaceChildren(stage.element);
const [answer, ask] = [find("#answer", HTMLElement), find("#ask", HTMLElement)];
find("#show", HTMLButtonElement).addEventListener("click", () => store.change({ shown: "yes" }, "new"));

const [endingThatFails = ""] = TROPHY.endings;
let trophyEnding = endingThatFails;
const trophy = largeSentence({
  ...TROPHY,
  asker: "it",
  turned: (ending) => {
    trophyEnding = ending;
    show();
  },
});
find("#trophy", HTMLElement).replaceChildren(trophy.element);

const heads = new HeedMatrix();
on<MatrixSelection>(heads, "select", ({ row, col }) => store.change({ layer: row + 1, head: col + 1 }, "run"));
find("#heads", HTMLElement).replaceChildren(heads);
const stories = choice("Show", STORIES, (value) => {
  const story = STORIES.find((one) => one.value === value);
  if (story !== undefined) store.change({ layer: story.layer, head: story.head }, "new");
});
find("#stories", HTMLElement).replaceChildren(stories.element);

function show(): void {
  const { state } = store;
  const { guess, ending, layer, head } = state;
  const answered = isAnswered(state);
  stage.show(ending, answered ? weightsOf(ANIMAL, ending, state) : undefined, guess);
  ask.hidden = answered;
  answer.replaceChildren(...(answered ? answerText(state) : []));
  heads.show({
    name: "heads",
    title: "it → animal",
    about: `with ${ending}`,
    matrix: { rows: LAYERS, cols: HEADS, data: Float64Array.from(weightsOn(ANIMAL, ending, "animal")) },
    rowLabels: numbered("layer ", LAYERS),
    colLabels: numbered("head ", HEADS),
    tone: "share",
    full: 1,
  });
  heads.light([{ row: layer - 1, col: head - 1 }]);
  find("#head-name", HTMLElement).textContent = `head ${head} of layer ${layer}`;
  find("#heads-text", HTMLElement).textContent = headsText(ending);
  stories.show(`${layer}.${head}`);
  trophy.show(trophyEnding, weightsOf(TROPHY, trophyEnding, state));
  find("#fail-text", HTMLElement).textContent = failText(state);
}

const own = ownSentence(store);
/** One's own sentence goes along. */
function lead(): void {
  const { text } = store.state;
  find("#by-hand", HTMLAnchorElement).href = `./matrix-walk.html#${new URLSearchParams({ t: text })}`;
  find("#by-model", HTMLAnchorElement).href = `./bring-your-own.html#${new URLSearchParams({ text, ask: "minilm" })}`;
}

store.listen((_, before) => {
  show();
  own(before);
  lead();
});
show();
own();
lead();
if (bringsSentence(store.state) && !comesBack()) find("#own", HTMLElement).scrollIntoView({ behavior: "instant" });

find("#lines", HTMLElement).replaceChildren(eightLines());
const install = find("#install", HTMLButtonElement);
install.addEventListener("click", () => void copyFrom(install, "npm install heed"));
