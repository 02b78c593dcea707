// What is said of the arcs of one's own sentence.

import { FileTrouble } from "../../src/brought/arrays.js";
import { brokenOff } from "../../src/ui/controls.js";
import { button, h } from "../../src/ui/dom.js";
import { percent } from "../../src/ui/numbers.js";
import { type Change, changesOf } from "./changes.js";
import type { Found } from "./detectors.js";
import type { Head, Reading, Row } from "./reading.js";

/** What is shown, however it came here. */
export interface Shown {
  readonly text: string;
  /** What it is compared with. */
  readonly was: string;
  readonly words: readonly string[];
  readonly asker: number;
  readonly head: Head;
  readonly row: Row;
  readonly before: Row | undefined;
  readonly by: string;
}

type Said = readonly (Node | string)[];

/** How many heads are named, and the least loss that counts. */
const LISTED = 5;
const LEAST_LOST = 0.02;

/** The word with the largest weight, or the one whose weight changed most. */
export function rowSaid({ words, asker, row, before }: Shown): Said {
  const sizes = row.map((weight, place) => {
    if (place === 0 || place === asker) return 0;
    return before === undefined ? weight : Math.abs(weight - (before[place] ?? 0));
  });
  const place = Math.max(1, sizes.indexOf(Math.max(...sizes)));
  const [weight = 0, was] = [row[place], before?.[place]];
  const instead = was === undefined ? "" : ` instead of ${percent(was)}`;
  return [`“${words[asker - 1]}” gives `, h("b", {}, words[place - 1] ?? ""), ` ${percent(weight)}${instead}.`];
}

export const headSaid = ({ head, by }: Shown, found: Found | undefined): string =>
  `Layer ${head.layer}, head ${head.head} of ${by}${found?.isMean ? ` (over all words: ${found.name})` : ""}: `;

/** From the head that lost most on. */
export function lossesSaid(before: Reading, now: Reading, asker: number, choose: (head: Head) => void): Said {
  const all = changesOf(before, now, asker).filter(({ lost }) => lost > LEAST_LOST);
  const said = ({ place, lost }: Change): string => `${now.words[place - 1]} −${Math.round(100 * lost)}`;
  return [
    h("span", { class: "small-label" }, all.length === 0 ? "No head lost more than 2 points" : "Lost most, in points"),
    ...all
      .slice(0, LISTED)
      .map((one) =>
        button(`layer ${one.head.layer}, head ${one.head.head}: ${said(one)}`, () => choose(one.head), "chip plain"),
      ),
  ];
}

/** A refusal is a sentence already. */
export const troubleSaid = (error: unknown): string =>
  error instanceof FileTrouble ? error.message : brokenOff(error);
