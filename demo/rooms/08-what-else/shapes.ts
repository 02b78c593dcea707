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

export function circle(key: string, { x, y, pick, ...valued }: Valued): Shape[] {
  return filled(key, "circle", { cx: x, cy: y, r: RADIUS, "data-pick": pick }, { x, y, ...valued });
}

export function square(key: string, { x, y, ...valued }: Valued): Shape[] {
  const side = 2 * RADIUS;
  return filled(key, "rect", { x: x - RADIUS, y: y - RADIUS, width: side, height: side, rx: 4 }, { x, y, ...valued });
}

export function label(key: string, x: number, y: number, text: string, opacity = 1): Shape[] {
  const attributes = { x, y, opacity, "text-anchor": "middle", "pointer-events": "none" };
  return opacity < 0.01 ? [] : [{ key, tag: "text", text, attributes }];
}

function filled(
  key: string,
  tag: "circle" | "rect",
  place: Shape["attributes"],
  { x, y, value, full, name = "", opacity = 1, isChosen = false }: Valued,
): Shape[] {
  if (opacity < 0.01) return [];
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
