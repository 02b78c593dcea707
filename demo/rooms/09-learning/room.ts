// Room 9, learning: a model that is trained here, the ways of a gradient through attention, and a sentence as many lessons.

import type { Engine } from "../../src/engine/engine.js";
import { rowsOf } from "../../src/model/matrix.js";
import { agreed, agreementLine, furnish } from "../../src/page/furnish.js";
import { h } from "../../src/ui/dom.js";
import { NamedMatrices } from "../../src/ui/named-matrices.js";
import { percent } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { slider } from "../../src/ui/slider.js";
import { Teller } from "../../src/ui/teller.js";
import type { LearningAnswer } from "./calls.js";
import { heedCode, torchCode } from "./code.js";
import { explain, NAMES } from "./explain.js";
import { lessonsPicture } from "./lessons.js";
import { Paths } from "./paths.js";
import type { LearningScene } from "./scene.js";
import { FACTORS, type LearningStore } from "./state.js";
import { TrainingPicture } from "./training-picture.js";
import { viewOf } from "./views.js";

export class LearningRoom {
  #scene: LearningScene;
  #answer: LearningAnswer | undefined;
  readonly #matrices = new NamedMatrices(NAMES);
  readonly #teller: Teller;
  readonly #training: TrainingPicture;
  readonly #paths = new Paths();
  readonly #factor;
  readonly #gradients;
  readonly #agreement = agreementLine();

  constructor(parts: {
    readonly store: LearningStore;
    readonly engine: Engine;
    readonly root: HTMLElement;
    readonly scene: LearningScene;
  }) {
    const { store, root, scene } = parts;
    this.#scene = scene;
    this.#teller = new Teller({
      keeper: () => store,
      first: () => {
        const [first = []] = rowsOf(this.#view("M").matrix);
        return { name: "M", row: 0, col: first.indexOf(Math.max(...first)) };
      },
      explain: (cell) => {
        const spot = this.#matrices.find(cell);
        return spot && explain(this.#scene, spot, { answer: this.#answer, moment: this.#training.moment });
      },
      light: (lights) => this.#matrices.light(lights),
    });
    this.#matrices.listen(this.#teller);
    this.#training = new TrainingPicture(parts, this.#matrices.of("M"), () => {
      this.#matrices.show((name) => this.#view(name), ["M"]);
      this.#teller.tell();
    });
    this.#factor = slider("Multiply scores by", FACTORS, (factor) => store.change({ factor }));
    this.#gradients = picture({
      name: "gradients",
      title: "A gradient has two paths",
      body: [
        h("div", {}, this.#paths.element),
        h("p", { class: "small-label" }, "Orange: gradients. Violet: weights. Each is as wide as it is large."),
        this.#factor.element,
        h(
          "div",
          { class: "matrices" },
          h("div", { class: "stacked-rows" }, ...this.#matrices.of("A", "dA", "dS")),
          ...this.#matrices.of("dV", "dK", "dQ"),
        ),
      ],
      data: () => this.#data(),
    });
    furnish(root, {
      above: [this.#training.task.element],
      pictures: [this.#training.element, this.#gradients.element, lessonsPicture().element],
      readout: this.#teller.element,
      agreement: this.#agreement,
      heedCode: () => heedCode(this.#scene),
      torchCode: () => torchCode(this.#scene),
    });
  }

  show(scene: LearningScene, answer: LearningAnswer | undefined): void {
    this.#scene = scene;
    this.#answer = answer;
    this.#matrices.show((name) => this.#view(name));
    this.#training.show(scene);
    this.#paths.show(scene);
    this.#factor.show(scene.state.factor, String(scene.state.factor));
    this.#gradients.say(textOf(scene));
    this.#agreement.textContent = agreed("Gradients", answer?.difference);
    this.#teller.tell();
  }

  #view(name: (typeof NAMES)[number]): ReturnType<typeof viewOf> {
    return viewOf(name, this.#scene, this.#answer, this.#training.moment);
  }

  #data(): unknown {
    const { state, scale, weights, output, loss, dOutput, dScores, dq, dk, dv } = this.#scene;
    const gradients = { output: dOutput, scores: dScores, q: rowsOf(dq), k: rowsOf(dk), v: rowsOf(dv) };
    return { state, scale, weights, output, loss, gradients };
  }
}

function textOf({ weights, state }: LearningScene): string {
  const most = `k1 has ${percent(weights[0] ?? 0)} of the weight, and the loss wants v2.`;
  return state.factor >= 8
    ? `${most} The softmax is saturated: hardly any gradient reaches the scores, so attention cannot change its mind. The path into V flows on: it is linear, weight times gradient.`
    : `${most} The softmax is soft: gradients reach every score, and raise k2’s. Multiply the scores, and watch the left path dry up while the right one flows.`;
}
