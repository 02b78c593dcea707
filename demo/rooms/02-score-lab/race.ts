// The kinds timed on this device.

import type { Heed } from "heed";
import type { Expr } from "heed/expr";
import { fastest, randoms } from "../../src/engine/fastest.js";
import { KINDS, type Kind, RACED } from "./kinds.js";
import { optionsOf } from "./options.js";

export const TOKENS = 1024;
const ROUNDS = 4;

export function race(
  heed: Heed,
  own: Expr,
  signal: AbortSignal,
  say: (text: string) => void,
): Promise<ReadonlyMap<Kind, number>> {
  const random = randoms(1 / 4);
  const vectors = () => random(1, 1, TOKENS, RACED);
  const [q, k, v, square] = [vectors(), vectors(), vectors(), random(RACED, RACED)];
  const gate = random(2 * RACED).data;
  const parameters = { w: square, wq: square, wk: square, gate, bandwidth: 2, keep: 8, own };
  const call = (kind: Kind) => heed.attention(q, k, v, { ...optionsOf(kind, parameters), signal });
  return fastest(
    KINDS.map((kind) => [kind, () => call(kind)]),
    ROUNDS,
    say,
  );
}
