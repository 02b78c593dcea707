// Room 3, scale and temperature: one query among its keys, the slopes that are left, and both against width or temperature.

import { rowsOf } from "../../src/model/matrix.js";
import { agreement, agreementLine, furnish, OWN_ARITHMETIC } from "../../src/page/furnish.js";
import { choice } from "../../src/ui/choice.js";
import { h } from "../../src/ui/dom.js";
import { HeedChart } from "../../src/ui/heed-chart.js";
import { formula, fraction, plain, root as rootSign, row, sub, sup } from "../../src/ui/math.js";
import { NamedMatrices } from "../../src/ui/named-matrices.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { drawer, picture } from "../../src/ui/picture.js";
import { atOnce } from "../../src/ui/pieces.js";
import { Teller } from "../../src/ui/teller.js";
import type { ScaleAnswer } from "./calls.js";
import { heedCode, torchCode } from "./code.js";
import { controls } from "./controls.js";
import { explain, ROWS } from "./explain.js";
import type { ScaleScene } from "./scene.js";
import { soften } from "./softmax.js";
import { type Axis, type ScaleStore, TEMPERATURES, WIDTHS } from "./state.js";
import { ballView, entropyView, histogramView, MIDDLE_BIN, slopeView, spreadView, viewOf } from "./views.js";

const CURVES = [spreadView, entropyView, slopeView];

export class ScaleRoom {
  readonly #store: ScaleStore;
  #scene: ScaleScene;
  #answer: ScaleAnswer | undefined;
  readonly #controls: ReturnType<typeof controls>;
  readonly #matrices = new NamedMatrices(ROWS);
  readonly #teller = new Teller({
    keeper: () => this.#store,
    first: () => {
      const { shares } = this.#scene.soft;
      return { name: "A", row: 0, col: shares.indexOf(Math.max(...shares)) };
    },
    explain: (cell) => {
      const spot = this.#matrices.find(cell);
      return spot === undefined ? undefined : explain(this.#scene, spot, this.#answer?.shares);
    },
    light: (lights) => this.#matrices.light(lights),
  });
  readonly #charts = CURVES.map((view) => ({ view, chart: new HeedChart() }));
  readonly #histogram = new HeedChart();
  readonly #ball = new HeedChart();
  #bin = MIDDLE_BIN;
  readonly #figures = h("dl", { class: "figures" });
  readonly #agreement = agreementLine();
  readonly #axis = choice<Axis>(
    "Curves over",
    [
      { value: "d", text: "width" },
      { value: "T", text: "temperature" },
    ],
    (axis) => this.#store.change({ axis }),
  );
  readonly #pictures;

  constructor(store: ScaleStore, root: HTMLElement, scene: ScaleScene) {
    this.#store = store;
    this.#scene = scene;
    this.#controls = controls(store);
    this.#matrices.listen(this.#teller);
    for (const { chart } of this.#charts) chart.choose = (index) => this.#choose(index);
    this.#histogram.choose = (bin) => {
      this.#bin = bin;
      this.#histogram.show(histogramView(this.#scene, bin));
    };
    this.#ball.choose = (push) => this.#ball.show(ballView(this.#scene, push));
    this.#pictures = this.#build();
    furnish(root, {
      pictures: Object.values(this.#pictures).map(({ element }) => element),
      readout: this.#teller.element,
      agreement: this.#agreement,
      heedCode: () => heedCode(this.#scene),
      torchCode: () => torchCode(this.#scene),
    });
  }

  #build() {
    const rows = h("div", { class: "stacked-rows" }, ...this.#matrices.of("S", "Z", "A"));
    return {
      row: picture({
        name: "row",
        title: "How one query spreads its attention",
        body: [h("div", { class: "spread-and-row" }, this.#histogram, rows), this.#figures],
        ...this.#controls,
        data: () => this.#rowData(),
        aside: formula(
          sub("z", "j"),
          "=",
          fraction(row("q", "·", sub("k", "j")), row(rootSign("d"), "T")),
          plain(",  "),
          sub("a", "j"),
          "=",
          fraction(sup("e", sub("z", "j")), row("∑", sup("e", sub("z", "l")))),
        ),
      }),
      slopes: picture({
        name: "slopes",
        title: "How far the weights can still be moved",
        body: [this.#ball],
        numbers: drawer("Numbers", ...this.#matrices.of("J")),
        data: () => ({ state: this.#scene.state, jacobian: rowsOf(viewOf("J", this.#scene).matrix) }),
        aside: formula(
          sub("J", row("i", "j")),
          "=",
          fraction(row("∂", sub("a", "i")), row("∂", sub("z", "j"))),
          "=",
          sub("a", "i"),
          row("(", sub("δ", row("i", "j")), "−", sub("a", "j"), ")"),
        ),
      }),
      curves: picture({
        name: "curves",
        title: "64 queries, at every width or temperature",
        body: [this.#axis.element, h("div", { class: "charts" }, ...this.#charts.map(({ chart }) => chart))],
        data: () => this.#curveData(),
      }),
    };
  }

  show(scene: ScaleScene, answer: ScaleAnswer | undefined): void {
    atOnce(this.showing(scene, answer));
  }

  *showing(scene: ScaleScene, answer: ScaleAnswer | undefined): Generator<undefined> {
    const isNew = scene !== this.#scene || this.#agreement.textContent === "";
    this.#scene = scene;
    this.#answer = answer;
    this.#controls.show();
    this.#axis.show(scene.state.axis);
    this.#matrices.show((name) => viewOf(name, scene, answer?.shares));
    yield;
    // No answer of the kernel changes the curves.
    if (isNew) {
      this.#histogram.show(histogramView(scene, this.#bin));
      yield;
      this.#ball.show(ballView(scene));
      yield;
      for (const { view, chart } of this.#charts) {
        chart.show(view(scene));
        yield;
      }
    }
    this.#figures.replaceChildren(...figuresOf(scene));
    this.#pictures.row.say(rowText(scene));
    this.#pictures.slopes.say(slopeText(scene));
    this.#pictures.curves.say(curveText(scene));
    this.#agreement.textContent = agreementOf(answer);
    this.#teller.tell();
  }

  /** A place on a curve is a state. */
  #choose(index: number): void {
    const { axis } = this.#scene.state;
    if (axis === "d") this.#store.change({ width: WIDTHS[index] ?? 1 });
    else this.#store.change({ temperature: TEMPERATURES[index] ?? 1 });
  }

  #rowData(): unknown {
    const { state, q, k, raw, scaled, soft } = this.#scene;
    return { state, q: rowsOf(q), k: rowsOf(k), scores: raw, scaled, shares: soft.shares, entropy: soft.entropy };
  }

  #curveData(): unknown {
    const { state, xs, curves } = this.#scene;
    return { state, [state.axis]: xs, divided: curves.root, notDivided: curves.none };
  }
}

function figuresOf({ soft, state }: ScaleScene): HTMLElement[] {
  const full = Math.log(state.keys);
  const part = soft.entropy / full;
  const fill = h("span");
  fill.style.setProperty("width", `${(part * 100).toFixed(1)}%`);
  const figure = (name: string, value: string, note: string, ...more: readonly HTMLElement[]): HTMLElement =>
    h("div", {}, h("dt", {}, name), h("dd", {}, value, " ", h("small", {}, note), ...more));
  return [
    figure(
      "Entropy",
      exact(soft.entropy, 3),
      `of ln ${state.keys} = ${exact(full, 3)} nats`,
      h("span", { class: "meter", "aria-hidden": "true" }, fill),
    ),
    figure("Effective keys", exact(Math.exp(soft.entropy), 2), `of ${state.keys}: e to the entropy`),
    figure("Largest weight", percent(Math.max(...soft.shares)), ""),
    figure("Gradient left, ‖J‖", exact(soft.slope, 4), ""),
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
function calibrationText({ draws, state, factor }: ScaleScene): string {
  const width = WIDTHS.indexOf(state.width);
  const all = draws.map(({ scores }) => soften(scores.map((at) => (at[width] ?? 0) * factor)).shares);
  const largest = all.map((weights) => Math.max(...weights));
  const right = all.filter((weights, draw) => weights[0] === largest[draw]).length;
  const sure = largest.reduce((sum, weight) => sum + weight, 0) / all.length;
  return `Key 1 resembles the query. It has the largest weight for ${right} of ${all.length} queries, ${percent(right / all.length)}; the largest weight is ${percent(sure)} on average. A model is calibrated where both agree: temperature moves the second and leaves the first.`;
}

function agreementOf(answer: ScaleAnswer | undefined): string {
  if (answer === undefined) return OWN_ARITHMETIC;
  return `Weights come from the kernel. Over all 64 queries, kernel and worked arithmetic ${agreement(answer.difference)}.`;
}
