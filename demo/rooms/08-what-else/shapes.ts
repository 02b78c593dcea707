// Numbers as shapes of a board: a circle or a square that is as full as its number is large, blue above 0 and brown below.

import { type Shape, shape } from "../../src/ui/board.js";
import { exact } from "../../src/ui/numbers.js";

/** `x`, `y`: its middle; `full`: the number that fills it. */
interface Valued extends Readonly<Record<"x" | "y" | "value" | "full", number>> {
  readonly name?: string;
  readonly opacity?: number;
  readonly pick?: string;
  readonly isChosen?: boolean;
}

const RADIUS = 21;
const SIDE = 2 * RADIUS;
export const [ABOVE, BELOW, CHOSEN] = ["var(--above)", "var(--below)", "var(--share)"];

export function valued(kind: "circle" | "square", key: string, number: Valued): Shape[] {
  const { x, y, value, full, name = "", opacity = 1, pick, isChosen = false } = number;
  if (opacity < 0.01) return [];
  const circle = { cx: x, cy: y, r: RADIUS };
  const square = { x: x - RADIUS, y: y - RADIUS, width: SIDE, height: SIDE, rx: 4 };
  const [tag, form] = kind === "circle" ? (["circle", circle] as const) : (["rect", square] as const);
  const look = { ...form, opacity, "data-pick": pick };
  const stroke = isChosen ? CHOSEN : "var(--soft-ink)";
  const strength = 0.75 * Math.sqrt(Math.min(1, Math.abs(value) / full));
  return [
    shape(tag, `${key} ground`, { ...look, fill: "var(--raised)", stroke, "stroke-width": isChosen ? 3 : 1 }),
    shape(tag, key, { ...look, fill: value < 0 ? BELOW : ABOVE, "fill-opacity": strength.toFixed(3) }),
    ...label(key, x, y + 5, exact(value, 2), opacity),
    ...label(`${key} name`, x, y - 27, name, opacity),
  ];
}

export function label(key: string, x: number, y: number, text: string, opacity: number): Shape[] {
  const look = { x, y, opacity, "text-anchor": "middle", "pointer-events": "none" };
  return opacity < 0.01 ? [] : [shape("text", key, look, text)];
}
