// The room's matrices and the curve of the loss. Pure; the room draws them.

import type { MatrixView } from "heed/viz";
import { fill } from "../../src/model/matrix.js";
import type { ChartView, Series } from "../../src/ui/heed-chart.js";
import type { LearningAnswer } from "./calls.js";
import type { Name } from "./explain.js";
import { KEYS, type LearningScene, numbered, type Part, VALUE_WIDTH, WIDTH } from "./scene.js";
import { LETTERS, type Task, WORDS } from "./tasks.js";
import { EVERY, type Moment, STEPS } from "./training.js";

const K = numbered("k", KEYS);
/** Titles, and names of rows and columns. */
const LABELS: Readonly<Record<Part, readonly [string, string, readonly string[], readonly string[]]>> = {
  A: ["weight a", "after the softmax", ["weight a"], K],
  dA: ["∂L/∂a", "in each weight", ["∂L/∂a"], K],
  dS: ["∂L/∂s", "in each score", ["∂L/∂s"], K],
  dV: ["∂L/∂V", "in the values", numbered("v", KEYS), numbered("", VALUE_WIDTH)],
  dK: ["∂L/∂K", "in the keys", K, numbered("", WIDTH)],
  dQ: ["∂L/∂q", "in the query", ["q"], numbered("", WIDTH)],
};

export function viewOf(
  name: Name,
  scene: LearningScene,
  answer: LearningAnswer | undefined,
  moment: Moment | undefined,
): MatrixView {
  if (name === "M") return trainedView(scene, moment);
  const [title, about, rowLabels, colLabels] = LABELS[name];
  const matrix = answer?.matrices[name] ?? scene.matrices[name];
  // Gradients beyond 1 have the full colour.
  return { name, title, about, matrix, rowLabels, colLabels, tone: name === "A" ? "share" : "signed", full: 1 };
}

/** Before any training all weights are alike. */
function trainedView({ state }: LearningScene, moment: Moment | undefined): MatrixView {
  return {
    name: "M",
    title: "Attention",
    about: `which letter each output looks at, ${moment === undefined ? "before training" : `after ${moment.step} steps`}`,
    matrix: fill(LETTERS, LETTERS, (row, col) => moment?.weights[row * LETTERS + col] ?? 1 / LETTERS),
    rowLabels: numbered("", LETTERS),
    colLabels: Array.from(WORDS[state.task]),
    tone: "share",
    full: 1,
  };
}

/** The table behind the curve says what there is; the axis has room for what is to come. */
export function lossView(task: Task, moments: readonly Moment[], cursor: number): ChartView {
  const [every, steps] = [EVERY[task], STEPS[task]];
  const values = Array.from({ length: steps / every + 1 }, (_, index) => index * every);
  const learnt: Series = { name: "loss", values: moments.map(({ loss }) => loss), tone: "share" };
  return {
    label: "Loss against the step of training",
    x: { name: "step", values, log: false, ticks: values.filter((value) => value % (steps / 4) === 0) },
    y: { name: "loss", most: 3.6 },
    series: [
      ...(moments.length > 0 ? [learnt] : []),
      // Among 26 letters.
      { name: "by chance", values: values.map(() => Math.log(26)), tone: "soft", dashed: true },
    ],
    cursor,
  };
}
