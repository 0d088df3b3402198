import type { IncomingMessage, ServerResponse } from "node:http";
import { bodyLimitOf } from "@assay/contract/route";
import { routes } from "@assay/contract/routes";
import { secondMs } from "../kernel/clock.ts";
import { pathOf, pathPattern } from "./known-paths.ts";

const noBytes = Buffer.alloc(0);
const kibibyte = 1024;
const usualBytes = 64 * kibibyte;
const largeBodies = routes
  .map((route) => ({ pattern: pathPattern(route.path), bytes: bodyLimitOf(route) }))
  .filter(({ bytes }) => bytes > usualBytes);

/** Halved, people on bad networks behind one address are refused; doubled, fewer addresses can take all of it. */
const maxReading = 2048;
const maxReadingOfAddress = 128;
const maxBytes = 64 * kibibyte * kibibyte;
const maxBytesOfAddress = 8 * kibibyte * kibibyte;

const maxChunks = 64;

/** After this time a body must have come at this rate, from its beginning. Node ends what takes longer than its `requestTimeout`. */
const graceMs = 5 * secondMs;
const minBytesPerSecond = kibibyte;

type Reading = { since: number; bytes: number; tooSlow: () => void };
type Outcomes = {
  /** The body, or null where it is larger than any that the route takes: the framework refuses it by its length. */
  complete: (body: Buffer | null) => void;
  full: () => void;
  tooSlow: () => void;
  /** The client has left before it was complete. */
  lost: () => void;
};

/** Reads bodies before their requests take a slot, so that a slow client holds nothing but its connection and a part of the budget here. */
export class Bodies {
  readonly #reading = new Set<Reading>();
  readonly #addresses = new Map<string, { count: number; bytes: number }>();
  #bytes = 0;
  #timer: NodeJS.Timeout | null = null;

  get reading(): number {
    return this.#reading.size;
  }

  /** Calls one of the outcomes. */
  receive(request: IncomingMessage, response: ServerResponse, address: string, outcomes: Outcomes): void {
    const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
    const limit = limitOf(request);
    if (Number(length) > limit) outcomes.complete(null);
    else if (Number(length) === 0 && encoding === undefined) outcomes.complete(noBytes);
    // What came in one piece with the headers is parsed by then, and takes no part in the limits.
    else
      process.nextTick(() => {
        if (request.complete) outcomes.complete(request.read() ?? noBytes);
        else if (response.destroyed) outcomes.lost();
        else this.#read(request, response, address, limit, outcomes);
      });
  }

  #read(
    request: IncomingMessage,
    response: ServerResponse,
    address: string,
    limit: number,
    { complete, full, tooSlow, lost }: Outcomes,
  ): void {
    const mine = this.#addresses.get(address) ?? { count: 0, bytes: 0 };
    if (this.#reading.size >= maxReading || mine.count >= maxReadingOfAddress) {
      full();
      return;
    }
    this.#addresses.set(address, mine);
    mine.count += 1;
    let chunks: Buffer[] = [];
    const reading = { since: performance.now(), bytes: 0, tooSlow: () => end(tooSlow) };
    const end = (outcome: () => void) => {
      if (!this.#reading.delete(reading)) return;
      request.removeListener("readable", take);
      this.#bytes -= reading.bytes;
      mine.bytes -= reading.bytes;
      mine.count -= 1;
      if (mine.count === 0) this.#addresses.delete(address);
      outcome();
    };
    const take = () => {
      for (let chunk: Buffer | null = request.read(); chunk !== null; chunk = request.read()) {
        chunks.push(chunk);
        reading.bytes += chunk.length;
        mine.bytes += chunk.length;
        this.#bytes += chunk.length;
      }
      // Thousands of pieces of one byte would take more memory than they are counted with.
      if (chunks.length > maxChunks) chunks = [Buffer.concat(chunks)];
      // One that is too large is refused by its length, so the rest of it need not come.
      if (request.complete || reading.bytes > limit) end(() => complete(Buffer.concat(chunks)));
      else if (this.#bytes > maxBytes || mine.bytes > maxBytesOfAddress) end(full);
    };
    this.#reading.add(reading);
    this.#timer ??= setInterval(() => this.#endSlow(), secondMs).unref();
    response.once("close", () => end(lost));
    request.on("readable", take);
  }

  #endSlow(): void {
    const now = performance.now();
    for (const { since, bytes, tooSlow } of this.#reading) {
      const ms = now - since;
      if (ms > graceMs && bytes < (minBytesPerSecond * ms) / secondMs) tooSlow();
    }
    if (this.#reading.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

function limitOf({ url = "" }: IncomingMessage): number {
  return largeBodies.find(({ pattern }) => pattern.test(pathOf(url)))?.bytes ?? usualBytes;
}
