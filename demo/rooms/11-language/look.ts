// One head's look from the word that is asked: as matrices of one row, each number taken apart, as a call of heed and as code. And a word's
// probability taken apart.

import type { MatrixView } from "heed/viz";
import type { Answer, Call } from "../../src/engine/engine.js";
import { HEAD_DIM } from "../../src/language/words.js";
import { along, at, down, largest, stack, unstack, widestGap } from "../../src/model/matrix.js";
import { heedSource, NOTHING, single, torchProgram, torchTensor } from "../../src/ui/code.js";
import { type Explanation, lit, products, softened } from "../../src/ui/explanation.js";
import { numbered, signed, weighed } from "../../src/ui/named-matrices.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { type LanguageScene, lastOf, SCALE } from "./scene.js";
import { headName } from "./state.js";

export const NAMES = ["S", "A", "O"] as const;
type Name = (typeof NAMES)[number];

const COMPONENTS = numbered("", HEAD_DIM);
const labelsOf = ({ words, columns }: LanguageScene): readonly string[] =>
  columns.map((place) => words[place]?.text ?? "");

export function viewOf(name: Name, scene: LanguageScene, answer: LanguageAnswer | undefined): MatrixView | undefined {
  const { look } = scene;
  if (look === undefined) return undefined;
  const labels = labelsOf(scene);
  const [title, about, matrix, colLabels] = (
    {
      S: ["score", "query times key, over √d", look.scores, labels],
      A: ["weight", "after the softmax", answer?.weights ?? look.weights, labels],
      O: ["output", "values by weight", answer?.output ?? look.output, COMPONENTS],
    } as const
  )[name];
  const view = (name === "A" ? weighed : signed)(title, about, matrix, [title], colLabels);
  return { name, ...view, full: name === "A" ? 1 : largest(matrix) };
}

/** The kernel's numbers, and how far they are from the page's arithmetic at most. */
export type LanguageAnswer = NonNullable<ReturnType<typeof readAnswers>>;

export function callsOf({ look }: LanguageScene): readonly Call[] {
  if (look === undefined) return [];
  return [{ q: stack([look.q]), k: stack([look.k]), v: stack([look.v]), options: { scale: SCALE } }];
}

export function readAnswers({ look }: LanguageScene, [found]: readonly Answer[]) {
  if (look === undefined || found === undefined) return undefined;
  const weights = unstack(1, look.weights.cols, found.weights.data);
  const output = unstack(1, look.output.cols, found.output.data);
  return { weights, output, difference: Math.max(widestGap(look.weights, weights), widestGap(look.output, output)) };
}

export function explainWord({ reading, bars, state }: LanguageScene, id: number): Explanation | undefined {
  const chosen = bars.findIndex((bar) => bar.id === id);
  const bar = bars[chosen];
  if (reading === undefined || bar === undefined) return undefined;
  const logits = lastOf(reading);
  const kept = bars.filter(({ isKept }) => isKept).reduce((total, { probability }) => total + probability, 0);
  const names = bars.map(({ word }) => word);
  const scores = bars.map((one) => (logits[one.id] ?? Number.NaN) / state.temperature);
  const softmax = softened(scores, names, { subject: `“${bar.word}”`, at: chosen });
  const drawn = bar.isKept ? `Probability ${percent(bar.probability / kept)}.` : "It is cut off, and never drawn.";
  return { ...softmax, sentence: `${drawn} Score = logit ÷ temperature (${exact(state.temperature)}).` };
}

export function explainLook(scene: LanguageScene, name: Name, col: number, answer?: LanguageAnswer) {
  const { look } = scene;
  if (look === undefined) return undefined;
  const labels = labelsOf(scene);
  const light = lit(name, 0, col);
  const { q, k, v, scores, weights, output } = look;
  if (name === "S") {
    const result = at(scores, 0, col);
    return {
      subject: `score of “${labels[col]}”`,
      sentence: `The query times this word’s key, component by component; the sum over √${HEAD_DIM}.`,
      ...products(COMPONENTS, along(q, 0), along(k, col), ["", "q", "k"]),
      last: `${exact(result / SCALE)} / ${exact(1 / SCALE)} = ${exact(result)}`,
      result,
      lights: [light],
    };
  }
  if (name === "A") {
    const subject = `weight of “${labels[col]}”`;
    return softened(Array.from(scores.data), labels, { subject, at: col, kernel: answer?.weights.data[col], light });
  }
  return {
    subject: `output, component ${col + 1}`,
    sentence: "Each word’s weight times its value’s component; the sum goes on to the stream.",
    ...products(labels, along(weights, 0), down(v, col), ["", "weight", `v${col + 1}`]),
    result: at(output, 0, col),
    kernel: answer?.output.data[col],
    lights: [light, lit("A", 0)],
  };
}

const aboutOf = ({ state }: LanguageScene): string =>
  `${headName(state.head).replace("Head", "head")}, from the word that is asked`;

export function heedCode(scene: LanguageScene): string {
  const [call] = callsOf(scene);
  return call === undefined ? `// ${NOTHING}` : heedSource({ about: aboutOf(scene), call, options: call.options });
}

export function torchCode(scene: LanguageScene): string {
  const { look } = scene;
  if (look === undefined) return `# ${NOTHING}`;
  return torchProgram(
    aboutOf(scene),
    `${torchTensor("q", [look.q])}
${torchTensor("k", [look.k])}
${torchTensor("v", [look.v])}

output = torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=${single(SCALE)})`,
  );
}
