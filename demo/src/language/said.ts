// Words with their probabilities, as they are said.

import { h } from "../ui/dom.js";
import { percent } from "../ui/numbers.js";
import type { Candidate } from "./words.js";

export function saidOf(words: readonly Candidate[]): (Node | string)[] {
  return words.flatMap(({ word, probability }, index) => [
    index === 0 ? "" : ", ",
    h("b", {}, word),
    ` ${percent(probability)}`,
  ]);
}
