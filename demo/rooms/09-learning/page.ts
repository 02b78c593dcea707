// Room 9, learning: models that are trained here, the ways of a gradient through attention, and a sentence as many lessons.

import { bestOf } from "../../src/model/matrix.js";
import { Store } from "../../src/model/store.js";
import { agreed, type BuiltRoom, type RoomContext, tellingRoom } from "../../src/page/room.js";
import { Board } from "../../src/ui/board.js";
import { boundSlider } from "../../src/ui/controls.js";
import { h, tableFrame } from "../../src/ui/dom.js";
import { told } from "../../src/ui/named-matrices.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import { callsOf, heedCode, type LearningAnswer, readAnswers, torchCode } from "./calls.js";
import { NAMES, type Name, viewOf } from "./matrices.js";
import { paths } from "./paths.js";
import { type LearningScene, sceneOf, total } from "./scene.js";
import { FACTORS, guessedRow, LEARNING_STATE } from "./state.js";
import { trainingPicture } from "./training-picture.js";
import "../../style/learning.css";

const SENTENCE = ["The", "dog", "was", "tired", "and", "slept"];
const LESSONS = SENTENCE.slice(1).map((target, row) => ({ sees: SENTENCE.slice(0, row + 1), target }));

const store = new Store(LEARNING_STATE);
tellingRoom({
  store,
  sceneOf,
  kernel: {
    callsOf,
    read: readAnswers,
    said: (answer) => agreed("Gradients", answer?.difference),
    // What is trained has an engine's answers of its own.
    computedFrom: ["factor"],
  },
  code: { heed: heedCode, torch: torchCode },
  matrices: NAMES,
  build: learningRoom,
});

function learningRoom(room: RoomContext<LearningScene, LearningAnswer, Name>): BuiltRoom<Name> {
  const { matrices, teller } = room;
  const found = () => ({ answer: room.answer, moment: training.moment() });
  const view = (name: Name) => ({ name, ...viewOf(name, room.scene, found()) });
  const look = (): void => {
    matrices.show(view, ["M"]);
    teller.tell();
  };
  const training = trainingPicture(store, room.engine, matrices.of("M"), look);
  const board = new Board({ steps: [""] });
  const stacked = h("div", { class: "stacked-rows" }, ...matrices.of("A", "dA", "dS"));
  const gradients = picture({
    name: "gradients",
    title: "A gradient has two paths",
    body: [
      board.element,
      h("p", { class: "small-label" }, "Brown: gradients. Violet: weights. Each is as wide as it is large."),
      boundSlider(store, "factor", "Multiply scores by", FACTORS),
      h("div", { class: "matrices" }, stacked, ...matrices.of("dV", "dK", "dQ")),
    ],
    data: () => room.scene,
  });
  return {
    above: [training.task],
    pictures: [training, gradients, lessonsPicture()],
    first: () => {
      const row = guessedRow(room.scene.state.task);
      return { name: "M", row, col: bestOf(view("M").matrix, row) };
    },
    explain: (spot) => told(view(spot.name), spot),
    // Before training, nothing shall suggest a guess.
    light: (all) => matrices.light(all.filter(({ name }) => name !== "M" || training.moment() !== undefined)),
    show: () => {
      const { scene } = room;
      matrices.show(view);
      training.show(scene.state);
      board.show((_, width) => paths(scene, width));
      gradients.say(textOf(scene));
    },
  };
}

/** Gradients in all scores below which the softmax is as good as saturated. */
const DRY = 0.1;

function textOf({ weights, dScores, state }: LearningScene): string {
  const most = `k1 has ${percent(weights[0] ?? 0)} of the weight, and the loss wants v2.`;
  const gradient = total(dScores.map(Math.abs));
  if (gradient < DRY)
    return `${most} The softmax is saturated: hardly any gradient reaches the scores, so attention cannot change its mind. The path into V flows on: it is linear, weight times gradient.`;
  const soft = total(sceneOf({ ...state, factor: 1 }).dScores.map(Math.abs));
  return gradient < soft
    ? `${most} The left path has shrunk to ${exact(gradient, 3)}; with scores times 1 it was ${exact(soft, 3)}. Multiply further, and it dries up, while the right one flows.`
    : `${most} The softmax is soft: gradients reach every score, and raise k2’s. Multiply the scores: at first the left path grows a little, from 8 on it dries up, and the right one flows.`;
}

/** Under the causal mask each word but the last is a lesson of its own. */
function lessonsPicture(): Picture {
  const rows = LESSONS.map(({ target }, row) => {
    const cells = SENTENCE.map((word, col) => {
      const kind = col <= row ? "seen" : col === row + 1 ? "target" : "masked";
      return h("td", { class: kind }, kind === "masked" ? "·" : word);
    });
    return h("tr", {}, h("th", { scope: "row", "aria-label": `Lesson ${row + 1}: ${target}` }, `${row + 1}`), ...cells);
  });
  const table = h("table", { class: "lessons" }, h("tbody", {}, ...rows));
  const lessons = picture({
    name: "lessons",
    title: "One sentence is n lessons",
    body: [tableFrame("Each lesson: what it sees and its target", table)],
    data: () => LESSONS,
  });
  lessons.say(
    "A language model learns to say the next word. Under the causal mask, each row sees only the words before its target, so one pass over six words answers five questions at once, and each has its loss.",
  );
  return lessons;
}
