// What was timed on a device, and how it stands in an address: whoever opens that sees the sender's figures.

import { codecFrom, type Field, initially, type StateOf, text } from "../../src/model/fields.js";

/** Milliseconds. */
export type Times = Readonly<Record<"median" | "least" | "most", number>>;

/** By the names of measures in addresses. */
type Figures = Readonly<Record<string, Times>>;

const MOST_FIGURES = 40;
const LONGEST = 1e7;

/** "512~1.2~1.1~1.4_…": a name, the median, the least, the most. Three digits are enough. */
const figures: Field<Figures> = {
  key: "ms",
  write: (all) =>
    Object.entries(all)
      .map(([name, { median, least, most }]) => [name, ...[median, least, most].map(short)].join("~"))
      .join("_"),
  read: (written) => {
    const found = written.split("_").flatMap((row): [string, Times][] => {
      const [, name = "", ...times] = /^([a-z]\w{0,9})~([\d.e+-]+)~([\d.e+-]+)~([\d.e+-]+)$/.exec(row) ?? [];
      const [median = 0, least = 0, most = 0] = times.map(Number);
      const isRight = 0 < least && least <= median && median <= most && most < LONGEST;
      return isRight ? [[name, { median, least, most }]] : [];
    });
    return Object.fromEntries(found.slice(0, MOST_FIGURES));
  },
};

const short = (ms: number): string => String(Number(ms.toPrecision(3)));

/** Where and when they were taken; and the figures, of which an address without them has none. */
const FIELDS = { on: initially("", text("on", 200)), figures: initially<Figures>({}, figures) };

export const RESULT = codecFrom<StateOf<typeof FIELDS>>(FIELDS);
