// Every kind as options of heed, with parameters of any size.

import type { Expr } from "heed/expr";
import type { Tensor } from "../../src/engine/engine.js";
import type { Matrix } from "../../src/model/matrix.js";
import type { Kind } from "./kinds.js";
import type { ScoreState, TypedName } from "./state.js";

export type Typed = Readonly<Record<TypedName, Matrix>>;

interface Scores {
  readonly general: { readonly w: Tensor };
  readonly additive: {
    readonly wq: Tensor;
    readonly wk: Tensor;
    readonly b?: Float32Array;
    readonly v?: Float32Array;
  };
  readonly gated: { readonly w: Float32Array };
  readonly rbf: { readonly bandwidth: number };
}

export interface Parameters extends Scores {
  readonly keep: number;
  readonly own: Expr;
}

/** As both heed and its reference take them. */
interface Options {
  readonly score?:
    | "dot"
    | "cosine"
    | "distance"
    | { readonly [Type in keyof Scores]: { readonly type: Type } & Scores[Type] }[keyof Scores];
  readonly topK?: number;
  readonly normalize?: "sparsemax";
  readonly scoreMod?: () => Expr;
}

export function optionsOf(kind: Kind, parameters: Parameters): Options {
  const { general, additive, gated, rbf, keep, own } = parameters;
  const special: Readonly<Partial<Record<Kind, Options>>> = {
    "scaled-dot": {},
    general: { score: { type: "general", ...general } },
    additive: { score: { type: "additive", ...additive } },
    gated: { score: { type: "gated", ...gated } },
    rbf: { score: { type: "rbf", ...rbf } },
    "top-k": { topK: keep },
    sparsemax: { normalize: "sparsemax" },
    own: { scoreMod: () => own },
  };
  return special[kind] ?? { score: kind === "cosine" || kind === "distance" ? kind : "dot" };
}

export function parametersOf(typed: Typed, { bandwidth, keep }: ScoreState, own: Expr): Parameters {
  const tensor = ({ rows, cols, data }: Matrix) => ({ data: Float32Array.from(data), shape: [rows, cols] });
  const row = ({ data }: Matrix) => Float32Array.from(data);
  return {
    general: { w: tensor(typed.W) },
    additive: { wq: tensor(typed.Wq), wk: tensor(typed.Wk), b: row(typed.b), v: row(typed.v) },
    gated: { w: row(typed.g) },
    rbf: { bandwidth },
    keep,
    own,
  };
}
