// A row of weights in an address: six bits each, which is one letter of the alphabet that addresses have unescaped.

import type { Field } from "../../src/model/fields.js";
import type { Row } from "./reading.js";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const MOST = LETTERS.length - 1;

/** Empty: none. */
export const sharedRow = (key: string): Field<Row> => ({
  key,
  write: (row) => row.map((weight) => LETTERS[Math.round(Math.min(1, weight) * MOST)]).join(""),
  read: (text) => (/^[\w-]*$/.test(text) ? Array.from(text, (letter) => LETTERS.indexOf(letter) / MOST) : undefined),
});
