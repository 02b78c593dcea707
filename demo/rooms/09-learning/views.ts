// The room's matrices and the curve of the loss. Pure; the room draws them.

import type { MatrixView } from "heed/viz";
import { fill, type Matrix, unstack } from "../../src/model/matrix.js";
import type { ChartView, Series } from "../../src/ui/heed-chart.js";
import type { LearningAnswer } from "./calls.js";
import type { Name } from "./explain.js";
import { KEYS, type LearningScene, VALUE_WIDTH, WIDTH } from "./scene.js";
import { LETTERS, WORDS } from "./tasks.js";
import { EVERY, type Moment, STEPS } from "./training.js";

/** Gradients beyond this have the full colour. */
const STEEP = 1;
const COMPONENTS = ["1", "2", "3"];

export function viewOf(
  name: Name,
  scene: LearningScene,
  answer: LearningAnswer | undefined,
  moment: Moment | undefined,
): MatrixView {
  const keys = Array.from({ length: KEYS }, (_, key) => `k${key + 1}`);
  const line = (numbers: ArrayLike<number>): Matrix => unstack(1, numbers.length, numbers);
  const row = (title: string, about: string, numbers: ArrayLike<number>): MatrixView => {
    const view = { name, title, about, matrix: line(numbers), rowLabels: [title], colLabels: keys };
    return { ...view, tone: "signed", full: STEEP };
  };
  const grid = (title: string, about: string, matrix: Matrix, rowLabels: readonly string[]): MatrixView => {
    return { name, title, about, matrix, rowLabels, colLabels: COMPONENTS, tone: "signed", full: STEEP };
  };
  switch (name) {
    case "M":
      return trainedView(scene, moment);
    case "A":
      return { ...row("weight a", "after the softmax", answer?.weights ?? scene.weights), tone: "share" };
    case "dA":
      return row("∂L/∂a", "in each weight", scene.dWeights);
    case "dS":
      return row("∂L/∂s", "in each score", answer?.dS ?? scene.dScores);
    case "dV":
      return grid(
        "∂L/∂V",
        "in the values",
        unstack(KEYS, VALUE_WIDTH, answer?.dv ?? scene.dv.data),
        keys.map((key) => key.replace("k", "v")),
      );
    case "dK":
      return grid("∂L/∂K", "in the keys", unstack(KEYS, WIDTH, answer?.dk ?? scene.dk.data), keys);
    case "dQ":
      return grid("∂L/∂q", "in the query", line(answer?.dq ?? scene.dq.data), ["q"]);
  }
}

/** Before any training all weights are alike. */
function trainedView({ state }: LearningScene, moment: Moment | undefined): MatrixView {
  return {
    name: "M",
    title: "Attention",
    about: `which letter each output looks at, ${moment === undefined ? "before training" : `after ${moment.step} steps`}`,
    matrix: fill(LETTERS, LETTERS, (row, col) => moment?.weights[row * LETTERS + col] ?? 1 / LETTERS),
    rowLabels: Array.from({ length: LETTERS }, (_, place) => String(place + 1)),
    colLabels: Array.from(WORDS[state.task]),
    tone: "share",
    full: 1,
  };
}

/** What guessing among 26 letters loses. */
export const GUESSING = Math.log(26);

/** The table behind the curve says what there is; the axis has room for what is to come. */
export function lossView({ state }: LearningScene, moments: readonly Moment[], cursor: number): ChartView {
  const [every, steps] = [EVERY[state.task], STEPS[state.task]];
  const values = Array.from({ length: steps / every + 1 }, (_, index) => index * every);
  const learnt: Series = { name: "loss", values: moments.map(({ loss }) => loss), tone: "share" };
  return {
    label: "Loss against the step of training",
    x: { name: "step", values, log: false, ticks: values.filter((value) => value % (steps / 4) === 0) },
    y: { name: "loss", most: 3.6 },
    series: [
      ...(moments.length > 0 ? [learnt] : []),
      { name: "by chance", values: values.map(() => GUESSING), tone: "soft", dashed: true },
    ],
    cursor,
  };
}
