import type { FastifyReply, FastifyRequest } from "fastify";
import { KeyedSlots } from "../lib/keyed-slots.ts";

/**
 * Bodies that are being received. With half, people on bad networks behind one address are refused. With
 * twice, few addresses can take all of the memory.
 */
const maxReading = 1024;
const maxReadingOfAddress = 128;
/** The limit of nearly every route. A larger body counts as several, and does not wait for a slot. */
export const usualBodyBytes = 64 * 1024;

/**
 * Reads a body before its request takes a slot, so that a slow client only holds its connection. Node ends a
 * request that takes longer than `requestTimeout`.
 */
export class BodyReader {
  readonly #addresses = new KeyedSlots<string>(maxReadingOfAddress);
  reading = 0;

  /**
   * Calls `done` unless the client disconnects first: with the body, or null if there is none or the
   * framework refuses its length.
   */
  read(
    { raw, headers, routeOptions: { bodyLimit } }: FastifyRequest,
    { raw: response }: FastifyReply,
    address: string,
    done: (body: Buffer | "bodies_full" | null) => void,
  ): void {
    const isChunked = headers["transfer-encoding"] !== undefined;
    // A body without a length is read up to the size at which it is refused.
    const length = isChunked ? bodyLimit + 1 : Number(headers["content-length"] ?? 0);
    if (length === 0 || (length > bodyLimit && !isChunked)) {
      // The framework expects a body if there is a content type.
      done(length > 0 || headers["content-type"] === undefined ? null : Buffer.alloc(0));
      return;
    }
    // Data that came with the headers has been parsed by then.
    process.nextTick(() => {
      if (response.destroyed) return;
      if (raw.complete) return done(raw.read() ?? Buffer.alloc(0));
      const weight = Math.ceil(length / (usualBodyBytes + 1));
      const taken = Array.from({ length: weight }, () => this.#addresses.take(address));
      if (taken.includes(null) || this.reading + weight > maxReading) {
        for (const giveBack of taken) giveBack?.();
        return done("bodies_full");
      }
      this.reading += weight;
      const bytes = Buffer.allocUnsafe(length);
      let received = 0;
      const take = () => {
        for (let chunk = raw.read(); chunk !== null; chunk = raw.read())
          received += chunk.copy(bytes, received);
        if (raw.complete || received === length) end();
      };
      const end = () => {
        raw.off("readable", take);
        response.off("close", end);
        this.reading -= weight;
        for (const giveBack of taken) giveBack?.();
        if (!response.destroyed) done(bytes.subarray(0, received));
      };
      raw.on("readable", take);
      response.once("close", end);
    });
  }
}
