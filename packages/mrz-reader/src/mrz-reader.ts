import { decideZone, type ZoneReading } from "./decide-zone.ts";
import { type FoundZone, findZone } from "./find-zone.ts";
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

/** Reads one frame after the other and keeps nothing of it: `addSight` combines what several of them say. */
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
    return { ...this.#readAt(frame, zone, at), hint: hintFor(frame, zone) };
  }

  #readAt(frame: Plane, zone: FoundZone | null, at: Date): Omit<Sight, "hint"> {
    if (zone === null) return { quad: null, reading: { kind: "unclear" } };
    for (const quad of zone.isTurnSure ? [zone.quad] : [zone.quad, turnedQuad(zone.quad)])
      for (const shape of zone.shapes) {
        const lines = readLines(this.#read, frame, quad, shape);
        const reading = lines === null ? null : decideZone(lines, shape, at);
        if (reading !== null && reading.kind !== "unclear") return { quad, reading };
      }
    return { quad: zone.quad, reading: { kind: "unclear" } };
  }
}
