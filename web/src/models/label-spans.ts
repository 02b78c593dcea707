// Tokens with the same label that stand side by side, as spans of a text.

import type { EncodedText } from "./text-codec.js";

/** A part of a text that has a label. */
export interface Span {
  readonly label: string;
  /** The mean of its tokens' probabilities. */
  readonly score: number;
  readonly text: string;
  /** `text.slice(start, end)`; 0 and 0 where the tokenizer tells no places. */
  readonly start: number;
  readonly end: number;
}

interface Growing {
  readonly label: string;
  readonly scores: number[];
  readonly start: number;
  end: number;
}

/** `B-` before a label begins a span, and `I-` goes on with it; `O` is no label. */
export function spansOf(
  text: string,
  encoding: EncodedText | undefined,
  scores: readonly Float32Array[],
  labels: readonly string[],
): Span[] {
  const spans: Growing[] = [];
  let open: Growing | null = null;
  for (const [at, row] of scores.entries()) {
    const [start, end] = encoding?.offsets?.[at] ?? [0, 0];
    // Tokens that were added around the text have no place in it.
    if (encoding?.offsets !== undefined && start === end) continue;
    const best = row.indexOf(Math.max(...row));
    const name = labels[best] ?? "";
    const [, mark, label = name] = /^([BI])-(.+)$/.exec(name) ?? [];
    if (name === "O") {
      open = null;
      continue;
    }
    if (open === null || open.label !== label || mark === "B") {
      open = { label, scores: [], start, end };
      spans.push(open);
    }
    open.scores.push(row[best] ?? 0);
    open.end = end;
  }
  return spans.map(({ label, scores: all, start, end }) => ({
    label,
    score: all.reduce((sum, score) => sum + score, 0) / all.length,
    text: text.slice(start, end),
    start,
    end,
  }));
}
