// What both networks make of the date that is shown first, so that nothing has to be loaded for it. examples/train/record-dates.js recorded it.

import { type Network, type Reading, readingOf } from "./reading.js";
import recorded from "./recorded.json";

const { text, bahdanau, luong } = recorded;

export const RECORDED: { readonly text: string } & Readonly<Record<Network, Reading>> = {
  text,
  bahdanau: readingOf(text, bahdanau.date, bahdanau.scores),
  luong: readingOf(text, luong.date, luong.scores),
};

/** A date that Bahdanau's network writes wrong. */
export const FAILS = "21st june 1969";
