// Gradients of attention with any options against the slopes of the double-precision reference.

import { afterAll, expect, test } from "vitest";
import type { AttentionVjpOptions, TensorLike } from "../../web/src/index.js";
import { type ReferenceOptions, attention as reference } from "../../web/src/reference/index.js";
import { type CaseOptions, caseOf } from "../support/cases.js";
import { type Drawn, PATIENCE, tried } from "../support/drawn.js";
import { FEW_KINDS, openKind } from "../support/engines.js";
import { largestNorm } from "../support/error-model.js";
import { scoreBound } from "../support/score-error.js";
import { sizesOf } from "../support/sizes.js";
import { fromSlope, moved } from "../support/slopes.js";

const engines = await Promise.all(FEW_KINDS.map((kind) => openKind(kind)));
afterAll(() => {
  for (const engine of engines) engine.dispose();
});

type Numbers = ArrayLike<number>;
interface Shaped {
  readonly data: Numbers;
  readonly shape?: readonly number[];
}

/** What a gradient may be taken of: a number, numbers or a tensor. */
const isDifferentiated = (value: unknown): value is number | Numbers | Shaped =>
  typeof value === "number" || Array.isArray(value) || ArrayBuffer.isView(value) || isShaped(value);
const isShaped = (value: unknown): value is Shaped => typeof value === "object" && value !== null && "data" in value;

const numbersOf = (value: number | Numbers | Shaped): Float64Array =>
  Float64Array.from(typeof value === "number" ? [value] : isShaped(value) ? value.data : value);

/** The same with other numbers. */
function replaced(value: number | Numbers | Shaped, numbers: Float64Array): unknown {
  if (typeof value === "number") return numbers[0];
  return isShaped(value) ? { ...value, data: numbers } : numbers;
}

function callOf(random: Drawn) {
  const { query, key, value, options, sizes, name } = caseOf(random, "", sizesOf(random, 17));
  const normalize = random.pick(["softmax", "softmax", "sigmoid", "none"] as const);
  const all: CaseOptions = { ...options, normalize, ...(normalize === "softmax" ? {} : { sinks: undefined }) };
  return { query, key, value, options: all, sizes, name: `${name} ${normalize}` };
}

/** The length of the shortest row, at most 1. */
function shortest({ data }: TensorLike, dim: number): number {
  let least = 1;
  for (let at = 0; at < data.length; at += dim)
    least = Math.min(least, Math.hypot(...(data as Float32Array).subarray(at, at + dim)));
  return least;
}

/** How large the terms are of which gradients are sums: the slope of a score in what it is made of. */
function termsOf({ query, key, options, sizes }: ReturnType<typeof callOf>): number {
  const { headDim, queryDim = headDim } = sizes;
  const { score = "scaled-dot" } = options;
  const type = typeof score === "string" ? score : score.type;
  const own = type === "scaled-dot" ? 1 / Math.sqrt(headDim) : 1;
  const scale = (options.scale ?? own) / (options.temperature ?? 1);
  const { size } = scoreBound(score, scale, { query, key, queryDim, headDim });
  if (type === "cosine") return 1 + size / (shortest(query, queryDim) * shortest(key, headDim));
  if (typeof score === "object" && score.type === "rbf") {
    const widths = [score.bandwidth].flat() as number[];
    return 1 + (2 * size) / Math.min(1, ...widths);
  }
  return 1 + size;
}

test(
  "gradients of any problem are the slopes of the reference",
  async () => {
    let round = 0;
    await tried("gradients", 150, async (random) => {
      const call = callOf(random);
      const { query, key, value, options, name } = call;
      const { score, ...plain } = options;
      const parts: Record<string, unknown> = { query, key, value };
      for (const name of ["bias", "sinks", "temperature"] as const) parts[name] = options[name];
      const ofScore = Object.entries(typeof score === "object" ? score : {}).filter(([, part]) =>
        isDifferentiated(part),
      );
      for (const [name, part] of ofScore) parts[`score.${name}`] = part;
      const run = (name: string, other: unknown) => {
        const all: Record<string, unknown> = { ...plain, query, key, value };
        if (score !== undefined) {
          const [part = "", isOfScore] = [name.split(".")[1], name.startsWith("score.")];
          all["score"] = isOfScore ? { ...(score as object), [part]: other } : score;
        }
        if (!name.startsWith("score.") && name !== "") all[name] = other;
        const { query: q, key: k, value: v, ...rest } = all;
        return reference(q as TensorLike, k as TensorLike, v as TensorLike, rest as ReferenceOptions);
      };
      const { output, weights } = run("", null);
      const outputGradient = { data: random.floats(output.data.length), shape: output.shape };
      const weightsGradient = random.chance(0.4)
        ? { data: random.floats(weights.data.length), shape: weights.shape }
        : undefined;
      const engine = engines[round++ % engines.length];
      if (engine === undefined) throw new Error("there are engines");
      const { backward } = await engine.attentionVjp(query, key, value, options as AttentionVjpOptions);
      const got = await backward(outputGradient, { weightsGradient });
      const gradients: Record<string, unknown> = {
        ...{ query: got.dq, key: got.dk, value: got.dv, bias: got.dbias, sinks: got.dsinks },
        temperature: got.dtemperature,
      };
      for (const [name, gradient] of Object.entries(got.dscore ?? {})) gradients[`score.${name}`] = gradient;
      const dot = (numbers: Float64Array, by: Float32Array): number =>
        numbers.reduce((sum, x, at) => (by[at] === 0 ? sum : sum + x * (by[at] ?? Number.NaN)), 0);
      const largest =
        largestNorm(value.data, call.sizes.valueDim) * largestNorm(outputGradient.data, call.sizes.valueDim);
      const terms = Math.max(1, largest) * termsOf(call);
      for (const [part, given] of Object.entries(parts)) {
        if (!isDifferentiated(given)) continue;
        const numbers = numbersOf(given);
        const gradient = isDifferentiated(gradients[part]) ? numbersOf(gradients[part]) : new Float64Array();
        expect(gradient.length, `${part}: ${name}`).toBe(numbers.length);
        const most = gradient.reduce((most, number) => Math.max(most, Math.abs(number)), terms / 16);
        const bound = 2e-4 * most;
        for (let at = 0; at < numbers.length; at += 1 + Math.floor(numbers.length / 4)) {
          const middle = numbers[at] ?? Number.NaN;
          if (!Number.isFinite(middle)) continue;
          const loss = (shift: number): number => {
            const { output, weights } = run(part, replaced(given, moved(numbers, at, shift)));
            return (
              dot(output.data, outputGradient.data) + (weightsGradient ? dot(weights.data, weightsGradient.data) : 0)
            );
          };
          const where = `${part} at ${at}: ${name}`;
          expect(fromSlope(gradient[at] ?? Number.NaN, loss, bound), where).toBeLessThan(bound);
        }
      }
      expect(engine.memory().tensors).toBe(0);
    });
  },
  PATIENCE,
);
