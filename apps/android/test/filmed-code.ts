import qrcode from "qrcode-generator";

export type Picture = { width: number; height: number; light: Uint8Array };

export type Code = { modules: number; isDark: (row: number, column: number) => boolean };

/** What a camera makes of a code on a screen. */
export type View = {
  /** Pixels of a module in the middle of the picture. */
  module: number;
  /** Degrees: the phone is turned, leans back or to one side. */
  turn?: number;
  back?: number;
  side?: number;
  /** Pixels that one is mixed with on each side, twice. */
  blur?: number;
  noise?: number;
  /** Brightness of dark and light modules. */
  contrast?: readonly [number, number];
  /** How much darker the right edge is than the left one. */
  shadow?: number;
};

export function drawnCode(
  text: string,
  {
    version = 0,
    level = "M",
    mode = "Byte",
  }: { version?: number; level?: string; mode?: "Byte" | "Numeric" | "Alphanumeric" } = {},
): Code {
  const code = qrcode(version as Parameters<typeof qrcode>[0], level as "M");
  // The generator takes a character for a byte.
  code.addData(Buffer.from(text).toString("latin1"), mode);
  code.make();
  return { modules: code.getModuleCount(), isDark: (row, column) => code.isDark(row, column) };
}

/** Numbers from 0 to 1, the same in every run. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A picture of a square camera, with the code in its middle on a light page. */
export function filmed(code: Code, view: View, size = 480): Picture {
  const [across, down, depth] = inverse(projectionOf(view, size));
  const [dark, lit] = view.contrast ?? [25, 235];
  const { modules } = code;
  const isDark = new Uint8Array(modules ** 2);
  for (let at = 0; at < isDark.length; at++)
    isDark[at] = code.isDark(Math.floor(at / modules), at % modules) ? 1 : 0;
  const light = new Float64Array(size * size);
  // Places in a pixel along each side: edges that are not upright need more than one.
  const fine = view.turn || view.back || view.side ? 2 : 1;
  const [shadow, share, noise] = [view.shadow ?? 0, 1 / fine ** 2, view.noise ?? 0];
  const [acrossX, acrossY, acrossAll] = across;
  const [downX, downY, downAll] = down;
  const [depthX, depthY, depthAll] = depth;
  // Millions of places: what depends on the row alone is computed once for it.
  for (let row = 0; row < fine * size; row++) {
    const y = (row + 0.5) / fine;
    const [rowAcross, rowDown, rowDepth] = [
      acrossY * y + acrossAll,
      downY * y + downAll,
      depthY * y + depthAll,
    ];
    const firstOfRow = Math.floor(y) * size;
    for (let column = 0; column < fine * size; column++) {
      const x = (column + 0.5) / fine;
      const scale = depthX * x + rowDepth;
      const u = Math.floor((acrossX * x + rowAcross) / scale + modules / 2);
      const v = Math.floor((downX * x + rowDown) / scale + modules / 2);
      const isInCode = u >= 0 && v >= 0 && u < modules && v < modules;
      const brightness = isInCode && isDark[v * modules + u] ? dark : lit;
      const at = firstOfRow + Math.floor(x);
      light[at] = (light[at] ?? 0) + brightness * (1 - (shadow * x) / size) * share;
    }
  }
  const random = seeded(7);
  const once = boxBlur(light, size, view.blur ?? 0);
  const blurred = boxBlur(once, size, view.blur ?? 0);
  const seen = new Uint8Array(blurred.length);
  for (let at = 0; at < seen.length; at++) {
    const value = blurred[at] ?? 0;
    const changed = noise === 0 ? value : value + (random() - 0.5) * 2 * noise;
    seen[at] = Math.max(0, Math.min(255, Math.round(changed)));
  }
  return { width: size, height: size, light: seen };
}

type Row = readonly [number, number, number];
type Matrix = readonly [Row, Row, Row];

/** From a place on the code's plane, in modules around its middle, to the picture. */
function projectionOf({ module, turn = 0, back = 0, side = 0 }: View, size: number): Matrix {
  const [a, b, c] = [turn, back, side].map((degrees) => (degrees * Math.PI) / 180) as [
    number,
    number,
    number,
  ];
  // The plane is turned in itself, then leans back, then to the side.
  const [far, middle] = [1.3 * size, size / 2];
  const [sinA, cosA, sinB, sinC, cosC] = [Math.sin(a), Math.cos(a), Math.sin(b), Math.sin(c), Math.cos(c)];
  const u = (cosA * sinC + sinA * sinB * cosC) * module;
  const v = (-sinA * sinC + cosA * sinB * cosC) * module;
  const wide = far * module;
  const tall = far * module * Math.cos(b);
  return [
    [
      wide * (cosA * cosC - sinA * sinB * sinC) + middle * u,
      wide * (-sinA * cosC - cosA * sinB * sinC) + middle * v,
      middle * far,
    ],
    [tall * sinA + middle * u, tall * cosA + middle * v, middle * far],
    [u, v, far],
  ];
}

/** Up to a factor, which a projection does not have. */
function inverse([[a, b, c], [d, e, f], [g, h, i]]: Matrix): Matrix {
  return [
    [e * i - f * h, c * h - b * i, b * f - c * e],
    [f * g - d * i, a * i - c * g, c * d - a * f],
    [d * h - e * g, b * g - a * h, a * e - b * d],
  ];
}

function boxBlur(light: Float64Array, size: number, radius: number): Float64Array {
  if (radius === 0) return light;
  /** The mean of a pixel and its neighbours along a row (`step` 1) or a column. */
  const along = (from: Float64Array, step: number) => {
    const mixed = new Float64Array(from.length);
    for (let at = 0; at < from.length; at++) {
      const place = Math.floor(at / step) % size;
      const [first, last] = [Math.max(-radius, -place), Math.min(radius, size - 1 - place)];
      let sum = 0;
      for (let by = first; by <= last; by++) sum += from[at + by * step] ?? 0;
      mixed[at] = sum / (last - first + 1);
    }
    return mixed;
  };
  return along(along(light, 1), size);
}
