// Reads tables of documents.

/** The rows of the first table below a heading, without its head. @param {string} text @param {string} heading @returns {readonly (readonly string[])[]} */
export function rowsBelow(text, heading) {
  const [, below = ""] = text.split(`${heading}\n`);
  const [table = ""] = /(?:^\|.*\n)+/m.exec(below) ?? [];
  const rows = table
    .trim()
    .split("\n")
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  if (rows.length < 3) throw new Error(`no table below ${heading}`);
  return rows.slice(2);
}
