import { decideCovered, decideZone, type ZoneReading } from "./decide-zone.ts";
import { type FoundZone, findZone } from "./find-zone.ts";
import { type Quad, turnedQuad } from "./geometry.ts";
import { type Hint, hintFor } from "./hint.ts";
import { Engine, Network, type Plane } from "./network.ts";
import type { NetworkPlans } from "./network-plan.ts";
import { readLines } from "./read-lines.ts";

/** As it was seen where it was found, there with fillers for what is covered, or at another place. */
export type HowRead = "seen" | "covered" | "elsewhere";

export type Sight = {
  /** The corners of the zone in pixels of the frame, in the order of reading. */
  readonly quad: Quad | null;
  readonly reading: ZoneReading;
  readonly how: HowRead;
  readonly hint: Hint;
};

/** What the frames before say about where to look. */
export type Tip = {
  /** Which other place is read where the first reads as nothing. */
  readonly way: number;
  /** How often that may fail before it is another. */
  readonly patience: number;
  /** Where the zone was in the frame before. */
  readonly quad: Quad | null;
};

/** Reads one frame after the other. It keeps nothing of a frame: what several of them say together is told by `addSight`. */
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

  /** Without a tip the frame is read where its zone is found, or not at all. */
  look(frame: Plane, at: Date, tip: Tip | null = null): Sight {
    const { zone, otherwise } = findZone(this.#coarse, this.#refine, frame);
    const first = this.#readAt(frame, zone, at);
    if (tip === null || first.reading.type !== "unclear") return { ...first, hint: hintFor(frame, zone) };
    const other = otherwise(tip.way, tip.quad);
    const second = this.#readAt(frame, other, at);
    const hint = hintFor(frame, zone ?? other);
    // That a document is a visa is believed only where the zone was found by itself.
    if (second.reading.type === "key") return { ...second, how: "elsewhere", hint };
    return { ...first, quad: first.quad ?? second.quad, hint };
  }

  #readAt(frame: Plane, zone: FoundZone | null, at: Date): Omit<Sight, "hint"> {
    const unclear = { reading: { type: "unclear" }, how: "seen" } as const;
    if (zone === null) return { ...unclear, quad: null };
    for (const quad of zone.isTurnSure ? [zone.quad] : [zone.quad, turnedQuad(zone.quad)])
      for (const shape of zone.shapes) {
        const read = readLines(this.#read, frame, quad, shape);
        if (read === null) continue;
        const { lines, isCovered } = read;
        const reading = isCovered ? decideCovered(lines, shape, at) : decideZone(lines, shape, at);
        if (reading.type !== "unclear") return { quad, reading, how: isCovered ? "covered" : "seen" };
      }
    return { ...unclear, quad: zone.quad };
  }
}
