import { decideZone, type ZoneReading } from "./decide-zone.ts";
import { findZone } from "./find-zone.ts";
import { type Quad, turnedQuad } from "./geometry.ts";
import { type Hint, hintFor } from "./hint.ts";
import { Engine, Network, type Plane } from "./network.ts";
import type { NetworkPlans } from "./network-plan.ts";
import { readLines } from "./read-lines.ts";

export type Sight = {
  /** The corners of the zone in pixels of the frame, in the order of reading. */
  readonly quad: Quad | null;
  readonly reading: ZoneReading;
  readonly hint: Hint;
};

/** Reads one frame after the other. It keeps nothing of a frame: what several of them say together is told by `addReading`. */
export class MrzReader {
  readonly #engine: Engine;
  readonly #coarse: Network;
  readonly #refine: Network;
  readonly #read: Network;

  constructor(plans: NetworkPlans, kind: "fast" | "plain" = "fast") {
    this.#engine = new Engine(kind);
    this.#coarse = new Network(this.#engine, plans.coarse);
    this.#refine = new Network(this.#engine, plans.refine);
    this.#read = new Network(this.#engine, plans.read);
  }

  get memoryBytes(): number {
    return this.#engine.bytes;
  }

  look(frame: Plane, at: Date): Sight {
    const zone = findZone(this.#coarse, this.#refine, frame);
    if (zone === null) return { quad: null, reading: { type: "unclear" }, hint: hintFor(frame, null) };
    const hint = hintFor(frame, zone);
    for (const quad of zone.isTurnSure ? [zone.quad] : [zone.quad, turnedQuad(zone.quad)])
      for (const shape of zone.shapes) {
        const lines = readLines(this.#read, frame, quad, shape);
        const reading = lines === null ? null : decideZone(lines, shape, at);
        if (reading !== null && reading.type !== "unclear") return { quad, reading, hint };
      }
    return { quad: zone.quad, reading: { type: "unclear" }, hint };
  }
}
