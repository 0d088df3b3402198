/**
 * Draws the fictional people of the test country: a head as a signed distance field, lit and marched pixel by
 * pixel. Run it here to remake the portraits in `src/node/test-country/pictures`:
 *   node render-portrait.ts adult > adult.ppm && cjpeg -quality 85 -baseline adult.ppm > adult.jpg
 *   node render-portrait.ts elder > elder.ppm && opj_compress -i elder.ppm -o elder.jp2 -r 24
 * For test films a head may be turned, by degrees to its left and upwards:
 *   node render-portrait.ts adult 20 -5 > adult-turned.ppm
 * cjpeg is in Debian's libjpeg-turbo-progs, opj_compress in its libopenjp2-tools. The drawings have this
 * project's licence.
 */

export type Vector = readonly [number, number, number];

type Person = {
  readonly skin: Vector;
  readonly hair: Vector;
  readonly iris: Vector;
  readonly clothes: Vector;
  /** Of the jaw; the rest of the head keeps its size. */
  readonly width: number;
  readonly jaw: number;
  readonly longHair: boolean;
  readonly eyeSize: number;
  readonly noseLength: number;
  readonly browWeight: number;
  readonly wrinkles: number;
  /** From the middle of the face to the middle of an eye. */
  readonly eyeDistance: number;
  readonly noseWidth: number;
  readonly lipThickness: number;
  readonly beard: number;
};

const people: Readonly<Record<string, Person>> = {
  adult: {
    skin: [0.82, 0.6, 0.48],
    hair: [0.2, 0.12, 0.07],
    iris: [0.28, 0.38, 0.3],
    clothes: [0.16, 0.2, 0.32],
    width: 1,
    jaw: 1,
    longHair: true,
    eyeSize: 1,
    noseLength: 1,
    browWeight: 0.9,
    wrinkles: 0,
    eyeDistance: 0.285,
    noseWidth: 0.95,
    lipThickness: 1.1,
    beard: 0,
  },
  elder: {
    skin: [0.34, 0.2, 0.14],
    hair: [0.16, 0.15, 0.15],
    iris: [0.2, 0.12, 0.07],
    clothes: [0.34, 0.3, 0.26],
    width: 1.12,
    jaw: 1.22,
    longHair: false,
    eyeSize: 0.92,
    noseLength: 1.2,
    browWeight: 1.25,
    wrinkles: 1,
    eyeDistance: 0.325,
    noseWidth: 1.5,
    lipThickness: 1.5,
    beard: 0.9,
  },
  child: {
    skin: [0.9, 0.7, 0.58],
    hair: [0.45, 0.3, 0.14],
    iris: [0.25, 0.36, 0.5],
    clothes: [0.5, 0.18, 0.16],
    width: 1.02,
    jaw: 0.86,
    longHair: false,
    eyeSize: 1.18,
    noseLength: 0.8,
    browWeight: 0.7,
    wrinkles: 0,
    eyeDistance: 0.26,
    noseWidth: 0.75,
    lipThickness: 0.8,
    beard: 0,
  },
};

const usualDistance = 7;
const portraitWidth = 300;
const portraitHeight = 400;
const background: Vector = [0.78, 0.8, 0.82];

const add = (a: Vector, b: Vector): Vector => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const subtract = (a: Vector, b: Vector): Vector => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scale = (a: Vector, by: number): Vector => [a[0] * by, a[1] * by, a[2] * by];
const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const length = (a: Vector): number => Math.sqrt(dot(a, a));
const normalise = (a: Vector): Vector => scale(a, 1 / length(a));
const mix = (a: Vector, b: Vector, t: number): Vector => add(scale(a, 1 - t), scale(b, t));
const clamp = (value: number, low = 0, high = 1): number => Math.min(Math.max(value, low), high);
const smoothstep = (low: number, high: number, value: number): number => {
  const t = clamp((value - low) / (high - low));
  return t * t * (3 - 2 * t);
};

function ellipsoid(p: Vector, center: Vector, radii: Vector): number {
  const q = subtract(p, center);
  const scaled: Vector = [q[0] / radii[0], q[1] / radii[1], q[2] / radii[2]];
  const k0 = length(scaled);
  const k1 = length([scaled[0] / radii[0], scaled[1] / radii[1], scaled[2] / radii[2]]);
  return k1 === 0 ? -Math.min(...radii) : (k0 * (k0 - 1)) / k1;
}

function capsule(p: Vector, from: Vector, to: Vector, radiusFrom: number, radiusTo: number): number {
  const along = subtract(to, from);
  const t = clamp(dot(subtract(p, from), along) / dot(along, along));
  return length(subtract(p, add(from, scale(along, t)))) - (radiusFrom + (radiusTo - radiusFrom) * t);
}

function smoothUnion(a: number, b: number, k: number): number {
  const h = clamp(0.5 + (0.5 * (b - a)) / k);
  return b * (1 - h) + a * h - k * h * (1 - h);
}

function smoothSubtraction(a: number, cut: number, k: number): number {
  return -smoothUnion(-a, cut, k);
}

/** Value noise, the same in every run. */
function noise(x: number, y: number, z: number): number {
  const hash = (i: number, j: number, k: number): number => {
    const s = Math.sin(i * 127.1 + j * 311.7 + k * 74.7) * 43758.5453;
    return s - Math.floor(s);
  };
  const [i, j, k] = [Math.floor(x), Math.floor(y), Math.floor(z)];
  const [u, v, w] = [smoothstep(0, 1, x - i), smoothstep(0, 1, y - j), smoothstep(0, 1, z - k)];
  let sum = 0;
  for (const [di, fi] of [
    [0, 1 - u],
    [1, u],
  ] as const) {
    for (const [dj, fj] of [
      [0, 1 - v],
      [1, v],
    ] as const) {
      for (const [dk, fk] of [
        [0, 1 - w],
        [1, w],
      ] as const)
        sum += hash(i + di, j + dj, k + dk) * fi * fj * fk;
    }
  }
  return sum;
}

type Material = "skin" | "eye" | "hair" | "clothes" | "lip";

type Surface = {
  readonly distance: number;
  readonly material: Material;
};

const eyeY = 0.06;

/** Facial expression: how far the eyes are closed and the mouth is open, each from 0 to 1. */
export type Expression = { readonly closedEyes: number; readonly openMouth: number };
const calm: Expression = { closedEyes: 0, openMouth: 0 };
/** How far an open mouth moves the lower lip and the chin down. */
const jawDrop = 0.2;

class Head {
  readonly #person: Person;
  readonly #expression: Expression;
  readonly #drop: number;

  constructor(person: Person, expression: Expression) {
    this.#person = person;
    this.#expression = expression;
    this.#drop = jawDrop * expression.openMouth;
  }

  skin(p: Vector): number {
    const { width, jaw, noseLength, noseWidth, eyeSize, eyeDistance } = this.#person;
    const side: Vector = [Math.abs(p[0]), p[1], p[2]];
    let d = ellipsoid(p, [0, 0.22, -0.08], [0.72 * width, 0.84, 0.84]);
    d = smoothUnion(
      d,
      ellipsoid(p, [0, -0.34 - this.#drop / 2, 0.12], [0.54 * width * jaw, 0.62 + this.#drop / 2, 0.6]),
      0.22,
    );
    d = smoothUnion(d, ellipsoid(side, [0.4 * width, -0.14, 0.42], [0.2, 0.2, 0.22]), 0.2);
    d = smoothUnion(d, ellipsoid(p, [0, -0.83 - this.#drop, 0.46], [0.2 * jaw, 0.14, 0.17]), 0.2);
    d = smoothUnion(d, capsule(side, [0.08, 0.24, 0.72], [0.44, 0.24, 0.55], 0.05, 0.04), 0.16);
    d = smoothSubtraction(
      d,
      ellipsoid(side, [eyeDistance, eyeY + 0.02, 0.86], [0.17 * eyeSize, 0.1, 0.19]),
      0.13,
    );
    d = smoothUnion(d, this.#eyelids(side), 0.02);
    const tip = -0.22 * noseLength;
    d = smoothUnion(d, capsule(p, [0, 0.14, 0.7], [0, tip, 0.93], 0.06 * noseWidth, 0.085 * noseWidth), 0.1);
    d = smoothUnion(
      d,
      ellipsoid(side, [0.095 * noseWidth, tip - 0.02, 0.82], [0.07 * noseWidth, 0.065, 0.09]),
      0.05,
    );
    d = smoothSubtraction(
      d,
      ellipsoid(side, [0.058 * noseWidth, tip - 0.09, 0.88], [0.03, 0.026, 0.05]),
      0.025,
    );
    d = smoothSubtraction(d, capsule(p, [0, tip - 0.12, 0.84], [0, -0.4, 0.83], 0.012, 0.02), 0.04);
    d = smoothUnion(
      d,
      ellipsoid(p, [0, -0.5 - this.#drop / 2, 0.62], [0.28, 0.2 + this.#drop / 2, 0.14]),
      0.14,
    );
    d = smoothSubtraction(d, ellipsoid(p, [0, -0.67 - this.#drop, 0.84], [0.16, 0.05, 0.1]), 0.1);
    if (this.#drop > 0) d = smoothSubtraction(d, this.#cavity(p), 0.02);
    d = smoothUnion(d, ellipsoid(side, [0.755 * width, 0.02, -0.08], [0.06, 0.2, 0.12]), 0.04);
    return smoothUnion(d, capsule(p, [0, -0.9, -0.14], [0, -1.9, -0.2], 0.4, 0.46), 0.12);
  }

  #eyelids(side: Vector): number {
    const { eyeSize, eyeDistance } = this.#person;
    const shell = length(subtract(side, [eyeDistance, eyeY, 0.545])) - 0.158 * eyeSize;
    const across = (side[0] - eyeDistance) / (0.15 * eyeSize);
    const arch = Math.max(1 - across * across, 0);
    const lower = eyeY - 0.05 * eyeSize * arch;
    const upper = lower + 0.108 * eyeSize * arch * (1 - this.#expression.closedEyes);
    const opening = Math.max(lower - side[1], side[1] - upper);
    return Math.max(shell, -opening - 0.0);
  }

  #lips(p: Vector): number {
    const { lipThickness } = this.#person;
    const side: Vector = [Math.abs(p[0]), p[1], p[2]];
    const upper = smoothUnion(
      ellipsoid(side, [0.06, -0.475, 0.725], [0.13, 0.034 * lipThickness, 0.07]),
      ellipsoid(p, [0, -0.482, 0.7], [0.215, 0.03 * lipThickness, 0.07]),
      0.03,
    );
    return Math.min(
      upper,
      ellipsoid(p, [0, -0.545 - this.#drop, 0.715 - this.#drop / 4], [0.18, 0.05 * lipThickness, 0.07]),
    );
  }

  /** The inside of an open mouth. */
  #cavity(p: Vector): number {
    return ellipsoid(p, [0, -0.51 - this.#drop / 2, 0.72], [0.15, this.#drop / 2 + 0.01, 0.22]);
  }

  #hair(p: Vector): number {
    const strands = 0.016 * (noise(p[0] * 34, p[1] * 5, p[2] * 22) - 0.5);
    const cap = ellipsoid(p, [0, 0.34, -0.16], [0.84 * this.#person.width, 0.84, 0.92]);
    const face = ellipsoid(p, [0, -0.22, 0.76], [0.66, 0.9, 0.66]);
    let d = smoothSubtraction(cap, face, 0.06);
    d = smoothSubtraction(d, ellipsoid(p, [0, -0.75, 0.1], [0.9, 0.7, 1.2]), 0.1);
    if (this.#person.longHair) {
      const side: Vector = [Math.abs(p[0]), p[1], p[2]];
      d = smoothUnion(d, capsule(side, [0.72, 0.15, -0.2], [0.66, -1.2, -0.28], 0.17, 0.22), 0.16);
    }
    return d + strands;
  }

  at(p: Vector): Surface {
    const side: Vector = [Math.abs(p[0]), p[1], p[2]];
    const candidates: Surface[] = [
      { distance: this.skin(p), material: "skin" },
      {
        distance:
          length(subtract(side, [this.#person.eyeDistance, eyeY, 0.545])) - 0.145 * this.#person.eyeSize,
        material: "eye",
      },
      { distance: this.#lips(p), material: "lip" },
      { distance: this.#hair(p), material: "hair" },
      { distance: this.#clothes(p), material: "clothes" },
    ];
    return candidates.reduce((nearest, next) => (next.distance < nearest.distance ? next : nearest));
  }

  #clothes(p: Vector): number {
    const body = ellipsoid(p, [0, -2.15, -0.2], [1.5, 0.75, 0.62]);
    return smoothSubtraction(body, ellipsoid(p, [0, -1.2, 0.25], [0.4, 0.42, 0.6]), 0.05);
  }

  colour(p: Vector, material: Material): Vector {
    const { skin, hair, iris, clothes, browWeight, eyeSize, eyeDistance, wrinkles, beard } = this.#person;
    const side = Math.abs(p[0]);
    switch (material) {
      case "clothes":
        return scale(clothes, 0.92 + 0.16 * noise(p[0] * 60, p[1] * 60, 1));
      case "hair":
        return scale(hair, 0.75 + 0.5 * noise(p[0] * 40, p[1] * 4, p[2] * 30));
      case "lip":
        return mix(skin, [0.62, 0.24, 0.24], 0.55);
      case "eye": {
        const fromCenter = Math.hypot(side - eyeDistance, p[1] - eyeY - 0.004) / eyeSize;
        if (fromCenter < 0.022) return [0.02, 0.02, 0.02];
        if (fromCenter < 0.062) return scale(iris, 0.6 + fromCenter * 8);
        return mix([0.86, 0.84, 0.82], [0.7, 0.5, 0.46], smoothstep(0.1, 0.16, fromCenter));
      }
      case "skin": {
        if (this.#drop > 0 && this.#cavity(p) < 0.012) return [0.16, 0.05, 0.05];
        let colour = scale(skin, 0.96 + 0.06 * noise(p[0] * 50, p[1] * 50, p[2] * 50));
        const cheek = Math.exp(-((side - 0.38) ** 2 + (p[1] + 0.2) ** 2) / 0.03) * 0.16;
        const nose = Math.exp(-(side ** 2 + (p[1] + 0.2) ** 2) / 0.02) * 0.12;
        colour = mix(colour, [0.75, 0.3, 0.28], cheek + nose);
        const browY = 0.255 - 0.5 * (side - 0.27) ** 2 + 0.04 * (side - 0.27);
        const brow =
          smoothstep(0.042 * browWeight, 0.014, Math.abs(p[1] - browY)) *
          smoothstep(0.1, 0.16, side) *
          smoothstep(0.5, 0.4, side);
        const hairs = 0.6 + 0.4 * noise(p[0] * 90, p[1] * 40, 3);
        if (p[2] > 0.3) colour = mix(colour, scale(hair, 0.8), clamp(brow * hairs * browWeight) * 0.85);
        const lash = this.#lashLine(side, p[1]);
        if (p[2] > 0.4) colour = mix(colour, [0.08, 0.05, 0.04], lash * 0.75);
        if (wrinkles > 0) {
          const forehead = p[1] > 0.34 ? 0.5 + 0.5 * Math.sin(p[1] * 75 + Math.sin(p[0] * 5)) : 0;
          const fold =
            Math.exp(-((side - 0.2 - (-0.2 - p[1]) * 0.32) ** 2) / 0.0006) *
            (p[1] < -0.2 && p[1] > -0.55 ? 1 : 0);
          colour = scale(colour, 1 - wrinkles * (0.06 * forehead ** 4 + 0.16 * fold));
        }
        const jawline =
          smoothstep(-0.32, -0.5, p[1] + 0.25 * clamp(0.3 - side)) * smoothstep(-1.02, -0.9, p[1]);
        const aroundMouth = 1 - Math.exp(-(side ** 2 / 0.05 + (p[1] + 0.52) ** 2 / 0.008));
        const stubble = 0.7 + 0.3 * noise(p[0] * 110, p[1] * 110, p[2] * 110);
        return mix(colour, scale(hair, 0.7), beard * jawline * aroundMouth * stubble);
      }
    }
  }

  #lashLine(side: number, y: number): number {
    const { eyeSize, eyeDistance } = this.#person;
    const across = (side - eyeDistance) / (0.15 * eyeSize);
    if (Math.abs(across) > 1) return 0;
    const arch = 1 - across * across;
    const upper = eyeY - 0.05 * eyeSize * arch + 0.108 * eyeSize * arch * (1 - this.#expression.closedEyes);
    return smoothstep(0.018, 0.004, Math.abs(y - upper - 0.006));
  }
}

export type View = {
  /** To the person's own left, which is the right of the picture. */
  readonly yawDegrees: number;
  /** Upwards. */
  readonly pitchDegrees: number;
  readonly width: number;
  readonly height: number;
  /** Sample positions within a pixel, from 0 to 1. */
  readonly samples: readonly (readonly [number, number])[];
  readonly expression?: Expression;
  /**
   * From the camera to the middle of the head,
   * in units of which an adult's head is 1.5 wide: 7 is 70 centimetres.
   */
  readonly distance?: number;
  /**
   * The distance at which the head is as large as in a portrait.
   * A nearer head is larger, its nose more so than its ears.
   */
  readonly portraitDistance?: number;
  /**
   * The print on a mask of this shape, by the position on a straight portrait from -1.28 to 1.28.
   * Replaces the person's colours.
   */
  readonly mask?: (x: number, y: number) => Vector;
};

const portraitView: View = {
  yawDegrees: 0,
  pitchDegrees: 0,
  width: portraitWidth,
  height: portraitHeight,
  samples: [
    [0.25, 0.25],
    [0.75, 0.25],
    [0.25, 0.75],
    [0.75, 0.75],
  ],
};

type Scene = {
  readonly head: Head;
  readonly distanceAt: (p: Vector) => number;
  readonly keyLight: Vector;
  readonly fillLight: Vector;
  readonly start: number;
  readonly mask: View["mask"];
};

/** To turn the person, camera and lights turn the other way, so that the head keeps its coordinates. */
function turnAround(view: View): (v: Vector) => Vector {
  const [yaw, pitch] = [(-view.yawDegrees * Math.PI) / 180, (view.pitchDegrees * Math.PI) / 180];
  const [cosYaw, sinYaw, cosPitch, sinPitch] = [
    Math.cos(yaw),
    Math.sin(yaw),
    Math.cos(pitch),
    Math.sin(pitch),
  ];
  return ([x, y, z]) => {
    const [turnedX, turnedZ] = [x * cosYaw + z * sinYaw, z * cosYaw - x * sinYaw];
    return [turnedX, y * cosPitch - turnedZ * sinPitch, y * sinPitch + turnedZ * cosPitch];
  };
}

/** Three bytes a pixel, row by row. */
export function renderPerson(name: string, view: View = portraitView): Uint8Array {
  const person = people[name];
  if (person === undefined) throw new TypeError(`Name one of ${Object.keys(people).join(", ")}`);
  const { width, height, samples, distance = usualDistance } = view;
  const head = new Head(person, view.expression ?? calm);
  const turn = turnAround(view);
  const pixels = new Uint8Array(width * height * 3);
  const scene: Scene = {
    head,
    distanceAt: (p) => head.at(p).distance,
    keyLight: turn(keyLightDirection),
    fillLight: turn(fillLightDirection),
    start: distance - 1.4,
    mask: view.mask,
  };
  const camera: Vector = [0, -0.12, distance];
  const window = (1.28 * distance) / (view.portraitDistance ?? usualDistance);
  const turnedCamera = turn(camera);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      let colour: Vector = [0, 0, 0];
      for (const [dx, dy] of samples) {
        const x = (((column + dx) / width) * 2 - 1) * window;
        const y = (1 - ((row + dy) / height) * 2) * window * (height / width) - 0.12;
        const ray = turn(normalise(subtract([x, y, 0], camera)));
        colour = add(colour, scale(trace(turnedCamera, ray, scene), 1 / samples.length));
      }
      for (let channel = 0; channel < 3; channel++) {
        const value = clamp(colour[channel as 0 | 1 | 2]) ** (1 / 2.2);
        pixels[(row * width + column) * 3 + channel] = Math.round(value * 255);
      }
    }
  }
  return pixels;
}

function trace(from: Vector, ray: Vector, scene: Scene): Vector {
  let travelled = scene.start;
  for (let step = 0; step < 90 && travelled < scene.start + 3.4; step++) {
    const p = add(from, scale(ray, travelled));
    const { distance, material } = scene.head.at(p);
    if (distance < 0.0015 && scene.mask !== undefined) {
      const nearer = usualDistance / (usualDistance - p[2]);
      return shade(p, ray, scene.mask(p[0] * nearer, (p[1] + 0.12) * nearer), "clothes", scene);
    }
    if (distance < 0.0015) return shade(p, ray, scene.head.colour(p, material), material, scene);
    travelled += distance * 0.8;
  }
  return scale(background, 0.72);
}

const keyLightDirection = normalise([-0.45, 0.65, 1]);
const fillLightDirection = normalise([0.8, 0.1, 0.9]);

function shade(
  p: Vector,
  ray: Vector,
  colour: Vector,
  material: Material,
  { distanceAt, keyLight, fillLight }: Scene,
): Vector {
  const e = 0.004;
  const slope = (axis: Vector) =>
    distanceAt(add(p, scale(axis, e))) - distanceAt(subtract(p, scale(axis, e)));
  const normal = normalise([slope([1, 0, 0]), slope([0, 1, 0]), slope([0, 0, 1])]);
  let occlusion = 0;
  for (const reach of [0.03, 0.08, 0.16, 0.3])
    occlusion += Math.max(reach - distanceAt(add(p, scale(normal, reach))), 0) / reach;
  const open = clamp(1 - occlusion * 0.24, 0.2, 1);
  let shadow = 1;
  for (let reach = 0.04; reach < 1.2; ) {
    const d = distanceAt(add(p, scale(keyLight, reach)));
    shadow = Math.min(shadow, (9 * d) / reach);
    if (shadow < 0.02) break;
    reach += clamp(d, 0.03, 0.2);
  }
  shadow = clamp(shadow, 0, 1);
  const wrap = material === "skin" || material === "lip" ? 0.25 : 0;
  const key = clamp((dot(normal, keyLight) + wrap) / (1 + wrap)) * (0.35 + 0.65 * shadow);
  const fill = clamp(dot(normal, fillLight));
  const half = normalise(subtract(keyLight, ray));
  const shine = material === "eye" ? 220 : material === "hair" ? 24 : 30;
  const gloss = material === "eye" ? 0.9 : material === "hair" ? 0.1 : material === "clothes" ? 0 : 0.07;
  const specular = clamp(dot(normal, half)) ** shine * gloss * shadow;
  const light = 0.78 * key + 0.3 * fill + 0.22 * open;
  return add(scale(colour, light * (0.55 + 0.45 * open)), [specular, specular, specular]);
}

if (import.meta.main) {
  const [name = "", yaw, pitch] = process.argv.slice(2);
  const pixels = renderPerson(name, {
    ...portraitView,
    yawDegrees: Number(yaw ?? 0),
    pitchDegrees: Number(pitch ?? 0),
  });
  process.stdout.write(`P6\n${portraitWidth} ${portraitHeight}\n255\n`);
  process.stdout.write(pixels);
}
