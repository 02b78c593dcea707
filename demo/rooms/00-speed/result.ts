// What was timed on a device, and how it stands in an address: whoever opens that sees the sender's figures.

import { codecFrom, type Field, initially, number, oneOf, type StateOf, text } from "../../src/model/fields.js";
import { Store } from "../../src/model/store.js";

/** Milliseconds. */
export type Times = Readonly<Record<"median" | "least" | "most", number>>;

/** By the names of measures in addresses. */
export type Figures = Readonly<Record<string, Times>>;

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
    const rows = written.split("_").slice(0, MOST_FIGURES);
    return Object.fromEntries(
      rows.flatMap((row) => {
        const [name = "", ...times] = row.split("~");
        const [median = 0, least = 0, most = 0] = times.map(Number);
        const isRight =
          times.length === 3 && times.every((time) => /^[\d.e+-]+$/.test(time)) && /^[a-z]\w{0,9}$/.test(name);
        return isRight && 0 < least && least <= median && median <= most && most < LONGEST
          ? [[name, { median, least, most }]]
          : [];
      }),
    );
  },
};

const short = (ms: number): string => String(Number(ms.toPrecision(3)));

const FIELDS = {
  browser: initially("", text("on", 40)),
  cores: initially(0, number("cores", 0, 1024)),
  isolated: initially("no", oneOf("isolated", ["yes", "no"])),
  engine: initially("", text("by", 60)),
  version: initially("", text("heed", 20)),
  date: initially("", text("date", 10)),
  figures: initially<Figures>({}, figures),
};

export type Result = StateOf<typeof FIELDS>;

const CODEC = codecFrom<Result>(FIELDS);

/** What the address carries: no figures where it carries none. */
export const openSent = (): Store<Result> => new Store(CODEC);

export const addressOf = (result: Result): string => new URL(CODEC.toHash(result), location.href.split("#")[0]).href;

export const hasFigures = ({ figures }: Result): boolean => Object.keys(figures).length > 0;
