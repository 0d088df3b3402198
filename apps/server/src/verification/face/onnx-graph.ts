/** The value between two layers: one picture with this number of channels. */
export type Value = {
  readonly name: string;
  readonly channels: number;
  readonly height: number;
  readonly width: number;
};

/** Numbers with their shape, as a layer's weights are stored. */
export type Weights = {
  readonly shape: readonly number[];
  readonly values: Float32Array;
};

export type Padding = "same" | "valid";

type Attribute = number | { readonly float: number } | readonly number[];

const floatType = 1;
const int64Type = 7;

/**
 * Writes a network in ONNX, layer by layer. Filters are in TensorFlow's order (height, width, in, out),
 * pictures in that of ONNX (channel by channel). Padding is computed here, because TensorFlow's "same" puts
 * the odd pixel at the end.
 */
export class OnnxGraph {
  readonly #nodes: Pieces[] = [];
  readonly #constants: Pieces[] = [];
  readonly #outputs: Pieces[] = [];
  readonly input: Value;
  #count = 0;

  constructor(input: { readonly channels: number; readonly side: number }) {
    this.input = { name: "picture", channels: input.channels, height: input.side, width: input.side };
  }

  /** Scale and bias of each channel are folded into the convolution. */
  conv(
    x: Value,
    filters: Weights,
    options: {
      readonly bias?: ArrayLike<number>;
      readonly scale?: ArrayLike<number>;
      readonly stride?: number;
      readonly padding: Padding;
    },
  ): Value {
    const [height = 1, width = 1, inputs = 1, outputs = 1] = filters.shape;
    const area = height * width;
    const values = new Float32Array(filters.values.length);
    for (let to = 0, next = 0; to < outputs; to++) {
      const scale = options.scale?.[to] ?? 1;
      for (let from = 0; from < inputs; from++)
        for (let at = 0; at < area; at++)
          values[next++] = (filters.values[(at * inputs + from) * outputs + to] ?? 0) * scale;
    }
    return this.#convolved(x, { shape: [outputs, inputs, height, width], values }, 1, options);
  }

  /** One filter for each channel. */
  depthwise(
    x: Value,
    filters: Weights,
    options: { readonly stride?: number; readonly padding: Padding },
  ): Value {
    const [height = 1, width = 1, channels = 1] = filters.shape;
    const area = height * width;
    const values = new Float32Array(filters.values.length);
    for (let at = 0; at < area; at++)
      for (let channel = 0; channel < channels; channel++)
        values[channel * area + at] = filters.values[at * channels + channel] ?? 0;
    return this.#convolved(x, { shape: [channels, 1, height, width], values }, channels, options);
  }

  #convolved(
    x: Value,
    filters: Weights,
    groups: number,
    options: { readonly bias?: ArrayLike<number>; readonly stride?: number; readonly padding: Padding },
  ): Value {
    const [outputs = 1, , height = 1, width = 1] = filters.shape;
    const stride = options.stride ?? 1;
    const window = windowOf(x, [height, width], stride, options.padding);
    const inputs = [x.name, this.#constant(filters)];
    if (options.bias !== undefined)
      inputs.push(this.#constant({ shape: [outputs], values: Float32Array.from(options.bias) }));
    const name = this.#node("Conv", inputs, {
      group: groups,
      kernel_shape: [height, width],
      strides: [stride, stride],
      pads: window.pads,
    });
    return { name, channels: outputs, height: window.height, width: window.width };
  }

  maxPool(x: Value, side: number, stride: number, padding: Padding): Value {
    return this.#pool("MaxPool", x, side, stride, padding);
  }

  averagePool(x: Value, side: number, stride: number): Value {
    return this.#pool("AveragePool", x, side, stride, "valid");
  }

  #pool(operation: string, x: Value, side: number, stride: number, padding: Padding): Value {
    const { pads, height, width } = windowOf(x, [side, side], stride, padding);
    const name = this.#node(operation, [x.name], {
      kernel_shape: [side, side],
      strides: [stride, stride],
      pads,
    });
    return { name, channels: x.channels, height, width };
  }

  mean(x: Value): Value {
    return { ...x, name: this.#node("GlobalAveragePool", [x.name]), height: 1, width: 1 };
  }

  add(a: Value, b: Value): Value {
    if (a.channels !== b.channels || a.height !== b.height || a.width !== b.width)
      throw new Error(`${a.name} and ${b.name} are of different shapes`);
    return { ...a, name: this.#node("Add", [a.name, b.name]) };
  }

  relu(x: Value): Value {
    return { ...x, name: this.#node("Relu", [x.name]) };
  }

  leakyRelu(x: Value, slope: number): Value {
    return { ...x, name: this.#node("LeakyRelu", [x.name], { alpha: { float: slope } }) };
  }

  /**
   * PReLU: multiplies negative values by their channel's slope, as two convolutions of one pixel. The runtime
   * would repack its blocks of channels around its own PReLU: half of the mesh's time.
   */
  parametricRelu(x: Value, slopes: Float32Array): Value {
    const each = (values: Float32Array) => ({ shape: [1, 1, x.channels, 1], values });
    const sloped = this.depthwise(x, each(slopes), { padding: "valid" });
    const rest = each(slopes.map((slope) => 1 - slope));
    return this.add(this.depthwise(this.relu(x), rest, { padding: "valid" }), sloped);
  }

  sigmoid(x: Value): Value {
    return { ...x, name: this.#node("Sigmoid", [x.name]) };
  }

  /** Zeros after the last channel, row and column, up to this shape. */
  grow(x: Value, to: Omit<Value, "name">): Value {
    const added = [to.channels - x.channels, to.height - x.height, to.width - x.width];
    if (added.every((count) => count === 0)) return x;
    if (added.some((count) => count < 0)) throw new Error(`${x.name} is larger than it should become`);
    const pads = this.#integers([0, 0, 0, 0, 0, ...added]);
    return { ...to, name: this.#node("Pad", [x.name, pads]) };
  }

  /** Flattens all values; with `byPlace`, the values of one position stay together. */
  output(x: Value, name: string, options: { readonly byPlace?: boolean } = {}): void {
    const ordered = options.byPlace ? this.#node("Transpose", [x.name], { perm: [0, 2, 3, 1] }) : x.name;
    const size = x.channels * x.height * x.width;
    this.#nodes.push(nodeOf("Reshape", [ordered, this.#integers([size])], name));
    this.#outputs.push(valueInfo(name, [size]));
  }

  bytes(): Uint8Array {
    const { name, channels, height, width } = this.input;
    const graph = [
      ...this.#nodes.flatMap((node) => messageField(1, node)),
      ...textField(2, "face"),
      ...this.#constants.flatMap((constant) => messageField(5, constant)),
      ...messageField(11, valueInfo(name, [1, channels, height, width])),
      ...this.#outputs.flatMap((output) => messageField(12, output)),
    ];
    const operatorSet = [...textField(1, ""), ...integerField(2, 17)];
    return Buffer.concat([...integerField(1, 8), ...messageField(8, operatorSet), ...messageField(7, graph)]);
  }

  #node(
    operation: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, Attribute>> = {},
  ): string {
    const name = `v${++this.#count}`;
    this.#nodes.push(nodeOf(operation, inputs, name, attributes));
    return name;
  }

  #constant({ shape, values }: Weights): string {
    if (shape.reduce((size, side) => size * side, 1) !== values.length)
      throw new Error(`Weights of the shape ${shape.join(" × ")} have ${values.length} values`);
    return this.#stored(
      shape,
      floatType,
      new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
    );
  }

  #integers(values: readonly number[]): string {
    return this.#stored(
      [values.length],
      int64Type,
      new Uint8Array(BigInt64Array.from(values, BigInt).buffer),
    );
  }

  #stored(shape: readonly number[], type: number, bytes: Uint8Array): string {
    const name = `c${++this.#count}`;
    this.#constants.push([
      ...shape.flatMap((side) => integerField(1, side)),
      ...integerField(2, type),
      ...textField(8, name),
      ...messageField(9, [bytes]),
    ]);
    return name;
  }
}

function windowOf(
  x: Value,
  [height, width]: readonly [height: number, width: number],
  stride: number,
  padding: Padding,
): { readonly pads: readonly number[]; readonly height: number; readonly width: number } {
  const along = (size: number, side: number) => {
    const count = padding === "same" ? Math.ceil(size / stride) : Math.floor((size - side) / stride) + 1;
    const missing = padding === "same" ? Math.max((count - 1) * stride + side - size, 0) : 0;
    return { count, before: Math.floor(missing / 2), after: Math.ceil(missing / 2) };
  };
  const [rows, columns] = [along(x.height, height), along(x.width, width)];
  return {
    pads: [rows.before, columns.before, rows.after, columns.after],
    height: rows.count,
    width: columns.count,
  };
}

function nodeOf(
  operation: string,
  inputs: readonly string[],
  output: string,
  attributes: Readonly<Record<string, Attribute>> = {},
): Pieces {
  return [
    ...inputs.flatMap((input) => textField(1, input)),
    ...textField(2, output),
    ...textField(4, operation),
    ...Object.entries(attributes).flatMap(([name, value]) => messageField(5, attributeOf(name, value))),
  ];
}

function attributeOf(name: string, value: Attribute): Pieces {
  if (typeof value === "number")
    return [...textField(1, name), ...integerField(3, value), ...integerField(20, 2)];
  if ("float" in value) return [...textField(1, name), ...floatField(2, value.float), ...integerField(20, 1)];
  return [...textField(1, name), ...value.flatMap((item) => integerField(8, item)), ...integerField(20, 7)];
}

function valueInfo(name: string, shape: readonly number[]): Pieces {
  const dimensions = shape.flatMap((side) => messageField(1, integerField(1, side)));
  const tensor = [...integerField(1, floatType), ...messageField(2, dimensions)];
  return [...textField(1, name), ...messageField(2, messageField(1, tensor))];
}

// The encoding is that of protocol buffers; the numbers of fields and types are those of onnx.proto.

/** Parts to be concatenated once, at the end: the weights are tens of megabytes. */
type Pieces = readonly Uint8Array[];

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

function integerField(field: number, value: number): Pieces {
  return [varint(field * 8), varint(value)];
}

function floatField(field: number, value: number): Pieces {
  return [varint(field * 8 + 5), new Uint8Array(Float32Array.of(value).buffer)];
}

function messageField(field: number, pieces: Pieces): Pieces {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return [varint(field * 8 + 2), varint(length), ...pieces];
}

function textField(field: number, text: string): Pieces {
  return messageField(field, [Buffer.from(text)]);
}
