// The geometry of the arcs: cubic curves from a key's word to the query's word.

export interface Point {
  readonly x: number;
  readonly y: number;
}

export type Curve = readonly [Point, Point, Point, Point];

/** An arc over a line of words, or a small loop over one word. */
export function arch(from: Point, to: Point, room: number): Curve {
  const span = Math.abs(to.x - from.x);
  if (span < 8) {
    const reach = 17;
    return [
      { x: from.x - 5, y: from.y },
      { x: from.x - reach, y: from.y - 46 },
      { x: to.x + reach, y: from.y - 46 },
      { x: to.x + 5, y: to.y },
    ];
  }
  // A cubic reaches three quarters of the way to its control points.
  const rise = Math.min(room, 34 + span * 0.36) / 0.75;
  return [from, { x: from.x, y: from.y - rise }, { x: to.x, y: to.y - rise }, to];
}

/** A curve between two columns of words. */
export function across(from: Point, to: Point): Curve {
  const half = (from.x + to.x) / 2;
  return [from, { x: half, y: from.y }, { x: half, y: to.y }, to];
}

export function path([a, b, c, d]: Curve): string {
  const at = ({ x, y }: Point): string => `${x.toFixed(1)} ${y.toFixed(1)}`;
  return `M${at(a)}C${at(b)} ${at(c)} ${at(d)}`;
}

export function pointOn([a, b, c, d]: Curve, t: number): Point {
  const u = 1 - t;
  const mix = (p: number, q: number, r: number, s: number): number =>
    u * u * u * p + 3 * u * u * t * q + 3 * u * t * t * r + t * t * t * s;
  return { x: mix(a.x, b.x, c.x, d.x), y: mix(a.y, b.y, c.y, d.y) };
}
