// The heads of a convolution as copies of the picture: they part, are tinted by their weights, and add up where they lie over one another.

import { largest } from "../../src/model/matrix.js";
import { during, mix, type Shape, shape, type View } from "../../src/ui/board.js";
import { exact } from "../../src/ui/numbers.js";
import { type Convolved, nameOf } from "./convolution.js";
import type { WhatElseState } from "./state.js";

export const GHOST_STEPS = ["The picture", "A copy for each head", "Times the head’s weight", "Added up"] as const;

/** Between two copies that have parted, in pixels of the picture. */
const GAP = 8;
/** As light on black: what a number below 0 becomes, and one above. */
const [BLACK, WHITE, BELOW, ABOVE] = [16, 255, [60, 150, 255], [255, 160, 50]];

/** The stage is made anew for one of another size only. */
export function ghosts() {
  let stage: Stage | undefined;
  return (scene: Convolved, { pixel }: WhatElseState, at: number, width: number): View => {
    const { size, shifts, filter } = scene;
    const { cols } = filter;
    const side = cols * size + (cols - 1) * GAP;
    const spread = during(at, 0, 1) - during(at, 2, 3);
    const seen = mix(size, side, spread);
    const [scale, edge] = [width / seen, (side - seen) / 2];
    const place = (offset: number): number => Math.round((side - size) / 2 + offset * (size + GAP) * spread);
    const [row, col] = [Math.floor(pixel / size), pixel % size];
    const shapes = shifts.flatMap((shift, head): Shape[] => {
      const [x, y] = [(place(shift.x) - edge) * scale, (place(shift.y) - edge) * scale];
      const mark = { x: x + (col - 1) * scale, y: y + (row - 1) * scale, width: 3 * scale, height: 3 * scale };
      const label = (text: string, down: number, opacity: number): Shape[] => {
        const look = { x: x + 6, y: y + down, class: "ghost-label", opacity };
        return opacity < 0.05 ? [] : [shape("text", `${head} ${down}`, look, text)];
      };
      return [
        shape("rect", `mark ${head}`, { ...mark, fill: "none", stroke: "white" }),
        ...label(`× ${exact(filter.data[head] ?? 0, 3)}`, 18, spread * during(at, 1, 1.5)),
        ...label(cols === 3 ? nameOf(shift) : "", size * scale - 8, spread),
      ];
    });
    return {
      height: width,
      shapes,
      said: `${GHOST_STEPS[Math.round(at)]}: ${shifts.length} heads, a picture of ${size} by ${size} pixels`,
      paint: (canvas) => {
        if (canvas.width !== PAINTED) [canvas.width, canvas.height] = [PAINTED, PAINTED];
        const context = canvas.getContext("2d");
        const painted = stage?.side === side ? stage : stageOf(side);
        stage = painted;
        paint(painted, scene, at, place);
        if (context === null) return;
        context.imageSmoothingEnabled = false;
        context.drawImage(painted.canvas, edge, edge, seen, seen, 0, 0, PAINTED, PAINTED);
      },
    };
  };
}

/** One pass over the pixels of every copy, and one over the stage. */
function paint(stage: Stage, scene: Convolved, at: number, place: (offset: number) => number): void {
  const { side, grey, sum, picture, canvas } = stage;
  const { size, grey: given, shifts, readings, filter, most } = scene;
  grey.fill(0);
  sum.fill(0);
  const [read, tinted, added] = [during(at, 0, 1), during(at, 1, 2), during(at, 2, 3)];
  shifts.forEach((shift, head) => {
    const [left, top] = [place(shift.x), place(shift.y)];
    const [reading, weight] = [readings[head] ?? given, filter.data[head] ?? 0];
    for (let y = 0; y < size; y++) {
      for (let x = 0; x < size; x++) {
        const from = y * size + x;
        const to = (top + y) * side + left + x;
        if (tinted < 1) grey[to] = mix(given[from] ?? 0, reading[from] ?? 0, read);
        if (tinted > 0) sum[to] = (sum[to] ?? 0) + weight * (reading[from] ?? 0);
      }
    }
  });
  const full = mix(largest(filter), most, added);
  const { data } = picture;
  for (let index = 0; index < sum.length; index++) {
    const light = BLACK + (1 - tinted) * (grey[index] ?? 0) * (WHITE - BLACK);
    const part = (sum[index] ?? 0) / full;
    const hue = part < 0 ? BELOW : ABOVE;
    // The root: where little is left, it is seen.
    const tint = tinted * Math.sqrt(Math.min(1, Math.abs(part)));
    for (let channel = 0; channel < 3; channel++) {
      data[4 * index + channel] = light + tint * ((hue[channel] ?? 0) - BLACK);
    }
    data[4 * index + 3] = WHITE;
  }
  canvas.getContext("2d")?.putImageData(picture, 0, 0);
}

type Stage = ReturnType<typeof stageOf>;

/** Numbers of the whole stage, and its colours. */
function stageOf(side: number) {
  const [grey, sum] = [new Float32Array(side * side), new Float32Array(side * side)];
  return { side, grey, sum, picture: new ImageData(side, side), canvas: new OffscreenCanvas(side, side) };
}

/** Pixels of the canvas, both ways. */
const PAINTED = 640;
