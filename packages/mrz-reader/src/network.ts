import { fastKernels, type Kernels, plainKernels } from "./kernels.ts";
import type { Layer, NetworkPlan, Step } from "./network-plan.ts";
import { type WasmMemory, webAssembly } from "./web-assembly.ts";

/** A picture of one channel, row by row. */
export type Plane = { readonly width: number; readonly height: number; readonly data: Float32Array };

export type Output = {
  /** Row by row, position by position, `stride` numbers each, of which the first `channels` are used. */
  readonly maps: Float32Array;
  readonly height: number;
  readonly width: number;
  readonly channels: number;
  readonly stride: number;
  readonly head: readonly number[];
};

/** Memory for the kernels, and the kernels. */
export class Engine {
  readonly kernels: Kernels;
  readonly isFast: boolean;
  readonly #memory: WasmMemory | { buffer: ArrayBuffer };
  #used = 64;

  constructor(kind: "fast" | "plain" = "fast") {
    const memory = kind === "fast" ? wasmMemory() : null;
    const fast = memory === null ? null : fastKernels(memory);
    this.isFast = fast !== null;
    const plain = { buffer: new ArrayBuffer(1 << 16) };
    this.#memory = fast !== null && memory !== null ? memory : plain;
    this.kernels = fast ?? plainKernels(plain);
  }

  get bytes(): number {
    return this.#memory.buffer.byteLength;
  }

  /** Valid until the next `reserve`. */
  floats(): Float32Array {
    return new Float32Array(this.#memory.buffer);
  }

  /** For good: weights. */
  keep(values: Float32Array): number {
    const at = this.#used;
    this.#used += Math.ceil(values.length / 4) * 16;
    this.reserve(0);
    this.floats().set(values, at / 4);
    return at;
  }

  /** The address of room for `count` floats, which the next network that runs may overwrite. */
  reserve(count: number): number {
    const missing = this.#used + count * 4 - this.#memory.buffer.byteLength;
    if (missing > 0) {
      if ("grow" in this.#memory) this.#memory.grow(Math.ceil(missing / 65_536));
      else {
        const larger = new ArrayBuffer(this.#memory.buffer.byteLength + missing);
        new Uint8Array(larger).set(new Uint8Array(this.#memory.buffer));
        this.#memory.buffer = larger;
      }
    }
    return this.#used;
  }
}

function wasmMemory(): WasmMemory | null {
  try {
    return webAssembly === null ? null : new webAssembly.Memory({ initial: 1, maximum: 1024 });
  } catch {
    return null;
  }
}

type Placed = {
  readonly weights: number;
  readonly bias: number;
  readonly inputs: number;
  readonly outputs: number;
};
type Tensor = {
  readonly at: number;
  readonly height: number;
  readonly width: number;
  readonly channels: number;
};

const roundedUp = (value: number, to: number) => Math.ceil(value / to) * to;
/** A group of rows more than there are, because the kernel works on four at a time. */
const floatsOf = (height: number, width: number, channels: number) =>
  roundedUp(height * width, 4) * roundedUp(channels, 8);

export class Network {
  readonly #engine: Engine;
  readonly #steps: readonly Step[];
  readonly #placed: readonly (Placed | Layer)[];

  constructor(engine: Engine, plan: NetworkPlan) {
    this.#engine = engine;
    this.#steps = plan.steps;
    let next = 0;
    const placed: (Placed | Layer)[] = [];
    for (const step of plan.steps) {
      const count = step.op === "ds" ? 2 : step.op === "keep" || step.op === "join" ? 0 : 1;
      for (const layer of plan.layers.slice(next, next + count)) {
        const isDepthwise = step.op === "ds" && placed.length === next;
        placed.push(
          step.op === "head" ? layer : isDepthwise ? placeTaps(engine, layer) : placePanels(engine, layer),
        );
      }
      next += count;
    }
    this.#placed = placed;
  }

  run(input: Plane): Output {
    const run = new Run(this.#engine, this.#placed, input, this.#steps);
    for (const step of this.#steps) run.step(step);
    return run.output();
  }
}

function placeTaps(engine: Engine, layer: Layer): Placed {
  return {
    weights: engine.keep(layer.weights),
    bias: engine.keep(layer.bias),
    inputs: layer.inputs,
    outputs: layer.outputs,
  };
}

/** In the order in which the kernel reads them: panels of eight outputs. */
function placePanels(engine: Engine, layer: Layer): Placed {
  const [inputs, outputs] = [roundedUp(layer.inputs, 4), roundedUp(layer.outputs, 8)];
  const panels = new Float32Array(inputs * outputs);
  for (let input = 0; input < layer.inputs; input++)
    for (let output = 0; output < layer.outputs; output++)
      panels[(output - (output % 8)) * inputs + input * 8 + (output % 8)] =
        layer.weights[input * layer.outputs + output] ?? 0;
  const bias = new Float32Array(outputs);
  bias.set(layer.bias);
  return { weights: engine.keep(panels), bias: engine.keep(bias), inputs, outputs };
}

const outputSize = (size: number, kernel: number, stride: number, pad: number) =>
  Math.floor((size + 2 * pad - kernel) / stride) + 1;

/** One picture on its way through a network. */
class Run {
  readonly #engine: Engine;
  readonly #layers: readonly (Placed | Layer)[];
  readonly #kept = new Map<string, Tensor>();
  readonly #input: Plane;
  #next = 0;
  #free: number;
  #flow: Tensor = { at: 0, height: 0, width: 0, channels: 0 };
  #maps: Tensor | null = null;
  #head: readonly number[] = [];
  #mapChannels = 0;

  constructor(engine: Engine, layers: readonly (Placed | Layer)[], input: Plane, steps: readonly Step[]) {
    this.#engine = engine;
    this.#layers = layers;
    this.#input = input;
    this.#free = engine.reserve(roomFor(steps, input));
  }

  #take(height: number, width: number, channels: number): Tensor {
    const tensor = { at: this.#free, height, width, channels };
    this.#free += floatsOf(height, width, channels) * 4;
    return tensor;
  }

  #layer(): Placed {
    const layer = this.#layers[this.#next++];
    if (layer === undefined || typeof layer.weights !== "number")
      throw new Error("The plan does not fit its layers");
    return layer as Placed;
  }

  step(step: Step): void {
    switch (step.op) {
      case "conv":
        this.#flow = this.#pointwise(this.#columns(step), true);
        break;
      case "ds":
        this.#separable(step);
        break;
      case "point":
        this.#flow = this.#pointwise(this.#flow, false);
        break;
      case "maps":
        this.#maps = this.#pointwise(this.#flow, false);
        this.#mapChannels = step.out;
        break;
      case "keep":
        this.#kept.set(step.as, this.#flow);
        break;
      case "join":
        this.#join(this.#keptAs(step.with));
        break;
      case "head":
        this.#head = this.#meanHead(this.#keptAs(step.of));
    }
  }

  #keptAs(name: string): Tensor {
    const tensor = this.#kept.get(name);
    if (tensor === undefined) throw new Error(`Nothing was kept as ${name}`);
    return tensor;
  }

  #pointwise(from: Tensor, clamps: boolean, addend: Tensor | null = null): Tensor {
    const layer = this.#layer();
    const out = this.#take(from.height, from.width, layer.outputs);
    this.#engine.kernels.pointwise(
      from.at,
      layer.weights,
      layer.bias,
      out.at,
      Math.ceil((from.height * from.width) / 4),
      layer.inputs,
      layer.outputs,
      addend?.at ?? 0,
      clamps ? 1 : 0,
    );
    return out;
  }

  /**
   * The pixels under the kernel at each position, as a row,
   * so that the first layer is pointwise too (im2col).
   */
  #columns(step: Extract<Step, { op: "conv" | "ds" }>): Tensor {
    const { width, height, data } = this.#input;
    const [kernel, stride, pad] = [step.kernel, step.stride, step.pad];
    const rows = outputSize(height, kernel[0], stride[0], pad[0]);
    const columns = outputSize(width, kernel[1], stride[1], pad[1]);
    const taps = roundedUp(kernel[0] * kernel[1], 4);
    const tensor = this.#take(rows, columns, taps);
    const floats = this.#engine.floats();
    floats.fill(0, tensor.at / 4, tensor.at / 4 + floatsOf(rows, columns, taps));
    let at = tensor.at / 4;
    for (let y = 0; y < rows; y++)
      for (let x = 0; x < columns; x++, at += taps)
        for (let tapY = 0; tapY < kernel[0]; tapY++) {
          const atY = y * stride[0] + tapY - pad[0];
          if (atY < 0 || atY >= height) continue;
          for (let tapX = 0; tapX < kernel[1]; tapX++) {
            const atX = x * stride[1] + tapX - pad[1];
            if (atX >= 0 && atX < width) floats[at + tapY * kernel[1] + tapX] = data[atY * width + atX] ?? 0;
          }
        }
    return tensor;
  }

  #separable(step: Extract<Step, { op: "conv" | "ds" }>): void {
    const from = this.#flow;
    const layer = this.#layer();
    const [kernel, stride, pad] = [step.kernel, step.stride, step.pad];
    const height = outputSize(from.height, kernel[0], stride[0], pad[0]);
    const width = outputSize(from.width, kernel[1], stride[1], pad[1]);
    const middle = this.#take(height, width, from.channels);
    this.#engine.kernels.depthwise(
      from.at,
      layer.weights,
      layer.bias,
      middle.at,
      from.height,
      from.width,
      from.channels,
      height,
      width,
      ...kernel,
      ...stride,
      ...pad,
    );
    const stays = height === from.height && width === from.width && step.out === from.channels;
    this.#flow = this.#pointwise(middle, true, stays ? from : null);
  }

  #join(kept: Tensor): void {
    const from = this.#flow;
    if (kept.height !== from.height * 2 || kept.width !== from.width * 2)
      throw new Error("A picture for this network has sides that halve evenly");
    const out = this.#take(kept.height, kept.width, kept.channels);
    const floats = this.#engine.floats();
    const channels = kept.channels;
    for (let y = 0; y < kept.height; y++)
      for (let x = 0; x < kept.width; x++) {
        const source = from.at / 4 + ((y >> 1) * from.width + (x >> 1)) * channels;
        const position = (y * kept.width + x) * channels;
        for (let channel = 0; channel < channels; channel++)
          floats[out.at / 4 + position + channel] =
            (floats[source + channel] ?? 0) + (floats[kept.at / 4 + position + channel] ?? 0);
      }
    this.#flow = out;
  }

  #meanHead(of: Tensor): readonly number[] {
    const layer = this.#layers[this.#next++];
    if (layer === undefined || typeof layer.weights === "number" || typeof layer.bias === "number")
      throw new Error("The plan does not fit its layers");
    const floats = this.#engine.floats();
    const positions = of.height * of.width;
    const mean = new Float64Array(of.channels);
    for (let position = 0; position < positions; position++)
      for (let channel = 0; channel < of.channels; channel++)
        mean[channel] = (mean[channel] ?? 0) + (floats[of.at / 4 + position * of.channels + channel] ?? 0);
    const { weights, bias, outputs } = layer;
    return Array.from({ length: outputs }, (_, output) =>
      mean.reduce(
        (sum, value, channel) => sum + (value / positions) * (weights[channel * outputs + output] ?? 0),
        bias[output] ?? 0,
      ),
    );
  }

  output(): Output {
    const maps = this.#maps;
    if (maps === null) throw new Error("The plan has no maps");
    const stride = roundedUp(this.#mapChannels, 8);
    const from = maps.at / 4;
    return {
      maps: this.#engine.floats().slice(from, from + maps.height * maps.width * stride),
      height: maps.height,
      width: maps.width,
      channels: this.#mapChannels,
      stride,
      head: this.#head,
    };
  }
}

/** Memory for all tensors of a run. They are small, so no memory is reused within a run. */
function roomFor(steps: readonly Step[], input: Plane): number {
  let [height, width, channels, total] = [input.height, input.width, 1, 0];
  const kept = new Map<string, readonly [number, number]>();
  for (const step of steps) {
    if (step.op === "conv" || step.op === "ds") {
      height = outputSize(height, step.kernel[0], step.stride[0], step.pad[0]);
      width = outputSize(width, step.kernel[1], step.stride[1], step.pad[1]);
      if (height < 1 || width < 1) throw new Error("The picture is too small for this network");
      total += floatsOf(height, width, step.op === "conv" ? step.kernel[0] * step.kernel[1] : channels);
      channels = step.out;
    } else if (step.op === "keep") kept.set(step.as, [height, width]);
    else if (step.op === "join") [height, width] = kept.get(step.with) ?? [height, width];
    else if (step.op === "point") channels = step.out;
    const outputs = step.op === "maps" ? step.out : channels;
    total += floatsOf(height, width, outputs);
  }
  return total;
}
