// Of a gated recurrent unit, through time.

import { PACK } from "../../operations/affine.js";
import type { GruProblem } from "../../operations/gru.js";
import { placed } from "../../operations/rows.js";
import { GRU_BACKWARD } from "../../operations/training/gru-backward.js";
import { PRODUCT } from "../../operations/training/product.js";
import { rowsOf } from "../../operations/training/vectors.js";
import type { Adjoint } from "../backward-step.js";

export const gru: Adjoint<GruProblem> = async (step) => {
  const { problem: forward, made, gradients } = step;
  const { gates, weights, bias, state } = forward;
  const hidden = gates.length / 3;
  const plain = step.plain(weights);
  const matrix = { elements: plain.elements, shape: [1, 1, hidden, gates.length], strides: [0, 0, 1, hidden] } as const;
  const transposed = await step.one(PACK, placed(matrix, plain));
  const [states, stateGradients = null, lastGradient = null] = [...made.slice(0, 1), ...gradients].map(
    (resident) => resident && rowsOf(resident, hidden),
  );
  if (!states) throw new TypeError("a call of two results had none");
  const problem = { forward, states, transposed, stateGradients, lastGradient };
  const [ofGates, ofHidden, previous, ofState] = await step.run(GRU_BACKWARD, problem);
  if (ofHidden === undefined || previous === undefined) throw new TypeError("a call of four results had fewer");
  await step.share(bias?.resident, ofHidden);
  await step.add(weights, (sum) => {
    const [left, right] = [rowsOf(ofHidden, gates.length), rowsOf(previous, hidden)];
    return step.one(PRODUCT, { left, isTransposed: true, right, addend: sum && rowsOf(sum, hidden) });
  });
  for (const used of [transposed, ofHidden, previous]) step.free(used);
  await step.give(gates.resident, ofGates);
  await step.give(state?.resident, ofState);
};
