import {
  add,
  addFloats,
  assembleModule,
  type Code,
  clampToSix,
  constant,
  get,
  type Kernel,
  less,
  load,
  loadSplat,
  mul,
  mulFloats,
  repeatWhile,
  select,
  set,
  shiftLeft,
  store,
  sub,
  when,
} from "./assemble.ts";
import { type WasmMemory, webAssembly } from "./web-assembly.ts";

/**
 * The two kernels that take nearly all of the time. Addresses are bytes in one memory, tensors are rows of
 * channels. Channels are padded to multiples of eight, rows to multiples of four.
 */
export type Kernels = {
  /**
   * out[row][o] = bias[o] + sum of in[row][i] * weights[i][o], clamped to 0..6 if `clamps`, plus the value at
   * `addend` if that is not zero. Weights are in panels of eight outputs: [o / 8][i][8]. `inputs` is a
   * multiple of four.
   */
  readonly pointwise: (
    input: number,
    weights: number,
    bias: number,
    out: number,
    rowGroups: number,
    inputs: number,
    outputs: number,
    addend: number,
    clamps: number,
  ) => void;
  /** Each channel separately with its own kernel, clamped to 0..6. */
  readonly depthwise: (
    input: number,
    weights: number,
    bias: number,
    out: number,
    height: number,
    width: number,
    channels: number,
    outHeight: number,
    outWidth: number,
    kernelHeight: number,
    kernelWidth: number,
    strideY: number,
    strideX: number,
    padY: number,
    padX: number,
  ) => void;
};

const step = (local: number, by: Code): Code => set(local, add(get(local), by));

function pointwiseKernel(): Kernel {
  const [input, weights, bias, out, groups, inputs, outputs, addend, clamps] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8,
  ] as const;
  const [rowBytes, outBytes, column, panel, end, target, extra] = [9, 10, 11, 12, 13, 14, 15] as const;
  const rows = [16, 17, 18, 19] as const;
  const sums = rows.map((_, row) => [20 + row * 2, 21 + row * 2] as const);
  const [left, right, value] = [28, 29, 30] as const;
  const multiply = (offset: number): Code => [
    set(left, load(get(panel), offset * 32)),
    set(right, load(get(panel), offset * 32 + 16)),
    rows.map((row, index) => [
      set(value, loadSplat(get(row), offset * 4)),
      set(sums[index]?.[0] ?? 0, addFloats(get(sums[index]?.[0] ?? 0), mulFloats(get(value), get(left)))),
      set(sums[index]?.[1] ?? 0, addFloats(get(sums[index]?.[1] ?? 0), mulFloats(get(value), get(right)))),
    ]),
  ];
  const each = (change: (sum: number, row: number, half: number) => Code): Code =>
    sums.map((pair, row) => pair.map((sum, half) => change(sum, row, half)));
  const oneColumn: Code = [
    set(rows[0], get(input)),
    [1, 2, 3].map((row) => set(rows[row] ?? 0, add(get(rows[row - 1] ?? 0), get(rowBytes)))),
    set(end, add(get(input), get(rowBytes))),
    each((sum, _, half) => set(sum, load(add(get(bias), get(column)), half * 16))),
    repeatWhile(less(get(rows[0]), get(end)), [
      [0, 1, 2, 3].map(multiply),
      rows.map((row) => step(row, constant(16))),
      step(panel, constant(128)),
    ]),
    when(
      get(clamps),
      each((sum) => set(sum, clampToSix(get(sum)))),
    ),
    when(get(addend), [
      set(extra, add(get(addend), get(column))),
      sums.map((pair) => [
        pair.map((sum, half) => set(sum, addFloats(get(sum), load(get(extra), half * 16)))),
        step(extra, get(outBytes)),
      ]),
    ]),
    set(target, add(get(out), get(column))),
    sums.map((pair) => [
      pair.map((sum, half) => store(get(target), get(sum), half * 16)),
      step(target, get(outBytes)),
    ]),
    step(column, constant(32)),
  ];
  return {
    name: "pointwise",
    parameters: 9,
    integers: 11,
    vectors: 11,
    body: [
      set(rowBytes, shiftLeft(get(inputs), 2)),
      set(outBytes, shiftLeft(get(outputs), 2)),
      repeatWhile(get(groups), [
        set(column, constant(0)),
        set(panel, get(weights)),
        repeatWhile(less(get(column), get(outBytes)), oneColumn),
        step(input, shiftLeft(get(rowBytes), 2)),
        step(out, shiftLeft(get(outBytes), 2)),
        when(get(addend), step(addend, shiftLeft(get(outBytes), 2))),
        set(groups, sub(get(groups), constant(1))),
      ]),
    ],
  };
}

function depthwiseKernel(): Kernel {
  const [input, weights, bias, out, height, width, channels, outHeight, outWidth] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8,
  ] as const;
  const [kernelHeight, kernelWidth, strideY, strideX, padY, padX] = [9, 10, 11, 12, 13, 14] as const;
  const [bytes, y, x, top, left, fromY, toY, fromX, toX, channel, tapY, tapX, source, weight] = [
    15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
  ] as const;
  const [low, high] = [29, 30] as const;
  const larger = (a: Code, b: Code) => select(b, a, less(a, b));
  const smaller = (a: Code, b: Code) => select(a, b, less(a, b));
  const window = (
    start: number,
    from: number,
    to: number,
    at: number,
    stride: number,
    pad: number,
    size: number,
    kernel: number,
  ): Code => [
    set(start, sub(mul(get(at), get(stride)), get(pad))),
    set(from, larger(constant(0), sub(constant(0), get(start)))),
    set(to, smaller(get(kernel), sub(get(size), get(start)))),
  ];
  const oneChannel: Code = [
    set(low, load(add(get(bias), get(channel)))),
    set(high, load(add(get(bias), get(channel)), 16)),
    set(tapY, get(fromY)),
    repeatWhile(less(get(tapY), get(toY)), [
      set(
        source,
        add(
          add(get(input), get(channel)),
          mul(add(mul(add(get(top), get(tapY)), get(width)), add(get(left), get(fromX))), get(bytes)),
        ),
      ),
      set(
        weight,
        add(
          add(get(weights), get(channel)),
          mul(add(mul(get(tapY), get(kernelWidth)), get(fromX)), get(bytes)),
        ),
      ),
      set(tapX, get(fromX)),
      repeatWhile(less(get(tapX), get(toX)), [
        set(low, addFloats(get(low), mulFloats(load(get(source)), load(get(weight))))),
        set(high, addFloats(get(high), mulFloats(load(get(source), 16), load(get(weight), 16)))),
        step(source, get(bytes)),
        step(weight, get(bytes)),
        step(tapX, constant(1)),
      ]),
      step(tapY, constant(1)),
    ]),
    store(add(get(out), get(channel)), clampToSix(get(low))),
    store(add(get(out), get(channel)), clampToSix(get(high)), 16),
    step(channel, constant(32)),
  ];
  return {
    name: "depthwise",
    parameters: 15,
    integers: 14,
    vectors: 2,
    body: [
      set(bytes, shiftLeft(get(channels), 2)),
      set(y, constant(0)),
      repeatWhile(less(get(y), get(outHeight)), [
        window(top, fromY, toY, y, strideY, padY, height, kernelHeight),
        set(x, constant(0)),
        repeatWhile(less(get(x), get(outWidth)), [
          window(left, fromX, toX, x, strideX, padX, width, kernelWidth),
          set(channel, constant(0)),
          repeatWhile(less(get(channel), get(bytes)), oneChannel),
          step(out, get(bytes)),
          step(x, constant(1)),
        ]),
        step(y, constant(1)),
      ]),
    ],
  };
}

/** Null if the engine has no SIMD: browsers before 2021, and those with WebAssembly switched off. */
export function fastKernels(memory: WasmMemory): Kernels | null {
  try {
    if (webAssembly === null) return null;
    const module = new webAssembly.Module(assembleModule([pointwiseKernel(), depthwiseKernel()]));
    return new webAssembly.Instance(module, { m: { m: memory } }).exports as Kernels;
  } catch {
    return null;
  }
}

/** The same in plain code: for engines without vectors, and what the tests hold the fast ones against. */
export function plainKernels(memory: { readonly buffer: ArrayBuffer }): Kernels {
  const clamp = (value: number) => Math.min(6, Math.max(0, value));
  return {
    pointwise: (input, weights, bias, out, rowGroups, inputs, outputs, addend, clamps) => {
      const floats = new Float32Array(memory.buffer);
      const [from, weight, first, to, extra] = [input / 4, weights / 4, bias / 4, out / 4, addend / 4];
      const sums = new Float32Array(8);
      for (let row = 0; row < rowGroups * 4; row++) {
        for (let column = 0; column < outputs; column += 8) {
          for (let lane = 0; lane < 8; lane++) sums[lane] = floats[first + column + lane] ?? 0;
          for (let i = 0; i < inputs; i++) {
            const value = floats[from + row * inputs + i] ?? 0;
            const panel = weight + (column * inputs + i * 8);
            for (let lane = 0; lane < 8; lane++)
              sums[lane] = (sums[lane] ?? 0) + value * (floats[panel + lane] ?? 0);
          }
          for (let lane = 0; lane < 8; lane++) {
            const at = row * outputs + column + lane;
            const value = clamps === 0 ? (sums[lane] ?? 0) : clamp(sums[lane] ?? 0);
            floats[to + at] = addend === 0 ? value : value + (floats[extra + at] ?? 0);
          }
        }
      }
    },
    depthwise: (input, weights, bias, out, height, width, channels, outHeight, outWidth, ...more) => {
      const [kernelHeight, kernelWidth, strideY, strideX, padY, padX] = more;
      const floats = new Float32Array(memory.buffer);
      const [from, weight, first, to] = [input / 4, weights / 4, bias / 4, out / 4];
      for (let y = 0; y < outHeight; y++)
        for (let x = 0; x < outWidth; x++)
          for (let channel = 0; channel < channels; channel++) {
            let sum = floats[first + channel] ?? 0;
            for (let tapY = 0; tapY < kernelHeight; tapY++) {
              const atY = y * strideY + tapY - padY;
              if (atY < 0 || atY >= height) continue;
              for (let tapX = 0; tapX < kernelWidth; tapX++) {
                const atX = x * strideX + tapX - padX;
                if (atX < 0 || atX >= width) continue;
                sum +=
                  (floats[from + (atY * width + atX) * channels + channel] ?? 0) *
                  (floats[weight + (tapY * kernelWidth + tapX) * channels + channel] ?? 0);
              }
            }
            floats[to + (y * outWidth + x) * channels + channel] = clamp(sum);
          }
    },
  };
}
