import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import fc from "fast-check";
import { fastKernels, plainKernels } from "./kernels.ts";
import { Engine, Network } from "./network.ts";
import { NetworkFileError, networkNames, readNetworks } from "./network-plan.ts";
import { webAssembly } from "./web-assembly.ts";

const file = (name: string) => readFileSync(new URL(`../networks/${name}`, import.meta.url));
const plan = JSON.parse(file("mrz-reader.json").toString());
const weights = new Uint8Array(file("mrz-reader.bin"));
const vectors = JSON.parse(file("runner-vectors.json").toString());

function pictureOf(height: number, width: number): Float32Array {
  return Float32Array.from(
    { length: height * width },
    (_, n) => Math.sin(n * 0.37) + Math.cos(n * n * 0.011),
  );
}

test("the runner computes what the training computed, with vectors and without", () => {
  for (const kind of ["fast", "plain"] as const) {
    const engine = new Engine(kind);
    assert.equal(engine.isFast, kind === "fast");
    const plans = readNetworks(plan, weights);
    for (const name of networkNames) {
      const vector = vectors[name];
      const network = new Network(engine, plans[name]);
      const input = {
        width: vector.width,
        height: vector.height,
        data: pictureOf(vector.height, vector.width),
      };
      // Twice, because the second run finds the numbers of the first in memory.
      network.run(input);
      const { maps, height, width, channels, stride, head } = network.run(input);
      assert.deepEqual([channels, height, width], vector.shape, name);
      const taken = Array.from({ length: vector.maps.length }, (_, n) => {
        const at = n * vector.every;
        const [channel, position] = [Math.floor(at / (height * width)), at % (height * width)];
        return maps[position * stride + channel] ?? Number.NaN;
      });
      for (const [n, value] of taken.entries())
        assert.ok(
          Math.abs(value - vector.maps[n]) < 2e-3,
          `${kind} ${name} ${n}: ${value} ${vector.maps[n]}`,
        );
      for (const [n, value] of (vector.head ?? []).entries())
        assert.ok(
          Math.abs((head[n] ?? Number.NaN) - value) < 2e-3,
          `${kind} ${name} head ${n}: ${head[n]} ${value}`,
        );
    }
  }
});

test("the fast kernels and the plain ones agree on any layer", () => {
  const sizes = fc.record({
    height: fc.integer({ min: 1, max: 7 }),
    width: fc.integer({ min: 1, max: 9 }),
    channels: fc.integer({ min: 1, max: 3 }).map((n) => n * 8),
    outputs: fc.integer({ min: 1, max: 3 }).map((n) => n * 8),
    kernel: fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 9 })),
    stride: fc.tuple(fc.integer({ min: 1, max: 2 }), fc.integer({ min: 1, max: 2 })),
    seed: fc.integer(),
    clamps: fc.integer({ min: 0, max: 1 }),
    adds: fc.boolean(),
  });
  fc.assert(
    fc.property(sizes, ({ height, width, channels, outputs, kernel, stride, seed, clamps, adds }) => {
      const pad = [Math.floor(kernel[0] / 2), Math.floor(kernel[1] / 2)] as const;
      const out = (size: number, axis: 0 | 1) =>
        Math.floor((size + 2 * pad[axis] - kernel[axis]) / stride[axis]) + 1;
      const [rows, columns] = [out(height, 0), out(width, 1)];
      fc.pre(rows > 0 && columns > 0);
      const results = (["fast", "plain"] as const).map((kind) => {
        assert.ok(webAssembly !== null);
        const memory = new webAssembly.Memory({ initial: 2, maximum: 2 });
        const kernels = kind === "fast" ? fastKernels(memory) : plainKernels({ buffer: memory.buffer });
        assert.ok(kernels !== null);
        const floats = new Float32Array(memory.buffer);
        for (let n = 16; n < floats.length; n++) floats[n] = Math.sin(n * 12.9898 + (seed % 1000)) * 2;
        const [weights, bias, middle, end] = [16_000, 28_000, 32_000, 64_000];
        kernels.depthwise(
          64,
          weights,
          bias,
          middle,
          height,
          width,
          channels,
          rows,
          columns,
          ...kernel,
          ...stride,
          ...pad,
        );
        const groups = Math.ceil((rows * columns) / 4);
        kernels.pointwise(middle, weights, bias, end, groups, channels, outputs, adds ? 96_000 : 0, clamps);
        return floats.slice(end / 4, end / 4 + rows * columns * outputs);
      });
      const [fast = new Float32Array(), plain = new Float32Array()] = results;
      for (const [n, value] of fast.entries())
        assert.ok(Math.abs(value - (plain[n] ?? 0)) < 1e-3, `${n}: ${value} ${plain[n]}`);
    }),
    { numRuns: 60 },
  );
});

test("a file of weights that was cut, stretched or changed is refused, or read as other numbers, and never breaks anything else", () => {
  const cut = (bytes: Uint8Array) => assert.throws(() => readNetworks(plan, bytes), NetworkFileError);
  for (const length of [0, 1, 4, 1000, weights.length - 4, weights.length - 1]) cut(weights.slice(0, length));
  cut(new Uint8Array([...weights, 0, 0, 0, 0]));
  const notANumber = weights.slice();
  notANumber.fill(0xff, 0, 4);
  cut(notANumber);
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 0, maxLength: 64 }), fc.nat(weights.length - 1), (bytes, at) => {
      const bent = weights.slice();
      bent.set(bytes.slice(0, weights.length - at), at);
      try {
        readNetworks(plan, bent);
      } catch (error) {
        assert.ok(error instanceof NetworkFileError);
      }
    }),
    { numRuns: 30 },
  );
});

test("a plan that is anything else than a plan is refused", () => {
  const refused = (value: unknown) => assert.throws(() => readNetworks(value, weights), NetworkFileError);
  for (const value of [
    null,
    undefined,
    1,
    "plan",
    [],
    {},
    { version: 1 },
    { version: 2, networks: plan.networks },
  ])
    refused(value);
  fc.assert(
    fc.property(fc.jsonValue(), (value) => refused(value)),
    { numRuns: 50 },
  );
  const bent = (change: (steps: any[]) => unknown) => {
    const copy = structuredClone(plan);
    change(copy.networks.read.steps);
    refused(copy);
  };
  bent((steps) => steps.splice(0));
  bent((steps) => steps.reverse());
  bent((steps) => steps.push({ op: "head", of: "nothing", out: 1 }));
  bent((steps) => steps.push({ op: "join", with: "nothing" }));
  bent((steps) => steps.push({ op: "explode" }));
  bent((steps) => Object.assign(steps[1], { out: 1e9 }));
  bent((steps) => Object.assign(steps[1], { out: 33 }));
  bent((steps) => Object.assign(steps[1], { kernel: [3] }));
  bent((steps) => Object.assign(steps[1], { pad: [3, 3] }));
  bent((steps) => Object.assign(steps[1], { stride: [0, 1] }));
  bent((steps) => Object.assign(steps[1], { kernel: ["3", 3] }));
});
