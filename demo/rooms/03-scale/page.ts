// Room 3, scale and temperature: the scores of many queries, the weights of one, and how far these can still be moved.

import { rowsOf } from "../../src/model/matrix.js";
import { Store } from "../../src/model/store.js";
import { GUESSES } from "../../src/page/guesses.js";
import { agreed, type BuiltRoom, type RoomContext, tellingRoom } from "../../src/page/room.js";
import { boundChoice, boundSlider } from "../../src/ui/controls.js";
import { button, fact, h } from "../../src/ui/dom.js";
import { guess } from "../../src/ui/guess.js";
import { HeedChart } from "../../src/ui/heed-chart.js";
import { formula, fraction, plain, root, row, sup } from "../../src/ui/math.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { heedCode, torchCode } from "./code.js";
import { explain, ROWS, type RowName } from "./explain.js";
import { callOf, prepare, readAnswers, type ScaleAnswer, type ScaleScene, sceneOf, soften } from "./scene.js";
import { LEAST_KEYS, MOST_KEYS, SCALE_STATE, TEMPERATURES, WIDTHS } from "./state.js";
import { ballView, histogramView, viewsOf } from "./views.js";

const store = new Store(SCALE_STATE);

const softmaxOf = (divisor: string | Element): Element =>
  formula(
    "z_j =",
    fraction("q · k_j", divisor),
    plain(",  "),
    "a_j =",
    fraction(sup("e", "z_j"), row("∑", sup("e", "z_l"))),
  );
const SOFTMAX = { root: softmaxOf(row(root("d"), "T")), none: softmaxOf("T") };

const COUNTS = { least: LEAST_KEYS, most: MOST_KEYS, step: 1 };
const LIKENESS = { least: 0, most: 0.9, step: 0.1 };

function scaleRoom(room: RoomContext<ScaleScene, ScaleAnswer, RowName>): BuiltRoom<RowName> {
  const { matrices } = room;
  /** The scene that the charts show. */
  let shown: ScaleScene | undefined;
  const again = button("Draw again", () => store.change({ seed: store.state.seed + 1 }));
  const figures = h("dl", { class: "figures" });
  const softmax = h("div");
  const [histogram, ball] = [new HeedChart(), new HeedChart()];
  histogram.choose = (bin) => histogram.show(histogramView(room.scene, bin));
  ball.choose = (push) => ball.show(ballView(room.scene, push));

  const rows = h("div", { class: "stacked-rows" }, ...matrices.of(...ROWS));
  const one = picture({
    name: "row",
    title: "How one query spreads its attention",
    body: [h("div", { class: "spread-and-row" }, histogram, rows), figures],
    controls: [
      boundSlider(store, "width", "Width d", WIDTHS),
      boundChoice(store, "scaling", "Divide scores by √d", { none: "no", root: "yes" }, { entry: "new" }),
    ],
    more: [
      boundSlider(store, "temperature", "Temperature T", TEMPERATURES),
      boundSlider(store, "keys", "Keys n", COUNTS),
      boundSlider(store, "likeness", "Key 1 resembles q", LIKENESS, { said: (value) => exact(value, 1) }),
      again,
    ],
    data: () => {
      const { state, q, k, raw, scaled, soft } = room.scene;
      return { state, q: rowsOf(q), k: rowsOf(k), scores: raw, scaled, weights: soft.weights, entropy: soft.entropy };
    },
    aside: softmax,
  });
  const slopes = picture({
    name: "slopes",
    title: "How far the weights can still be moved",
    body: [ball],
    data: () => ({ state: room.scene.state, largest: ballView(room.scene).series[0]?.values }),
  });

  const show = (): void => {
    const { scene, answer } = room;
    again.title = `Draw ${scene.state.seed} of 9999`;
    matrices.showAll(viewsOf(scene, answer?.weights));
    figures.replaceChildren(...figuresOf(scene));
    softmax.replaceChildren(SOFTMAX[scene.state.scaling]);
    one.say(rowText(scene));
    slopes.say(slopeText(scene));
  };
  function* showRest(): Generator<undefined> {
    const { scene } = room;
    // No answer of the kernel changes the charts.
    if (scene === shown) return;
    yield;
    histogram.show(histogramView(scene));
    yield;
    ball.show(ballView(scene));
    shown = scene;
  }
  return {
    guess: guess("scale", GUESSES.scale, () => store.change({ width: 512, scaling: "none" }, "new")),
    pictures: [one, slopes],
    first: () => {
      const { weights } = room.scene.soft;
      return { name: "A", row: 0, col: weights.indexOf(Math.max(...weights)) };
    },
    explain: (spot) => explain(room.scene, spot, room.answer?.weights),
    show,
    showRest,
  };
}

function figuresOf({ soft, state }: ScaleScene): HTMLElement[] {
  const full = Math.log(state.keys);
  const part = soft.entropy / full;
  const fill = h("span");
  fill.style.width = `${(part * 100).toFixed(1)}%`;
  const meter = h("span", { class: "meter", "aria-hidden": "true" }, fill);
  return [
    fact("Entropy", exact(soft.entropy, 3), `of ln ${state.keys} = ${exact(full, 3)} nats`, meter),
    fact("Effective keys", exact(Math.exp(soft.entropy), 2), `of ${state.keys}: e to the entropy`),
    fact("Largest weight", percent(Math.max(...soft.weights))),
    fact("Gradient left, ‖J‖", exact(soft.slope, 4)),
  ];
}

function rowText(scene: ScaleScene): string {
  const { width, temperature, scaling, likeness } = scene.state;
  if (likeness > 0) return calibrationText(scene);
  if (temperature !== 1)
    return "Towards T = 0 the softmax takes the largest score, towards infinity the plain average. 1/√d is a temperature, too. For calibration, make key 1 resemble q.";
  const divided = scaling === "root" ? "Here it is divided by √d, so it is 1 at every width" : "Not divided here";
  return `Components are independent, with mean 0 and variance 1. A score is a sum of ${width} products, so its standard deviation is √${width} = ${exact(Math.sqrt(width), 2)}. ${divided}.`;
}

function slopeText({ soft }: ScaleScene): string {
  const most = Math.max(...soft.weights);
  const slope = `a (1 − a) = ${exact(most * (1 - most), 3)}`;
  return soft.slope < 0.05
    ? `The dot is a ball on a plain: the largest weight is almost 1, and hardly anything moves it. Gradients reach the scores through this slope, ${slope}: this query hardly learns any more, right or wrong.`
    : `The dot is a ball on a slope, ${slope}: gradients reach the scores through it. It is steepest where weights are undecided, and flat where one takes all. What one weight gains, the others lose.`;
}

/** Key 1 is the one that is meant, and the largest weight a bet on it. */
function calibrationText({ given }: ScaleScene): string {
  const all = given.map((scores) => soften(scores).weights);
  const largest = all.map((weights) => Math.max(...weights));
  const right = all.filter((weights, draw) => weights[0] === largest[draw]).length;
  const sure = largest.reduce((sum, weight) => sum + weight, 0) / all.length;
  return `Key 1 resembles the query. It has the largest weight for ${right} of ${all.length} queries, ${percent(right / all.length)}; the largest weight is ${percent(sure)} on average. A model is calibrated where both agree: temperature moves the second and leaves the first.`;
}

tellingRoom({
  store,
  prepare,
  sceneOf,
  kernel: {
    callsOf: (scene) => [callOf(scene)],
    read: readAnswers,
    said: (answer) => agreed("The weights of all 64 queries", answer?.difference),
  },
  code: { heed: heedCode, torch: torchCode },
  matrices: ROWS,
  build: scaleRoom,
});
