/** One layer of a network, as the training wrote it down. training/networks.py defines each. */
export type Step =
  | {
      readonly op: "conv" | "ds";
      readonly out: number;
      readonly kernel: readonly [number, number];
      readonly stride: readonly [number, number];
      readonly pad: readonly [number, number];
    }
  | { readonly op: "point" | "maps"; readonly out: number }
  | { readonly op: "keep"; readonly as: string }
  | { readonly op: "join"; readonly with: string }
  | { readonly op: "head"; readonly of: string; readonly out: number };

/** The weights of one layer: [taps][channels] if depthwise, [inputs][outputs] otherwise. */
export type Layer = {
  readonly inputs: number;
  readonly outputs: number;
  readonly weights: Float32Array;
  readonly bias: Float32Array;
};

export type NetworkPlan = { readonly steps: readonly Step[]; readonly layers: readonly Layer[] };

export const networkNames = ["coarse", "refine", "read"] as const;
type NetworkName = (typeof networkNames)[number];
export type NetworkPlans = Readonly<Record<NetworkName, NetworkPlan>>;

/** The files of the reader are not what this version of it was built for. */
export class NetworkFileError extends Error {}

/** Far above what any layer has. They limit what a broken file can make the page allocate. */
const maxChannels = 512;
const maxKernel = 16;
const maxSteps = 100;

/** Reads the plan (parsed JSON) and its weights. Every byte must be used, and every number finite. */
export function readNetworks(plan: unknown, bytes: Uint8Array): NetworkPlans {
  const networks = field(plan, "networks");
  if (field(plan, "version") !== 1) throw new NetworkFileError("The version of the plan is not known");
  let at = 0;
  const one = (name: NetworkName): NetworkPlan => {
    const described = field(networks, name);
    const steps = readSteps(field(described, "steps"));
    const layers: Layer[] = [];
    const began = at;
    for (const size of layerSizes(steps)) {
      const taken = readLayer(size, bytes, at);
      layers.push(taken.layer);
      at = taken.end;
    }
    if (at - began !== field(described, "bytes"))
      throw new NetworkFileError(`The weights of ${name} have the wrong length`);
    return { steps, layers };
  };
  const read = { coarse: one("coarse"), refine: one("refine"), read: one("read") };
  if (at !== bytes.length) throw new NetworkFileError("There are weights that belong to no layer");
  return read;
}

function field(of: unknown, name: string): unknown {
  if (typeof of !== "object" || of === null || Array.isArray(of) || !Object.hasOwn(of, name))
    throw new NetworkFileError(`The plan has no ${name}`);
  return (of as Record<string, unknown>)[name];
}

function whole(value: unknown, from: number, to: number): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < from || value > to)
    throw new NetworkFileError("A number of the plan is out of bounds");
  return value;
}

function pair(value: unknown, from: number, to: number): readonly [number, number] {
  if (!Array.isArray(value) || value.length !== 2)
    throw new NetworkFileError("A part of the plan has to be two numbers");
  return [whole(value[0], from, to), whole(value[1], from, to)];
}

function text(value: unknown): string {
  if (typeof value !== "string" || value.length > 20)
    throw new NetworkFileError("A name of the plan is none");
  return value;
}

function readSteps(value: unknown): readonly Step[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > maxSteps)
    throw new NetworkFileError("The plan has no steps");
  return value.map(readStep);
}

function readStep(value: unknown): Step {
  const op = field(value, "op");
  const out = () => whole(field(value, "out"), 1, maxChannels);
  switch (op) {
    case "conv":
    case "ds": {
      const kernel = pair(field(value, "kernel"), 1, maxKernel);
      const pad = pair(field(value, "pad"), 0, maxKernel);
      // A window wholly outside the picture would have no tap.
      if (pad[0] >= kernel[0] || pad[1] >= kernel[1])
        throw new NetworkFileError("A kernel is smaller than its margin");
      const step = { op, out: out(), kernel, stride: pair(field(value, "stride"), 1, 4), pad } as const;
      if (step.out % 8 !== 0) throw new NetworkFileError("Channels come in multiples of eight");
      return step;
    }
    case "point": {
      const step = { op, out: out() } as const;
      if (step.out % 8 !== 0) throw new NetworkFileError("Channels come in multiples of eight");
      return step;
    }
    case "maps":
      return { op, out: out() };
    case "keep":
      return { op, as: text(field(value, "as")) };
    case "join":
      return { op, with: text(field(value, "with")) };
    case "head":
      return { op, of: text(field(value, "of")), out: out() };
    default:
      throw new NetworkFileError("The plan has a step that is not known");
  }
}

type Size = { readonly inputs: number; readonly outputs: number };

/**
 * The size of each layer, from the steps. Only the first step is an ordinary convolution over one channel.
 */
function layerSizes(steps: readonly Step[]): readonly Size[] {
  const sizes: Size[] = [];
  const kept = new Map<string, number>();
  let channels = 0;
  for (const [index, step] of steps.entries()) {
    if ((step.op === "conv") !== (index === 0))
      throw new NetworkFileError("The first layer, and only that, is a convolution");
    switch (step.op) {
      case "conv":
        sizes.push({ inputs: step.kernel[0] * step.kernel[1], outputs: step.out });
        channels = step.out;
        break;
      case "ds":
        sizes.push({ inputs: step.kernel[0] * step.kernel[1], outputs: channels });
        sizes.push({ inputs: channels, outputs: step.out });
        channels = step.out;
        break;
      case "point":
      case "maps":
        sizes.push({ inputs: channels, outputs: step.out });
        if (step.op === "point") channels = step.out;
        break;
      case "keep":
        kept.set(step.as, channels);
        break;
      case "join":
        if (kept.get(step.with) !== channels)
          throw new NetworkFileError("The joined tensors have different channels");
        break;
      case "head": {
        const inputs = kept.get(step.of);
        if (inputs === undefined) throw new NetworkFileError("The plan uses a tensor that it did not keep");
        sizes.push({ inputs, outputs: step.out });
      }
    }
  }
  return sizes;
}

function readLayer({ inputs, outputs }: Size, bytes: Uint8Array, at: number): { layer: Layer; end: number } {
  const count = inputs * outputs;
  const end = at + outputs * 8 + Math.ceil(count / 4) * 4;
  if (end > bytes.length) throw new NetworkFileError("The weights end too early");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const floats = (from: number) =>
    Float32Array.from({ length: outputs }, (_, index) => {
      const value = view.getFloat32(from + index * 4, true);
      if (!Number.isFinite(value)) throw new NetworkFileError("A weight is not a number");
      return value;
    });
  const scale = floats(at);
  const bias = floats(at + outputs * 4);
  const from = at + outputs * 8;
  const weights = new Float32Array(count);
  for (let index = 0; index < count; index++)
    weights[index] = view.getInt8(from + index) * (scale[index % outputs] ?? 0);
  return { layer: { inputs, outputs, weights, bias }, end };
}
