// Numbers as shapes of a board: a circle or a square that is as full as its number is large, blue above 0 and brown below.

import type { Shape } from "../../src/ui/board.js";
import { exact } from "../../src/ui/numbers.js";

interface Valued {
  /** The middle. */
  readonly x: number;
  readonly y: number;
  readonly value: number;
  /** The number that fills it. */
  readonly full: number;
  readonly name?: string;
  readonly opacity?: number;
  /** To be pressed. */
  readonly pick?: string;
  readonly isChosen?: boolean;
}

const RADIUS = 21;
export const [ABOVE, BELOW, CHOSEN] = ["var(--above)", "var(--below)", "var(--share)"];

export function valued(kind: "circle" | "square", key: string, valued: Valued): Shape[] {
  const { x, y, value, full, name = "", opacity = 1, pick, isChosen = false } = valued;
  if (opacity < 0.01) return [];
  const [tag, place] =
    kind === "circle"
      ? (["circle", { cx: x, cy: y, r: RADIUS, "data-pick": pick }] as const)
      : (["rect", { x: x - RADIUS, y: y - RADIUS, width: 2 * RADIUS, height: 2 * RADIUS, rx: 4 }] as const);
  const strength = (0.75 * Math.sqrt(Math.min(1, Math.abs(value) / full))).toFixed(3);
  const held = { ...place, opacity, fill: value < 0 ? BELOW : ABOVE, "fill-opacity": strength };
  const ground = { ...place, opacity, fill: "var(--raised)", stroke: isChosen ? CHOSEN : "var(--soft-ink)" };
  return [
    { key: `${key} ground`, tag, attributes: { ...ground, "stroke-width": isChosen ? 3 : 1 } },
    { key, tag, attributes: held },
    ...label(key, x, y + 5, exact(value, 2), opacity),
    ...label(`${key} name`, x, y - 27, name, opacity),
  ];
}

export function label(key: string, x: number, y: number, text: string, opacity = 1): Shape[] {
  const attributes = { x, y, opacity, "text-anchor": "middle", "pointer-events": "none" };
  return opacity < 0.01 ? [] : [{ key, tag: "text", text, attributes }];
}
