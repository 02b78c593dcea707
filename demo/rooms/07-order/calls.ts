// The sentence as it stands and as written, as calls of heed; what heed says to them; and the first of them as code.

import type { Answer, Call } from "../../src/engine/engine.js";
import { rowsOf, stack, unstack, widestGap } from "../../src/model/matrix.js";
import { heedSource, NOTHING, single, torchSource } from "../../src/ui/code.js";
import { type Attended, gap, type OrderScene, SCALE } from "./scene.js";
import type { Kind, OrderState } from "./state.js";

type OfKinds<T> = Readonly<Partial<Record<Kind, T>>>;

export type OrderAnswer = NonNullable<ReturnType<typeof readAnswers>>;

export function callsOf({ words, now, written, state }: OrderScene): readonly Call[] {
  return words.length === 0 ? [] : [now, written].map((one) => callOf(one, state));
}

function callOf({ q, k, v, bias }: Attended, { kind, slope }: OrderState): Call {
  const special: OfKinds<Call["options"]> = {
    causal: { causal: true },
    alibi: { alibiSlopes: [slope] },
    relative: { bias: { data: Float32Array.from(bias.data), shape: [1, 1, bias.rows, bias.cols] } },
  };
  return { q: stack([q]), k: stack([k]), v: stack([v]), options: { scale: SCALE, ...special[kind] } };
}

/** `difference`: output now, less that of the same word as written; `apart`: from the page's arithmetic. */
export function readAnswers({ now, places }: OrderScene, answers: readonly Answer[]) {
  const { rows, cols } = now.output;
  const [output, written] = answers.map((answer) => unstack(rows, cols, answer.output.data));
  if (output === undefined || written === undefined) return undefined;
  const weights = unstack(rows, rows, answers[0]?.weights.data ?? []);
  const apart = Math.max(widestGap(output, now.output), widestGap(weights, now.weights));
  return { weights, output, difference: gap(output, written, places), apart };
}

const ADDED = " (positions are in q, k and v already)";
const ALREADY: OfKinds<string> = { rope: " (q and k are turned already)", sinusoidal: ADDED, learned: ADDED };

const aboutOf = ({ labels, state }: OrderScene): string =>
  labels.join(" ").replace(/\s+/g, " ") + (ALREADY[state.kind] ?? "");

export function heedCode(scene: OrderScene): string {
  const [call] = callsOf(scene);
  return call === undefined ? `// ${NOTHING}` : heedSource({ about: aboutOf(scene), call, options: call.options });
}

export function torchCode(scene: OrderScene): string {
  const [call] = callsOf(scene);
  if (call === undefined) return `# ${NOTHING}`;
  const lines = rowsOf(scene.now.bias).map((row) => `    [${row.map(single).join(", ")}]`);
  const bias = { given: `bias = torch.tensor([\n${lines.join(",\n")},\n])\n`, option: ", attn_mask=bias" };
  const special: OfKinds<{ readonly given?: string; readonly option: string }> = {
    causal: { option: ", is_causal=True" },
    alibi: bias,
    relative: bias,
  };
  const { given = "", option = "" } = special[scene.state.kind] ?? {};
  const line = `output = F.scaled_dot_product_attention(q, k, v${option}, scale=${single(SCALE)})`;
  return torchSource({ about: aboutOf(scene), call }, `${given}\n${line}\n`);
}
