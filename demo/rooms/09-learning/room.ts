// Room 9, learning: a model that is trained here, the ways of a gradient through attention, and a sentence as many lessons.

import type { Engine } from "../../src/engine/engine.js";
import { bestOf } from "../../src/model/matrix.js";
import { agreed, agreementLine, furnish } from "../../src/page/furnish.js";
import type { Room } from "../../src/page/run-room.js";
import { h } from "../../src/ui/dom.js";
import { NamedMatrices } from "../../src/ui/named-matrices.js";
import { percent } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { slider } from "../../src/ui/slider.js";
import { Teller } from "../../src/ui/teller.js";
import type { LearningAnswer } from "./calls.js";
import { heedCode, torchCode } from "./code.js";
import { explain, NAMES, type Name } from "./explain.js";
import { lessonsPicture } from "./lessons.js";
import { pathsDrawing } from "./paths.js";
import type { LearningScene } from "./scene.js";
import { FACTORS, type LearningStore } from "./state.js";
import { trainingPicture } from "./training-picture.js";
import { viewOf } from "./views.js";

export function learningRoom(
  store: LearningStore,
  engine: Engine,
  root: HTMLElement,
  first: LearningScene,
): Room<LearningScene, LearningAnswer> {
  let scene = first;
  let answer: LearningAnswer | undefined;
  const matrices = new NamedMatrices(NAMES);
  const teller = new Teller({
    keeper: () => store,
    first: () => ({ name: "M", row: 0, col: bestOf(view("M").matrix, 0) }),
    explain: (cell) => {
      const spot = matrices.find(cell);
      return spot && explain(scene, spot, { answer, moment: training.moment() });
    },
    light: (lights) => matrices.light(lights),
  });
  matrices.listen(teller);
  const look = (): void => {
    matrices.show(view, ["M"]);
    teller.tell();
  };
  const training = trainingPicture({ store, engine, matrix: matrices.of("M"), look });
  const paths = pathsDrawing();
  const factor = slider("Multiply scores by", FACTORS, (factor) => store.change({ factor }));
  const gradients = picture({
    name: "gradients",
    title: "A gradient has two paths",
    body: [
      h("div", {}, paths.element),
      h("p", { class: "small-label" }, "Orange: gradients. Violet: weights. Each is as wide as it is large."),
      factor.element,
      h(
        "div",
        { class: "matrices" },
        h("div", { class: "stacked-rows" }, ...matrices.of("A", "dA", "dS")),
        ...matrices.of("dV", "dK", "dQ"),
      ),
    ],
    data: () => scene,
  });
  const agreement = agreementLine();
  furnish(root, {
    above: [training.task],
    pictures: [training.element, gradients.element, lessonsPicture().element],
    readout: teller.element,
    agreement,
    heedCode: () => heedCode(scene),
    torchCode: () => torchCode(scene),
  });

  function view(name: Name) {
    return viewOf(name, scene, answer, training.moment());
  }

  return {
    show: (next, answered) => {
      [scene, answer] = [next, answered];
      matrices.show(view);
      training.show(scene.state);
      paths.show(scene);
      factor.show(scene.state.factor, String(scene.state.factor));
      gradients.say(textOf(scene));
      agreement.textContent = agreed("Gradients", answer?.difference);
      teller.tell();
    },
  };
}

function textOf({ weights, state }: LearningScene): string {
  const most = `k1 has ${percent(weights[0] ?? 0)} of the weight, and the loss wants v2.`;
  return state.factor >= 8
    ? `${most} The softmax is saturated: hardly any gradient reaches the scores, so attention cannot change its mind. The path into V flows on: it is linear, weight times gradient.`
    : `${most} The softmax is soft: gradients reach every score, and raise k2’s. Multiply the scores, and watch the left path dry up while the right one flows.`;
}
