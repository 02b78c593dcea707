// A row of weights in an address: six bits each, which is one letter of the alphabet that addresses have unescaped.

import type { Field } from "../../src/model/fields.js";
import { LONGEST_TEXT } from "../../src/model/tokens.js";
import type { Row } from "./reading.js";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const MOST = LETTERS.length - 1;

/** There are no more words than letters, and a start mark before them. */
const LONGEST = LONGEST_TEXT + 1;

/** Empty: none. */
export const sharedRow = (key: string): Field<Row> => ({
  key,
  write: (row) => row.map((weight) => LETTERS[Math.round(Math.min(1, weight) * MOST)]).join(""),
  read: (text) => {
    if (text.length > LONGEST || !/^[\w-]*$/.test(text)) return undefined;
    return Array.from(text, (letter) => LETTERS.indexOf(letter) / MOST);
  },
});
