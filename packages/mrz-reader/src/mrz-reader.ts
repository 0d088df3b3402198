import { mrzLayouts } from "@assay/emrtd/mrz/mrz-layout";
import { decideCovered, decideZone, type ZoneReading } from "./decide-zone.ts";
import { type FoundZone, findZone } from "./find-zone.ts";
import { type Quad, turnedQuad } from "./geometry.ts";
import { type Hint, hintFor } from "./hint.ts";
import { Engine, Network, type Plane } from "./network.ts";
import type { NetworkPlans } from "./network-plan.ts";
import { type ReadLine, readLines } from "./read-lines.ts";
import type { ZoneShape } from "./zone-shape.ts";

/** What was read between four corners taken as a zone of this shape. */
export type ReadZone = { readonly shape: ZoneShape; readonly lines: readonly ReadLine[] };

/** As it was seen where it was found, there with fillers for what is covered, or at another place. */
export type HowRead = "seen" | "covered" | "elsewhere";

export type Sight = {
  /** The corners of the zone in pixels of the frame, in the order of reading. */
  readonly quad: Quad | null;
  readonly reading: ZoneReading;
  /** What the reading was made of: of every shape that was tried, the clearest. */
  readonly zones: readonly ReadZone[];
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
    const zones = clearest([...first.zones, ...second.zones]);
    return { ...first, quad: first.quad ?? second.quad, zones, hint };
  }

  #readAt(frame: Plane, zone: FoundZone | null, at: Date): Omit<Sight, "hint"> {
    const unclear = { reading: { type: "unclear" }, how: "seen" } as const;
    if (zone === null) return { ...unclear, quad: null, zones: [] };
    const zones: ReadZone[] = [];
    for (const quad of zone.isTurnSure ? [zone.quad] : [zone.quad, turnedQuad(zone.quad)])
      for (const shape of zone.shapes) {
        const read = readLines(this.#read, frame, quad, shape);
        if (read === null) continue;
        const { lines, isCovered } = read;
        const reading = isCovered ? decideCovered(lines, shape, at) : decideZone(lines, shape, at);
        // What was supposed in one frame does not add up with what was seen in others.
        const seen = isCovered ? [] : [{ shape, lines }];
        const how = isCovered ? "covered" : "seen";
        if (reading.type !== "unclear") return { quad, reading, zones: seen, how };
        zones.push(...seen);
      }
    return { ...unclear, quad: zone.quad, zones: clearest(zones) };
  }
}

/** Of each shape the zone whose characters are surest on average. */
function clearest(zones: readonly ReadZone[]): readonly ReadZone[] {
  const best = new Map<ZoneShape, { zone: ReadZone; clarity: number }>();
  for (const zone of zones) {
    const clarity = clarityOf(zone);
    if (clarity > (best.get(zone.shape)?.clarity ?? 0)) best.set(zone.shape, { zone, clarity });
  }
  return [...best.values()].map(({ zone }) => zone);
}

/** Nothing for a zone with a line that does not read as so many characters. */
function clarityOf({ shape, lines }: ReadZone): number {
  let [sum, count] = [0, 0];
  for (const [index, line] of lines.entries()) {
    if (index === mrzLayouts[shape].name.line) continue;
    if (line.length === 0) return 0;
    for (const segment of line) {
      sum += Math.max(...segment);
      count++;
    }
  }
  return sum / Math.max(1, count);
}
