// Reads a QR code (ISO/IEC 18004) in a picture of a camera. Versions up to 20 hold any link to a verification.
// Larger codes are not read, nor other content than digits, capitals and UTF-8. The picture is not trusted:
// every loop is bounded by the size of the picture or of the code.
const maxVersion = 20;

/** By level (L, M, Q, H) and version: bytes for correction in a block, and blocks. */
const correctionBytes = [
  [7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28],
  [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26],
  [13, 22, 18, 26, 18, 24, 18, 22, 20, 24, 28, 26, 24, 20, 30, 24, 28, 28, 26, 30],
  [17, 28, 22, 16, 22, 28, 26, 26, 24, 28, 24, 28, 22, 24, 24, 30, 28, 28, 26, 28],
];
const blockCounts = [
  [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8],
  [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16],
  [1, 1, 2, 2, 4, 4, 6, 6, 8, 8, 8, 10, 12, 16, 12, 17, 16, 18, 21, 20],
  [1, 1, 2, 4, 4, 4, 5, 6, 8, 8, 11, 11, 16, 16, 18, 16, 19, 21, 25, 25],
];

const masks = [
  (x, y) => (x + y) % 2,
  (_x, y) => y % 2,
  (x) => x % 3,
  (x, y) => (x + y) % 3,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
  (x, y) => ((x * y) % 2) + ((x * y) % 3),
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
];

/**
 * The text of the code in a picture; null when there is none that can be read. `light` is the brightness of
 * every pixel, row by row.
 */
export function readQrCode({ width, height, light }) {
  for (const darken of [aroundEachPixel, overall]) {
    const picture = { width, height, dark: darken(light, width, height) };
    for (const corners of cornersIn(picture)) {
      const text = readAt(picture, corners);
      if (text !== null) return text;
    }
  }
  return null;
}

// --- dark and light ------------------------------------------------------------------------------

/** Dark is what is darker than its surroundings, so that a shadow over half of the code does no harm. */
function aroundEachPixel(light, width, height) {
  const sums = new Float64Array((width + 1) * (height + 1));
  for (let y = 0; y < height; y++) {
    let row = 0;
    for (let x = 0; x < width; x++) {
      row += light[y * width + x];
      sums[(y + 1) * (width + 1) + x + 1] = sums[y * (width + 1) + x + 1] + row;
    }
  }
  // Smaller, the middle of a large corner mark looks light; larger, a shadow's edge looks dark.
  const reach = Math.max(4, Math.round(Math.min(width, height) / 12));
  const dark = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    const top = Math.max(0, y - reach) * (width + 1);
    const bottom = Math.min(height, y + reach + 1) * (width + 1);
    const rows = (bottom - top) / (width + 1);
    for (let x = 0; x < width; x++) {
      const left = Math.max(0, x - reach);
      const right = Math.min(width, x + reach + 1);
      const sum = sums[bottom + right] - sums[bottom + left] - sums[top + right] + sums[top + left];
      dark[y * width + x] = light[y * width + x] * rows * (right - left) < sum * 0.92 ? 1 : 0;
    }
  }
  return dark;
}

/** Half way between the darkest and the lightest twentieth: for a code that fills the whole picture. */
function overall(light) {
  const counts = new Uint32Array(256);
  for (const value of light) counts[value]++;
  const at = (part) => {
    let passed = 0;
    return counts.findIndex((count) => {
      passed += count;
      return passed > light.length * part;
    });
  };
  const middle = (at(0.05) + at(0.95)) / 2;
  return Uint8Array.from(light, (value) => (value < middle ? 1 : 0));
}

const isDark = ({ width, height, dark }, x, y) => {
  const column = Math.floor(x);
  const row = Math.floor(y);
  return column >= 0 && row >= 0 && column < width && row < height && dark[row * width + column] === 1;
};

// --- the three corners ---------------------------------------------------------------------------

/** More are never looked at: a picture full of stripes has hundreds. */
const maxMarks = 12;
const maxTries = 8;

/** Where a code may be, the most likely place first: the centres of its three marks. */
function cornersIn(picture) {
  const marks = marksIn(picture)
    .sort((one, other) => other.seen - one.seen)
    .slice(0, maxMarks);
  const found = [];
  for (const corner of marks)
    for (const [index, one] of marks.entries())
      for (const other of marks.slice(index + 1)) {
        if (one === corner || other === corner) continue;
        const across = { x: one.x - corner.x, y: one.y - corner.y };
        const down = { x: other.x - corner.x, y: other.y - corner.y };
        const [first, second] = [Math.hypot(across.x, across.y), Math.hypot(down.x, down.y)];
        const sizes = [corner.size, one.size, other.size];
        const slant = Math.abs(across.x * down.x + across.y * down.y) / (first * second);
        const uneven = Math.abs(first - second) / (first + second);
        const unlike = Math.max(...sizes) / Math.min(...sizes) - 1;
        if (slant > 0.5 || uneven > 0.3 || unlike > 0.8) continue;
        const isClockwise = across.x * down.y > across.y * down.x;
        const [right, bottom] = isClockwise ? [one, other] : [other, one];
        found.push({ corner, right, bottom, score: slant + uneven + unlike });
      }
  return found.sort((one, other) => one.score - other.score).slice(0, maxTries);
}

/** A mark is dark, light, dark, light, dark in the ratio 1:1:3:1:1 along every line through its centre. */
function marksIn(picture) {
  const { width, height, dark } = picture;
  const marks = [];
  for (let y = 0; y < height; y += 2) {
    const starts = [];
    for (let x = 0; x < width; x++)
      if (x === 0 || dark[y * width + x] !== dark[y * width + x - 1]) starts.push(x);
    starts.push(width);
    for (let at = dark[y * width] === 1 ? 0 : 1; at + 5 < starts.length; at += 2) {
      const runs = [0, 1, 2, 3, 4].map((run) => starts[at + run + 1] - starts[at + run]);
      if (!isMark(runs)) continue;
      const middle = (starts[at + 2] + starts[at + 3]) / 2;
      const upright = throughCentre(picture, middle, y, 0, 1);
      if (upright === null) continue;
      const level = throughCentre(picture, middle, upright.y, 1, 0);
      if (level === null) continue;
      addMark(marks, { x: level.x, y: upright.y, size: (level.length + upright.length) / 14, seen: 1 });
    }
  }
  return marks;
}

function isMark(runs) {
  const module = runs.reduce((sum, run) => sum + run, 0) / 7;
  if (module < 1) return false;
  // A pixel at the edge of a small module goes to one side or to the other.
  const slack = module * 0.5 + 0.4;
  return runs.every((run, index) =>
    index === 2 ? Math.abs(run - 3 * module) < 2 * slack : Math.abs(run - module) < slack,
  );
}

/** The centre of a mark along one line and its length there; null when it is none along this line. */
function throughCentre(picture, x, y, dx, dy) {
  const maxSteps = Math.max(picture.width, picture.height);
  const runs = [0, 0, 0, 0, 0];
  const ends = [];
  for (const way of [-1, 1]) {
    let at = way === 1 ? 1 : 0;
    for (let run = 0; run < 3; run++) {
      const wanted = run % 2 === 0;
      while (at < maxSteps && isDark(picture, x + way * at * dx, y + way * at * dy) === wanted) {
        if (!wanted && !isInside(picture, x + way * at * dx, y + way * at * dy)) return null;
        runs[2 + way * run]++;
        at++;
      }
    }
    ends.push(way * at);
  }
  if (!isMark(runs)) return null;
  const middle = ends[0] + runs[0] + runs[1] + 1 + runs[2] / 2;
  return {
    x: dx === 0 ? x : Math.floor(x) + middle,
    y: dy === 0 ? y : Math.floor(y) + middle,
    length: runs.reduce((sum, run) => sum + run, 0),
  };
}

const isInside = ({ width, height }, x, y) => x >= 0 && y >= 0 && x < width && y < height;

function addMark(marks, mark) {
  const same = marks.find(
    ({ x, y, size }) => Math.abs(x - mark.x) < size * 2 && Math.abs(y - mark.y) < size * 2,
  );
  if (same === undefined) {
    marks.push(mark);
    return;
  }
  for (const part of ["x", "y", "size"]) same[part] = (same[part] * same.seen + mark[part]) / (same.seen + 1);
  same.seen++;
}

// --- the modules ---------------------------------------------------------------------------------

/** A slanted view makes the far side smaller, so the versions next to the estimated one are tried too. */
function readAt(picture, { corner, right, bottom }) {
  const length = (to) => Math.hypot(to.x - corner.x, to.y - corner.y);
  const angle = Math.atan2(right.y - corner.y, right.x - corner.x);
  // A line through a turned square is longer than its side.
  const turned = Math.cos(angle - (Math.round(angle / (Math.PI / 2)) * Math.PI) / 2);
  const module = ((corner.size * 2 + right.size + bottom.size) / 4) * turned;
  const estimate = Math.round(((length(right) + length(bottom)) / 2 / module + 7 - 17) / 4);
  for (const by of [0, -1, 1, -2, 2]) {
    const version = estimate + by;
    if (version < 1 || version > maxVersion) continue;
    const text = readVersion(picture, { corner, right, bottom }, version);
    if (text !== null) return text;
  }
  return null;
}

function readVersion(picture, corners, version) {
  const size = 17 + 4 * version;
  const place = placesOf(picture, corners, version);
  if (!hasTiming(picture, place, size)) return null;
  const modules = sampled(picture, place, size);
  const at = (x, y) => modules[y * size + x];
  const format = formatOf(at, size);
  if (format === null) return null;
  const bytes = correctedBytes(codewordsOf(at, version, masks[format.mask]), version, format.level);
  return bytes === null ? null : textOf(bytes, version);
}

/** Whether dark and light take turns along the two lines between the marks. Most wrong guesses end here. */
function hasTiming(picture, place, size) {
  let wrong = 0;
  for (let i = 8; i < size - 8; i++)
    for (const { x, y } of [place(i + 0.5, 6.5), place(6.5, i + 0.5)])
      if (isDark(picture, x, y) === (i % 2 === 1)) wrong++;
  return wrong <= (size - 16) / 2;
}

/** From a place in the code, in modules, to a place in the picture. */
function placesOf(picture, { corner, right, bottom }, version) {
  const far = 17 + 4 * version - 3.5;
  const across = { x: (right.x - corner.x) / (far - 3.5), y: (right.y - corner.y) / (far - 3.5) };
  const down = { x: (bottom.x - corner.x) / (far - 3.5), y: (bottom.y - corner.y) / (far - 3.5) };
  const flat = (u, v) => ({
    x: corner.x + across.x * (u - 3.5) + down.x * (v - 3.5),
    y: corner.y + across.y * (u - 3.5) + down.y * (v - 3.5),
  });
  const mark = version === 1 ? null : smallMarkNear(picture, flat, far - 3);
  if (mark === null) return flat;
  return projection([
    [3.5, 3.5, corner],
    [far, 3.5, right],
    [3.5, far, bottom],
    [far - 3, far - 3, flat(mark.u, mark.v)],
  ]);
}

/** How far from its expected place the small mark is looked for, in modules. */
const maxShift = 6;

/** The mark of five modules near the fourth corner, which a slanted view moves; null when there is none. */
function smallMarkNear(picture, flat, expected) {
  let best = { matches: 21, all: [] };
  for (let v = -maxShift; v <= maxShift; v += 0.5)
    for (let u = -maxShift; u <= maxShift; u += 0.5) {
      let matches = 0;
      for (let j = -2; j <= 2; j++)
        for (let i = -2; i <= 2; i++) {
          const { x, y } = flat(expected + u + i, expected + v + j);
          if (isDark(picture, x, y) === (Math.max(Math.abs(i), Math.abs(j)) !== 1)) matches++;
        }
      if (matches > best.matches) best = { matches, all: [] };
      if (matches === best.matches) best.all.push({ u, v });
    }
  const nearest = best.all.reduce(
    (one, other) => (Math.hypot(other.u, other.v) < Math.hypot(one.u, one.v) ? other : one),
    { u: Number.POSITIVE_INFINITY, v: 0 },
  );
  // The middle of all places that fit as well.
  const close = best.all.filter(({ u, v }) => Math.hypot(u - nearest.u, v - nearest.v) < 2);
  if (close.length === 0) return null;
  const mean = (part) => close.reduce((sum, place) => sum + place[part], 0) / close.length;
  return { u: expected + mean("u"), v: expected + mean("v") };
}

/** The projection of a plane that takes four points to four others. */
function projection(pairs) {
  const rows = pairs.flatMap(([u, v, { x, y }]) => [
    [u, v, 1, 0, 0, 0, -u * x, -v * x, x],
    [0, 0, 0, u, v, 1, -u * y, -v * y, y],
  ]);
  for (let column = 0; column < 8; column++) {
    let pivot = column;
    for (let row = column; row < 8; row++)
      if (Math.abs(rows[row][column]) > Math.abs(rows[pivot][column])) pivot = row;
    [rows[column], rows[pivot]] = [rows[pivot], rows[column]];
    for (let row = 0; row < 8; row++) {
      if (row === column) continue;
      const factor = rows[row][column] / rows[column][column];
      for (let i = column; i < 9; i++) rows[row][i] -= factor * rows[column][i];
    }
  }
  const [a, b, c, d, e, f, g, h] = rows.map((row, index) => row[8] / row[index]);
  return (u, v) => {
    const depth = g * u + h * v + 1;
    return { x: (a * u + b * v + c) / depth, y: (d * u + e * v + f) / depth };
  };
}

const withinModule = [
  [0.5, 0.5],
  [0.3, 0.5],
  [0.7, 0.5],
  [0.5, 0.3],
  [0.5, 0.7],
];

/** Dark where most of five places within the module are. */
function sampled(picture, place, size) {
  const modules = new Uint8Array(size * size);
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      let dark = 0;
      for (const [u, v] of withinModule) {
        const at = place(x + u, y + v);
        if (isDark(picture, at.x, at.y)) dark++;
      }
      modules[y * size + x] = dark > 2 ? 1 : 0;
    }
  return modules;
}

// --- what the modules say ------------------------------------------------------------------------

/** By the two bits of a level. */
const levelOfBits = [1, 0, 3, 2];

/** The level of correction and the mask, which stand twice in the code; null when neither can be read. */
function formatOf(at, size) {
  const copies = [0, 0];
  for (let i = 0; i < 15; i++) {
    const [x, y] = i < 8 ? [8, i < 6 ? i : i + 1] : [i === 8 ? 7 : 14 - i, 8];
    copies[0] |= at(x, y) << i;
    copies[1] |= (i < 8 ? at(size - 1 - i, 8) : at(8, size - 15 + i)) << i;
  }
  let best = { distance: 4, bits: 0 };
  for (let bits = 0; bits < 32; bits++) {
    let rest = bits;
    for (let i = 0; i < 10; i++) rest = (rest << 1) ^ ((rest >>> 9) * 0x537);
    const word = ((bits << 10) | rest) ^ 0x5412;
    for (const copy of copies) {
      const distance = (copy ^ word).toString(2).replaceAll("0", "").length;
      if (distance < best.distance) best = { distance, bits };
    }
  }
  return best.distance > 3 ? null : { level: levelOfBits[best.bits >> 3], mask: best.bits & 7 };
}

/** Centres of the small marks, along one side. */
function smallMarks(version) {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.floor((version * 4 + count * 2 + 1) / (count * 2 - 2)) * 2;
  const last = 10 + 4 * version;
  return [6, ...Array.from({ length: count - 1 }, (_, index) => last - step * index)];
}

/** The bytes of all blocks, as they are mixed in the code. */
function codewordsOf(at, version, mask) {
  const size = 17 + 4 * version;
  const centres = smallMarks(version);
  const isFixed = (x, y) =>
    x === 6 ||
    y === 6 ||
    (x < 9 && (y < 9 || y >= size - 8)) ||
    (x >= size - 8 && y < 9) ||
    (version >= 7 && ((x >= size - 11 && y < 6) || (y >= size - 11 && x < 6))) ||
    centres.some(
      (left) =>
        Math.abs(x - left) <= 2 &&
        centres.some((top) => Math.abs(y - top) <= 2 && !isInCorner(left, top, size)),
    );
  const bytes = [];
  let [byte, bits] = [0, 0];
  for (let right = size - 1; right > 0; right -= right === 8 ? 3 : 2)
    for (let along = 0; along < size; along++)
      for (const x of [right, right - 1]) {
        const isUpwards = ((right + 1) & 2) === 0;
        const y = isUpwards ? size - 1 - along : along;
        if (isFixed(x, y)) continue;
        byte = (byte << 1) | (at(x, y) ^ (mask(x, y) === 0 ? 1 : 0));
        bits++;
        if (bits % 8 !== 0) continue;
        bytes.push(byte);
        byte = 0;
      }
  return bytes;
}

const isInCorner = (left, top, size) =>
  (left === 6 && (top === 6 || top === size - 7)) || (left === size - 7 && top === 6);

/** The bytes of the text, block after block; null when a block has more errors than it can correct. */
function correctedBytes(codewords, version, level) {
  const parity = correctionBytes[level][version - 1];
  const count = blockCounts[level][version - 1];
  const shortLength = Math.floor(codewords.length / count);
  const shortCount = count - (codewords.length % count);
  const blocks = Array.from({ length: count }, () => []);
  let next = 0;
  for (let i = 0; i <= shortLength - parity; i++)
    for (const [index, block] of blocks.entries())
      if (i < shortLength - parity || index >= shortCount) block.push(codewords[next++]);
  for (let i = 0; i < parity; i++) for (const block of blocks) block.push(codewords[next++]);
  if (!blocks.every((block) => correct(block, parity))) return null;
  return blocks.flatMap((block) => block.slice(0, block.length - parity));
}

/** Powers of 2 and logarithms in the field of 256 elements that the standard names. */
const powers = new Uint8Array(510);
const logarithms = new Uint8Array(256);
for (let i = 0, power = 1; i < 255; i++) {
  powers[i] = power;
  powers[i + 255] = power;
  logarithms[power] = i;
  power = (power << 1) ^ (power >= 128 ? 0x11d : 0);
}
const multiplied = (a, b) => (a === 0 || b === 0 ? 0 : powers[logarithms[a] + logarithms[b]]);
const divided = (a, b) => (a === 0 ? 0 : powers[logarithms[a] + 255 - logarithms[b]]);
/** The lowest power comes first. */
const valueAt = (polynomial, x) => polynomial.reduceRight((sum, factor) => multiplied(sum, x) ^ factor, 0);

/** Reed-Solomon (Berlekamp and Massey, Chien, Forney). False when there are too many errors. */
function correct(block, parity) {
  const received = [...block].reverse();
  const syndromes = Array.from({ length: parity }, (_, index) => valueAt(received, powers[index]));
  if (syndromes.every((syndrome) => syndrome === 0)) return true;
  const locator = locatorOf(syndromes);
  const errors = locator.length - 1;
  if (errors * 2 > parity) return false;
  const evaluator = syndromes.map((_, index) =>
    locator.slice(0, index + 1).reduce((sum, factor, i) => sum ^ multiplied(factor, syndromes[index - i]), 0),
  );
  const slope = locator.map((factor, index) => (index % 2 === 1 ? factor : 0)).slice(1);
  let found = 0;
  for (let position = 0; position < block.length; position++) {
    const inverse = powers[(255 - position) % 255];
    if (valueAt(locator, inverse) !== 0) continue;
    const by = valueAt(slope, inverse);
    if (by === 0) return false;
    found++;
    block[block.length - 1 - position] ^= multiplied(
      powers[position],
      divided(valueAt(evaluator, inverse), by),
    );
  }
  return found === errors;
}

/** The shortest recurrence that makes the syndromes; its roots are the places of the errors. */
function locatorOf(syndromes) {
  let [locator, before] = [[1], [1]];
  let [length, gap, lastOff] = [0, 1, 1];
  for (let n = 0; n < syndromes.length; n++) {
    let off = 0;
    for (let i = 0; i <= length; i++) off ^= multiplied(locator[i] ?? 0, syndromes[n - i] ?? 0);
    if (off === 0) {
      gap++;
      continue;
    }
    const factor = divided(off, lastOff);
    const kept = locator;
    locator = Array.from(
      { length: Math.max(locator.length, before.length + gap) },
      (_, i) => (locator[i] ?? 0) ^ multiplied(factor, before[i - gap] ?? 0),
    );
    if (2 * length > n) {
      gap++;
      continue;
    }
    length = n + 1 - length;
    before = kept;
    lastOff = off;
    gap = 1;
  }
  return Array.from({ length: length + 1 }, (_, i) => locator[i] ?? 0);
}

const capitals = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:";

/** Null for other kinds of content than digits, capitals and bytes, and for bytes that are no UTF-8. */
export function textOf(bytes, version) {
  let at = 0;
  const left = () => bytes.length * 8 - at;
  const take = (count) => {
    let value = 0;
    for (let i = 0; i < count; i++, at++) value = (value << 1) | ((bytes[at >> 3] >> (7 - (at % 8))) & 1);
    return value;
  };
  const isLarge = version >= 10;
  const text = [];
  while (left() >= 4) {
    const kind = take(4);
    if (kind === 0) break;
    const form = { 1: [10, 12, 3, 10], 2: [9, 11, 2, 11], 4: [8, 16, 1, 8] }[kind];
    if (form === undefined || left() < form[isLarge ? 1 : 0]) return null;
    const [, , group, groupBits] = form;
    let rest = take(form[isLarge ? 1 : 0]);
    while (rest > 0) {
      const count = Math.min(group, rest);
      const width = count === group ? groupBits : kind === 1 ? 3 * count + 1 : 6;
      if (left() < width) return null;
      const part = partOf(kind, take(width), count);
      if (part === null) return null;
      text.push(...part);
      rest -= count;
    }
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(text));
  } catch {
    return null;
  }
}

/** The bytes of a group of digits or capitals, or one byte. */
function partOf(kind, value, count) {
  if (kind === 4) return [value];
  const letters =
    kind === 1
      ? String(value).padStart(count, "0")
      : (count === 2 ? (capitals[Math.floor(value / 45)] ?? "") : "") +
        (capitals[count === 2 ? value % 45 : value] ?? "");
  return letters.length === count ? Array.from(letters, (letter) => letter.charCodeAt(0)) : null;
}
