/** In pixels; the middle of the first pixel is at 0.5. */
export type Point = { readonly x: number; readonly y: number };
/** In reading order: start and end of the first line, end and start of the last line. */
export type Quad = readonly [Point, Point, Point, Point];

/** A projective map of the plane, row by row; the last number is 1. */
export type Homography = Float64Array;

/** Maps each corner of one quad to that of the other. Null if the corners are collinear. */
export function homographyBetween(from: Quad, to: Quad): Homography | null {
  const rows = from.flatMap(({ x, y }, index): number[][] => {
    const { x: u, y: v } = to[index] ?? { x: 0, y: 0 };
    return [
      [x, y, 1, 0, 0, 0, -u * x, -u * y, u],
      [0, 0, 0, x, y, 1, -v * x, -v * y, v],
    ];
  });
  const solved = solve(rows);
  return solved === null ? null : Float64Array.from([...solved, 1]);
}

/** Gaussian elimination with pivots. Each row holds the factors and, last, the result. */
function solve(rows: number[][]): readonly number[] | null {
  const size = rows.length;
  for (let column = 0; column < size; column++) {
    let best = column;
    for (let row = column + 1; row < size; row++)
      if (Math.abs(rows[row]?.[column] ?? 0) > Math.abs(rows[best]?.[column] ?? 0)) best = row;
    const pivot = rows[best];
    const value = pivot?.[column] ?? 0;
    if (pivot === undefined || !(Math.abs(value) > 1e-9)) return null;
    [rows[best], rows[column]] = [rows[column] ?? [], pivot];
    for (const [index, row] of rows.entries()) {
      if (index === column) continue;
      const factor = (row[column] ?? 0) / value;
      if (factor !== 0)
        for (let at = column; at <= size; at++) row[at] = (row[at] ?? 0) - factor * (pivot[at] ?? 0);
    }
  }
  const result = rows.map((row, index) => (row[size] ?? 0) / (row[index] ?? 1));
  return result.every(Number.isFinite) ? result : null;
}

export function project(map: Homography, { x, y }: Point): Point {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 1] = map;
  const w = g * x + h * y + i;
  return { x: (a * x + b * y + c) / w, y: (d * x + e * y + f) / w };
}

export const quadOf = (points: readonly Point[]): Quad | null => {
  const [a, b, c, d] = points;
  return a === undefined || b === undefined || c === undefined || d === undefined ? null : [a, b, c, d];
};

/** Upside down: reading begins at the opposite corner. */
export const turnedQuad = ([a, b, c, d]: Quad): Quad => [c, d, a, b];

export const distance = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y);
