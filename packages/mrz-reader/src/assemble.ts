/** Just enough of the binary format of WebAssembly to write two kernels down as data. */

export type Code = readonly (number | Code)[];

function flatten(code: Code): number[] {
  return code.flatMap((part) => (typeof part === "number" ? [part] : flatten(part)));
}

function unsigned(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  do {
    const low = rest & 0x7f;
    rest >>>= 7;
    out.push(rest === 0 ? low : low | 0x80);
  } while (rest !== 0);
  return out;
}

function signed(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  for (;;) {
    const low = rest & 0x7f;
    rest >>= 7;
    if ((rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0)) return [...out, low];
    out.push(low | 0x80);
  }
}

const i32 = 0x7f;
const v128 = 0x7b;

export const get = (local: number): Code => [0x20, ...unsigned(local)];
export const set = (local: number, value: Code): Code => [value, 0x21, ...unsigned(local)];
export const constant = (value: number): Code => [0x41, ...signed(value)];
export const add = (a: Code, b: Code): Code => [a, b, 0x6a];
export const sub = (a: Code, b: Code): Code => [a, b, 0x6b];
export const mul = (a: Code, b: Code): Code => [a, b, 0x6c];
export const shiftLeft = (a: Code, bits: number): Code => [a, constant(bits), 0x74];
export const less = (a: Code, b: Code): Code => [a, b, 0x48];
export const select = (a: Code, b: Code, condition: Code): Code => [a, b, condition, 0x1b];
export const when = (condition: Code, body: Code): Code => [condition, 0x04, 0x40, body, 0x0b];
/** Runs the body once, and again while the condition holds after it. */
export const repeatWhile = (condition: Code, body: Code): Code => [
  0x03,
  0x40,
  body,
  condition,
  0x0d,
  0x00,
  0x0b,
];

const simd = (opcode: number): Code => [0xfd, ...unsigned(opcode)];
/** Alignment is guaranteed to a float only. */
const at = (offset: number): Code => [2, ...unsigned(offset)];
export const load = (address: Code, offset = 0): Code => [address, simd(0x00), at(offset)];
export const loadSplat = (address: Code, offset = 0): Code => [address, simd(0x09), at(offset)];
export const store = (address: Code, value: Code, offset = 0): Code => [
  address,
  value,
  simd(0x0b),
  at(offset),
];
export const addFloats = (a: Code, b: Code): Code => [a, b, simd(0xe4)];
export const mulFloats = (a: Code, b: Code): Code => [a, b, simd(0xe6)];
const floats = (value: number): Code => {
  const bytes = [...new Uint8Array(new Float32Array([value]).buffer)];
  return [simd(0x0c), bytes, bytes, bytes, bytes];
};
/**
 * Clamps to 0..6 with the comparisons that are one instruction on every processor (pseudo-minimum and
 * -maximum).
 */
export const clampToSix = (a: Code): Code => [a, floats(0), simd(0xeb), floats(6), simd(0xea)];

export type Kernel = {
  readonly name: string;
  readonly parameters: number;
  readonly integers: number;
  readonly vectors: number;
  readonly body: Code;
};

const section = (id: number, content: Code): Code => {
  const bytes = flatten(content);
  return [id, ...unsigned(bytes.length), bytes];
};
const list = (items: readonly Code[]): Code => [...unsigned(items.length), items];
const name = (text: string): Code => [
  ...unsigned(text.length),
  ...[...text].map((letter) => letter.charCodeAt(0)),
];

/** A module that imports its memory as `m.m` and exports the kernels. */
export function assembleModule(kernels: readonly Kernel[]): Uint8Array<ArrayBuffer> {
  const types = kernels.map(
    (kernel): Code => [0x60, list(Array.from({ length: kernel.parameters }, () => [i32])), 0],
  );
  const bodies = kernels.map((kernel): Code => {
    const bytes = flatten([
      list([
        [...unsigned(kernel.integers), i32],
        [...unsigned(kernel.vectors), v128],
      ]),
      kernel.body,
      0x0b,
    ]);
    return [...unsigned(bytes.length), bytes];
  });
  return new Uint8Array(
    flatten([
      [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
      section(1, list(types)),
      section(2, list([[name("m"), name("m"), 0x02, 0x00, 0x01]])),
      section(3, list(kernels.map((_, index) => unsigned(index)))),
      section(7, list(kernels.map((kernel, index) => [name(kernel.name), 0x00, ...unsigned(index)]))),
      section(10, list(bodies)),
    ]),
  );
}
