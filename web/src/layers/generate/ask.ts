// Asks a model for logits and checks what it returns. An abort does not wait for the model.

import { showClass, showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guardAsync } from "../../base/guard.js";
import { isRecord } from "../../base/read-values.js";
import { isFloat32Array, lengthOf, plainF32 } from "../../base/typed-array.js";
import { unlessAborted } from "../../base/unless-aborted.js";

/** Logits of `rows` sequences, each as long as the vocabulary; `call` calls the model. */
export async function askForLogits(
  where: string,
  signal: AbortSignal | null,
  rows: number,
  call: () => unknown,
): Promise<Float32Array> {
  const logits = await guardAsync("option", `${where}: step`, () => unlessAborted(where, signal, call));
  if (!isFloat32Array(logits)) {
    const got = isRecord(logits) ? showClass(logits) : showValue(logits);
    throw new HeedError("dtype", `${where}: step must return a Float32Array, got ${got}`);
  }
  const count = lengthOf(logits);
  if (count === 0 || count % rows !== 0) {
    throw new HeedError("shape", `${where}: step must return logits for ${rows} sequences, got ${count} numbers`);
  }
  const floats = plainF32(logits);
  const wrong = floats.findIndex((logit) => !(logit < Infinity));
  if (wrong === -1) return floats;
  const token = wrong % (count / rows);
  throw new HeedError(
    "option",
    `${where}: logits must be below Infinity and not NaN, got ${floats[wrong]} for token ${token}`,
  );
}
