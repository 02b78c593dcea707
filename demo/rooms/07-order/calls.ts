// Everything that the room shows as calls of heed, and what heed says to it.

import type { Answer, Call } from "../../src/engine/engine.js";
import { largest, type Matrix, stack, unstack, widestGap } from "../../src/model/matrix.js";
import { type Attended, SCALE } from "./attend.js";
import { firstTwoSwapped, gap, type OrderScene, reverse, TRIALS } from "./scene.js";
import { KINDS, type Kind, type OrderState } from "./state.js";

/** The largest difference in what one and the same word takes in. */
export interface Residuals {
  readonly swapped: number;
  readonly reversed: number;
  readonly moved: number;
}

export interface OrderAnswer {
  readonly shares: Matrix;
  readonly output: Matrix;
  /** Output now, less that of the same word as written. */
  readonly difference: Matrix;
  /** To the page's own arithmetic, over the shares and outputs shown. */
  readonly apart: number;
  readonly residuals: ReadonlyMap<Kind, Residuals>;
}

export function callsOf(scene: OrderScene): readonly Call[] {
  if (scene.words.length === 0) return [];
  const trials = [...scene.trials].flatMap(([kind, of]) =>
    TRIALS.map((trial) => callOf(of[trial], { ...scene.state, kind })),
  );
  return [callOf(scene.now, scene.state), callOf(scene.written, scene.state), ...trials];
}

function callOf({ q, k, v, bias }: Attended, { kind, slope }: OrderState): Call {
  const shape = [1, 1, bias.rows, bias.cols];
  const special: Partial<Readonly<Record<Kind, Call["options"]>>> = {
    causal: { causal: true },
    alibi: { alibiSlopes: [slope] },
    relative: { bias: { data: Float32Array.from(bias.data), shape } },
  };
  return { q: stack([q]), k: stack([k]), v: stack([v]), options: { scale: SCALE, ...special[kind] } };
}

export function readAnswers(scene: OrderScene, answers: readonly Answer[]): OrderAnswer {
  const { rows, cols } = scene.now.output;
  const outputs = answers.map(({ output }) => unstack(rows, cols, output.data));
  const [now, written, ...trials] = outputs;
  const output = now ?? scene.now.output;
  const shares = unstack(rows, rows, answers[0]?.weights.data ?? []);
  const residuals = KINDS.map((kind, index): readonly [Kind, Residuals] => {
    return [kind, residualsOf(trials.slice(index * TRIALS.length))];
  });
  return {
    shares,
    output,
    difference: gap(output, written ?? output, scene.places),
    apart: Math.max(widestGap(output, scene.now.output), widestGap(shares, scene.now.shares)),
    residuals: new Map(residuals),
  };
}

/** The same by the page's own arithmetic. */
export function ownResiduals(scene: OrderScene, kind: Kind): Residuals {
  const of = scene.trials.get(kind);
  return residualsOf(TRIALS.flatMap((trial) => of?.[trial].output ?? []));
}

/** Of outputs in the order of TRIALS. */
function residualsOf([base, swapped, reversed, moved]: readonly Matrix[]): Residuals {
  if (base === undefined || swapped === undefined || reversed === undefined || moved === undefined) {
    throw new Error("a trial is missing");
  }
  return {
    swapped: largest(gap(swapped, base, firstTwoSwapped(base.rows))),
    reversed: largest(gap(reversed, base, reverse(base.rows))),
    moved: widestGap(moved, base),
  };
}
