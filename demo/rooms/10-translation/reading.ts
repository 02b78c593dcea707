// What a network makes of a text: the date that it writes, and what each of its characters attends to. Of the date that is shown first it is
// recorded (examples/train/record-dates.js), so that nothing has to be loaded for it.

import { fill, type Matrix, unstack } from "../../src/model/matrix.js";
import { softmax } from "../../src/model/softmax.js";
import recorded from "./recorded.json";

export const NETWORKS = ["bahdanau", "luong"] as const;
export type Network = (typeof NETWORKS)[number];

export const NAMES: Readonly<Record<Network, string>> = { bahdanau: "Bahdanau", luong: "Luong" };

/** Characters of an answer. */
export const ANSWER = "1997-05-03".length;

export interface Reading {
  readonly text: string;
  readonly date: string;
  /** Before the softmax and after it: a row for each character of the date, a column for each of the text. */
  readonly scores: Matrix;
  readonly weights: Matrix;
  /** Weights that the kernel gave. */
  readonly kernel?: Matrix;
}

/** Its characters; a space is not empty. */
export const labelsOf = (text: string): readonly string[] => Array.from(text.replaceAll(" ", "␣"));

/** Of a network that has learnt nothing: it looks everywhere alike. */
export function nothingRead(text: string): Reading {
  return readingOf(text, "?".repeat(ANSWER), Array(ANSWER).fill(Array(text.length).fill(0)));
}

type Rows = readonly (readonly number[])[];

export function readingOf(text: string, date: string, scores: Rows, alignment?: Rows): Reading {
  const all = fill(scores.length, text.length, (row, col) => scores[row]?.[col] ?? Number.NaN);
  const kernel = alignment && unstack(all.rows, all.cols, alignment.flat());
  return { text, date, scores: all, weights: softmax(all), ...(kernel && { kernel }) };
}

/** As networks read it: they know small letters, digits and the comma; all else is a space to them. */
export const readable = (text: string): string => text.toLowerCase().replace(/[^ a-z0-9,]/g, " ");

const { text, bahdanau, luong } = recorded;

/** What both networks make of the date that is shown first. */
export const RECORDED: { readonly text: string } & Readonly<Record<Network, Reading>> = {
  text,
  bahdanau: readingOf(text, bahdanau.date, bahdanau.scores),
  luong: readingOf(text, luong.date, luong.scores),
};

/** Of the dates that the networks learned from. */
const [FIRST_YEAR, LAST_YEAR] = [1900, 2099];
const MONTHS = "january february march april may june july august september october november december".split(" ");

interface Named {
  /** What it lacks of a date as the networks know them, so that they make it up; empty where it lacks nothing. */
  readonly lack: string;
  /** As it should be written, where nothing is missing. */
  readonly date: string;
}

/** The date that a text names. */
export function dateIn(text: string): Named {
  const words = readable(text).split(/[ ,]+/);
  const numberIn = (form: RegExp): number => Number(words.map((word) => form.exec(word)?.[1]).find(Boolean) ?? 0);
  const [day, year] = [numberIn(/^(\d{1,2})(?:st|nd|rd|th)?$/), numberIn(/^(\d{4})$/)];
  const month = MONTHS.findIndex((name) => words.includes(name));
  const parts = { day: day > 0, month: month >= 0, year: year > 0 };
  const missing = Object.entries(parts).flatMap(([name, isThere]) => (isThere ? [] : [name]));
  const lacking = (lack: string): Named => ({ lack, date: "" });
  if (missing.length > 0) return lacking(`no ${missing.join(", no ").replace("month", "month written in full")}`);
  if (year < FIRST_YEAR || year > LAST_YEAR) return lacking(`a year outside ${FIRST_YEAR} to ${LAST_YEAR}`);
  if (day > new Date(Date.UTC(year, month + 1, 0)).getUTCDate()) return lacking("no such day in that month");
  return { lack: "", date: new Date(Date.UTC(year, month, day)).toISOString().slice(0, ANSWER) };
}

/** A date that Bahdanau's network writes wrong. */
export const FAILS = "21st june 1969";
