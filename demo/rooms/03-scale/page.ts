// Room 3, scale and temperature: one query among its keys, the slopes that are left, and both against width or temperature.

import { rowsOf } from "../../src/model/matrix.js";
import { Store } from "../../src/model/store.js";
import { agreed, agreementLine, furnish } from "../../src/page/furnish.js";
import { runRoom } from "../../src/page/run-room.js";
import { choice } from "../../src/ui/choice.js";
import { button, find, h } from "../../src/ui/dom.js";
import { HeedChart } from "../../src/ui/heed-chart.js";
import { formula, fraction, plain, root as rootSign, row, sub, sup } from "../../src/ui/math.js";
import { NamedMatrices } from "../../src/ui/named-matrices.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { drawer, picture } from "../../src/ui/picture.js";
import { atOnce } from "../../src/ui/pieces.js";
import { slider } from "../../src/ui/slider.js";
import { fact } from "../../src/ui/table.js";
import { Teller } from "../../src/ui/teller.js";
import { heedCode, torchCode } from "./code.js";
import { explain, ROWS } from "./explain.js";
import { callOf, prepare, readAnswers, type ScaleAnswer, type ScaleScene, sceneOf, soften } from "./scene.js";
import { LEAST_KEYS, MOST_KEYS, SCALE_STATE, TEMPERATURES, WIDTHS } from "./state.js";
import { ballView, entropyView, histogramView, MIDDLE_BIN, slopeView, spreadView, viewsOf } from "./views.js";

const CURVES = [spreadView, entropyView, slopeView];

const store = new Store(SCALE_STATE);

function scaleRoom(first: ScaleScene) {
  let scene = first;
  let answer: ScaleAnswer | undefined;
  let isNew = true;
  let bin = MIDDLE_BIN;
  const width = slider("Width d", WIDTHS, (value) => store.change({ width: value }));
  const scaling = choice("Divide scores by √d", { none: "no", root: "yes" }, (value) =>
    store.change({ scaling: value }, "new"),
  );
  const temperature = slider("Temperature T", TEMPERATURES, (value) => store.change({ temperature: value }));
  const count = { least: LEAST_KEYS, most: MOST_KEYS, step: 1 };
  const keys = slider("Keys n", count, (value) => store.change({ keys: value }));
  const part = { least: 0, most: 0.9, step: 0.1 };
  const likeness = slider("Key 1 resembles q", part, (value) => store.change({ likeness: value }));
  const again = button("Draw again", () => store.change({ seed: store.state.seed + 1 }));
  const matrices = new NamedMatrices(ROWS);
  const teller = new Teller({
    keeper: () => store,
    first: () => ({ name: "A", row: 0, col: scene.soft.weights.indexOf(Math.max(...scene.soft.weights)) }),
    explain: (cell) => matrices.told(cell, (spot) => explain(scene, spot, answer?.weights)),
    light: (lights) => matrices.light(lights),
  });
  matrices.listen(teller);
  const axis = choice("Curves over", { d: "width", T: "temperature" }, (value) => store.change({ axis: value }));
  const figures = h("dl", { class: "figures" });
  const agreement = agreementLine();
  const [histogram, ball] = [new HeedChart(), new HeedChart()];
  histogram.choose = (chosen) => {
    bin = chosen;
    histogram.show(histogramView(scene, bin));
  };
  ball.choose = (push) => ball.show(ballView(scene, push));
  const charts = CURVES.map((view) => ({ view, chart: new HeedChart() }));
  // A place on a curve is a state.
  for (const { chart } of charts) {
    chart.choose = (index) => {
      if (scene.state.axis === "d") store.change({ width: WIDTHS[index] ?? 1 });
      else store.change({ temperature: TEMPERATURES[index] ?? 1 });
    };
  }

  const rows = h("div", { class: "stacked-rows" }, ...matrices.of("S", "Z", "A"));
  const one = picture({
    name: "row",
    title: "How one query spreads its attention",
    body: [h("div", { class: "spread-and-row" }, histogram, rows), figures],
    controls: [width.element, scaling.element],
    more: [temperature.element, keys.element, likeness.element, again],
    data: () => {
      const { state, q, k, raw, scaled, soft } = scene;
      return { state, q: rowsOf(q), k: rowsOf(k), scores: raw, scaled, weights: soft.weights, entropy: soft.entropy };
    },
    aside: softmaxFormula(),
  });
  const slopes = picture({
    name: "slopes",
    title: "How far the weights can still be moved",
    body: [ball],
    numbers: drawer("Numbers", ...matrices.of("J")),
    data: () => ({ state: scene.state, jacobian: rowsOf(viewsOf(scene).J.matrix) }),
    aside: jacobianFormula(),
  });
  const curves = picture({
    name: "curves",
    title: "64 queries, at every width or temperature",
    body: [axis.element, h("div", { class: "charts" }, ...charts.map(({ chart }) => chart))],
    data: () => {
      const { state, xs, curves } = scene;
      return { state, [state.axis]: xs, divided: curves.root, notDivided: curves.none };
    },
  });
  furnish(find("#room", HTMLElement), {
    pictures: [one, slopes, curves].map(({ element }) => element),
    readout: teller.element,
    agreement,
    heedCode: () => heedCode(scene),
    torchCode: () => torchCode(scene),
  });

  function* showing(next: ScaleScene, answered: ScaleAnswer | undefined): Generator<undefined> {
    isNew ||= next !== scene;
    [scene, answer] = [next, answered];
    const { state } = scene;
    width.show(state.width, String(state.width));
    scaling.show(state.scaling);
    temperature.show(state.temperature, String(state.temperature));
    keys.show(state.keys, String(state.keys));
    likeness.show(state.likeness, exact(state.likeness, 1));
    again.title = `Draw ${state.seed} of 9999`;
    axis.show(state.axis);
    matrices.showAll(viewsOf(scene, answer?.weights));
    yield;
    // No answer of the kernel changes the curves.
    if (isNew) {
      histogram.show(histogramView(scene, bin));
      yield;
      ball.show(ballView(scene));
      yield;
      for (const { view, chart } of charts) {
        chart.show(view(scene));
        yield;
      }
    }
    isNew = false;
    figures.replaceChildren(...figuresOf(scene));
    one.say(rowText(scene));
    slopes.say(slopeText(scene));
    curves.say(curveText(scene));
    agreement.textContent = agreed("The weights of all 64 queries", answer?.difference);
    teller.tell();
  }
  const show = (...now: Parameters<typeof showing>): void => atOnce(showing(...now));
  return { showing, show };
}

const softmaxFormula = (): Element =>
  formula(
    sub("z", "j"),
    "=",
    fraction(row("q", "·", sub("k", "j")), row(rootSign("d"), "T")),
    plain(",  "),
    sub("a", "j"),
    "=",
    fraction(sup("e", sub("z", "j")), row("∑", sup("e", sub("z", "l")))),
  );

const jacobianFormula = (): Element =>
  formula(
    sub("J", row("i", "j")),
    "=",
    fraction(row("∂", sub("a", "i")), row("∂", sub("z", "j"))),
    "=",
    sub("a", "i"),
    row("(", sub("δ", row("i", "j")), "−", sub("a", "j"), ")"),
  );

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

function rowText({ state, factor }: ScaleScene): string {
  const { width, temperature, scaling, likeness } = state;
  const independent = likeness > 0 ? "Except in key 1, components are independent" : "Components are independent";
  const divided = scaling === "root" ? "Here it is divided by √d" : "Not divided here";
  const by = temperature === 1 ? "" : ` and by T = ${temperature}`;
  return `${independent}, with mean 0 and variance 1. A score is a sum of ${width} products, so its standard deviation is √${width} = ${exact(Math.sqrt(width), 2)}. ${divided}${by}: ×\u00a0${exact(factor, 4)}.`;
}

function slopeText({ soft }: ScaleScene): string {
  return soft.slope < 0.05
    ? "The dot is a ball on a plain: the largest weight is almost 1, and hardly anything moves it. Gradients reach the scores through this slope, so this query hardly learns any more, right or wrong."
    : "The dot is a ball on a slope: gradients reach the scores through it. The slope is steepest where weights are undecided, and flat where one takes all. What one weight gains, the others lose.";
}

function curveText(scene: ScaleScene): string {
  const { state } = scene;
  if (state.likeness > 0) return calibrationText(scene);
  return state.axis === "d"
    ? "Each curve is a mean over 64 queries, each with its own keys. Divided by √d, scores have the same spread at every width. Drag over a curve, or use its arrow keys, to change d."
    : "Towards T = 0 the softmax takes the largest score, towards infinity the plain average. 1/√d is a temperature, too. For calibration, make key 1 resemble q.";
}

/** Key 1 is the one that is meant, and the largest weight a bet on it. */
function calibrationText({ given }: ScaleScene): string {
  const all = given.map((scores) => soften(scores).weights);
  const largest = all.map((weights) => Math.max(...weights));
  const right = all.filter((weights, draw) => weights[0] === largest[draw]).length;
  const sure = largest.reduce((sum, weight) => sum + weight, 0) / all.length;
  return `Key 1 resembles the query. It has the largest weight for ${right} of ${all.length} queries, ${percent(right / all.length)}; the largest weight is ${percent(sure)} on average. A model is calibrated where both agree: temperature moves the second and leaves the first.`;
}

runRoom({
  store,
  prepare,
  sceneOf,
  callsOf: (scene) => [callOf(scene)],
  read: readAnswers,
  // Over what the curves run does not change the numbers.
  computedFrom: ["width", "keys", "scaling", "temperature", "likeness", "seed"],
  build: scaleRoom,
});
