// docs/hosting.md as the tests that try it read it: its code word for word, its tables row by row.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const text = readFileSync(fileURLToPath(new URL("../../../docs/hosting.md", import.meta.url)), "utf8");

const CODE = /^```\w+\n(.*?)^```$/ms;
const sections = new Map(text.split(/^## /m).map((section) => [section.split("\n", 1)[0] ?? "", section] as const));

function sectionUnder(heading: string): string {
  const section = sections.get(heading);
  if (section === undefined) throw new Error(`docs/hosting.md has no heading ${heading}`);
  return section;
}

/** The block of code after a heading. */
export function codeUnder(heading: string): string {
  const code = CODE.exec(sectionUnder(heading))?.[1];
  if (code === undefined) throw new Error(`docs/hosting.md has no code under ${heading}`);
  return code;
}

export const headingsWithCode = [...sections].filter(([, section]) => CODE.test(section)).map(([heading]) => heading);

/** The cells of the table after a heading, the first row being its head. */
export function tableUnder(heading: string): readonly (readonly string[])[] {
  const rows = sectionUnder(heading).matchAll(/^\| (.*) \|$/gm);
  const cells = [...rows].map(([, row = ""]) => row.split("|").map((cell) => cell.trim()));
  return cells.filter(([first = ""]) => !first.startsWith("---"));
}

/** What stands in a text as code. */
export function quotedIn(words: string): readonly string[] {
  return [...words.matchAll(/`([^`]+)`/g)].map(([, quoted = ""]) => quoted);
}

/** The paragraph of a section in which a word stands. */
export function paragraphWith(word: string, heading: string): string {
  const found = sectionUnder(heading)
    .split("\n\n")
    .find((paragraph) => paragraph.includes(word));
  if (found === undefined) throw new Error(`docs/hosting.md says nothing of ${word} under ${heading}`);
  return found;
}
