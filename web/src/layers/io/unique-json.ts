// JSON whose objects name nothing twice: JSON.parse would keep the last one in silence, and another reader the first.

import { showValue } from "../../base/describe.js";
import { causeText, HeedError } from "../../base/errors.js";

/** `what` is the text's name in messages. Throws HeedError `load`. */
export function parseUniqueJson(where: string, what: string, text: string): unknown {
  const parsed = parseJson(where, what, text);
  const twice = nameGivenTwice(text);
  if (twice === undefined) return parsed;
  throw new HeedError("load", `${where}: ${what} must not name anything twice, got ${showValue(twice)} twice`);
}

export function parseJson(where: string, what: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new HeedError("load", `${where}: ${what} must be JSON: ${causeText(cause)}`, { cause });
  }
}

/** Of text that is known to be JSON. By hand, because an expression that skips long strings runs out of stack. */
function nameGivenTwice(text: string): string | undefined {
  const objects: Set<string>[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "{") objects.push(new Set());
    else if (character === "}") objects.pop();
    else if (character === '"') {
      const end = endOfString(text, at);
      if (isName(text, end)) {
        const name: string = JSON.parse(text.slice(at, end));
        const names = objects[objects.length - 1];
        if (names?.has(name)) return name;
        names?.add(name);
      }
      at = end - 1;
    }
  }
  return undefined;
}

/** Behind the quote that ends the string that starts at `from`. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** Whether a colon follows. */
function isName(text: string, end: number): boolean {
  let at = end;
  while (" \t\n\r".includes(text[at] ?? "-")) at++;
  return text[at] === ":";
}
