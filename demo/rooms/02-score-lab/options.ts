// Every kind as options of heed, with parameters of any size.

import type { Expr } from "heed/expr";
import type { ReferenceOptions } from "heed/reference";
import type { Call, Tensor } from "../../src/engine/engine.js";
import type { Matrix } from "../../src/model/matrix.js";
import type { Kind } from "./kinds.js";
import type { ScoreState, TypedName } from "./state.js";

export type Typed = Readonly<Record<TypedName, Matrix>>;

interface Parameters {
  readonly w: Tensor;
  readonly wq: Tensor;
  readonly wk: Tensor;
  readonly b?: Float32Array;
  readonly v?: Float32Array;
  readonly gate: Float32Array;
  readonly bandwidth: number;
  readonly keep: number;
  readonly own: Expr;
}

/** As both heed and its reference take them. */
type Options = Pick<Call["options"] & ReferenceOptions, "score" | "topK" | "normalize" | "scoreMod">;

export function optionsOf(kind: Kind, { w, wq, wk, gate, bandwidth, keep, own, ...additive }: Parameters): Options {
  const special: Readonly<Partial<Record<Kind, Options>>> = {
    "scaled-dot": {},
    general: { score: { type: "general", w } },
    additive: { score: { type: "additive", wq, wk, ...additive } },
    gated: { score: { type: "gated", w: gate } },
    rbf: { score: { type: "rbf", bandwidth } },
    "top-k": { topK: keep },
    sparsemax: { normalize: "sparsemax" },
    own: { scoreMod: () => own },
  };
  return special[kind] ?? { score: kind === "cosine" || kind === "distance" ? kind : "dot" };
}

export function parametersOf({ W, Wq, Wk, b, v, g }: Typed, { bandwidth, keep }: ScoreState, own: Expr): Parameters {
  const tensor = ({ rows, cols, data }: Matrix) => ({ data: Float32Array.from(data), shape: [rows, cols] });
  const row = ({ data }: Matrix) => Float32Array.from(data);
  const [w, wq, wk] = [tensor(W), tensor(Wq), tensor(Wk)];
  return { w, wq, wk, b: row(b), v: row(v), gate: row(g), bandwidth, keep, own };
}
