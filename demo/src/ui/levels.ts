// Where a field of numbers on a grid is at least so large, as a path: marching squares.

interface Field {
  /** Row by row. */
  readonly data: ArrayLike<number>;
  readonly columns: number;
}

const CORNERS = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 1],
] as const;

/** In steps of the grid, its first number at 0, 0. Cells that belong to it as a whole are joined in rows. */
export function regionFrom({ data, columns }: Field, level: number): string {
  const path: string[] = [];
  for (let row = 0; row + 1 < data.length / columns; row++) {
    let joined = 0;
    for (let col = 0; col < columns; col++) {
      const corners = CORNERS.map(([right, down]) => {
        const value = col + right < columns ? data[(row + down) * columns + col + right] : undefined;
        return { x: col + right, y: row + down, over: (value ?? Number.NaN) - level };
      });
      if (corners.every(({ over }) => over >= 0)) {
        joined += 1;
        continue;
      }
      if (joined > 0) path.push(`M${col - joined} ${row}H${col}V${row + 1}H${col - joined}Z`);
      joined = 0;
      const points = corners.flatMap((from, index) => edge(from, corners[(index + 1) % 4] ?? from));
      if (points.length > 0) path.push(`M${points.join("L")}Z`);
    }
  }
  return path.join("");
}

interface Corner {
  readonly x: number;
  readonly y: number;
  readonly over: number;
}

/** The corner that an edge begins with, where that is inside, and where the level crosses it. */
function edge(from: Corner, to: Corner): string[] {
  const points = from.over >= 0 ? [`${from.x} ${from.y}`] : [];
  if (from.over >= 0 === to.over >= 0 || !Number.isFinite(from.over - to.over)) return points;
  const part = from.over / (from.over - to.over);
  const between = (a: number, b: number): string => (a + (b - a) * part).toFixed(3);
  return [...points, `${between(from.x, to.x)} ${between(from.y, to.y)}`];
}
