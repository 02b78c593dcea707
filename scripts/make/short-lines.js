// Breaks minified code into lines: a program that ends by an error prints the line that threw it, which should be readable.

import { parseAst } from "vite";

/**
 * Breaks lines before each statement of a module and each method of a class.
 * @type {import("vite").Plugin}
 */
export const shortLines = {
  name: "heed-short-lines",
  generateBundle(_options, output) {
    for (const file of Object.values(output)) {
      if (file.type === "chunk") file.code = broken(file.code);
    }
  },
};

/** @param {string} code */
function broken(code) {
  let lines = "";
  let from = 0;
  for (const to of [...starts(parseAst(code))].sort((a, b) => a - b)) {
    // Where a word follows, the line's end ends the statement.
    const end = code[to - 1] === ";" && /[a-z]/.test(code[to] ?? "") ? to - 1 : to;
    lines += `${code.slice(from, end)}\n`;
    from = to;
  }
  return lines + code.slice(from);
}

/**
 * Yields the positions where statements and methods start, where a line may end.
 * @param {unknown} node
 * @returns {Generator<number>}
 */
function* starts(node) {
  if (!isNode(node)) return;
  const { type, body } = node;
  if (type === "Program" || type === "ClassBody") {
    for (const { type: kind, start } of body) {
      if (start > 0 && (type === "Program" || kind === "MethodDefinition")) yield start;
    }
  }
  for (const child of Object.values(node)) {
    if (Array.isArray(child)) for (const one of child) yield* starts(one);
    else yield* starts(child);
  }
}

/** @param {unknown} value @returns {value is { type: string, start: number, body: { type: string, start: number }[] }} */
const isNode = (value) => typeof value === "object" && value !== null && "type" in value && "start" in value;
