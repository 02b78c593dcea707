// Formats figures: Markdown tables with aligned columns, three significant digits.

/**
 * @param {readonly string[]} heads
 * @param {readonly (readonly string[])[]} rows
 */
export function table(heads, rows) {
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => (row[column] ?? "").length), 2),
  );
  /** The first column is left-aligned, the others are right-aligned. @param {readonly string[]} cells */
  const line = (cells) =>
    `| ${widths.map((width, column) => pad(cells[column] ?? "", width, column === 0)).join(" | ")} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  return [line(heads), rule, ...rows.map(line)].join("\n");
}

/**
 * A row for each of what was found, and a column for each head.
 * @template T
 * @param {readonly T[]} found
 * @param {readonly (readonly [head: string, cell: (one: T) => string])[]} columns
 */
export const tableOf = (found, columns) =>
  table(
    columns.map(([head]) => head),
    found.map((one) => columns.map(([, cell]) => cell(one))),
  );

/** @param {string} text @param {number} width @param {boolean} left */
const pad = (text, width, left) => (left ? text.padEnd(width) : text.padStart(width));

/** @param {number | null | undefined} value */
export function digits(value) {
  if (value === null || value === undefined) return "";
  if (!Number.isFinite(value)) return "NaN";
  const magnitude = Math.abs(value);
  return magnitude >= 1000 ? value.toFixed(0) : magnitude >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

/** Of two figures, of which either may be missing. @param {number | null} above @param {number | null} below */
export const quotient = (above, below) => (above === null || below === null ? null : above / below);

/** @param {number | null | undefined} value */
export const times = (value) => (value === null || value === undefined ? "" : `${value.toFixed(2)}x`);

/** @param {number | null | undefined} value */
export const percent = (value) => (value === null || value === undefined ? "" : `${(100 * value).toFixed(0)}%`);

/** @param {number | null | undefined} value */
export const small = (value) => (value === null || value === undefined ? "" : value.toExponential(1));
