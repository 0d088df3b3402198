import { later, minuteMs, secondMs } from "../kernel/clock.ts";

/** What is known of an organization's open sessions without counting them. */
export type Allowance = {
  /** At least as many as are open, and those that processes may still create. */
  bound: number;
  /** Places in blocks that were given out since `windowFrom`, and in the window before it. */
  granted: number;
  grantedBefore: number;
  windowFrom: Date;
};

/**
 * A process uses the places of its block for this long. Half: a quiet organization takes a block for each session. Twice: places that nobody uses are missing
 * for longer near the limit.
 */
export const blockForMs = 10 * secondMs;
/**
 * For at least this long a block counts as not used up, so a creation that began with a place of it has to be committed by then. Half: the longest
 * waits for a lock and a statement together come close to it. Twice: an organization near its limit gets its last places back later.
 */
export const blockCountsForMs = minuteMs;
/** Half: twice the writes of a busy organization. Twice: more places are missing near the limit. */
export const largestBlock = 256;
/** The part of the free places that one process gets at once. Half (128): smaller blocks, more writes. Twice (32): processes that got nothing meet the limit earlier. */
export const blocksPerFreePlaces = 64;
/** A smaller block is not worth its trouble: then every creation takes its place itself, in its own transaction. */
const smallestBlock = 2;

export function blockSize({ bound }: Allowance, limit: number): number {
  const size = Math.min(largestBlock, Math.floor((limit - bound) / blocksPerFreePlaces));
  return size < smallestBlock ? 0 : size;
}

export function withBlock(allowance: Allowance, size: number, now: Date): Allowance {
  const bound = allowance.bound + size;
  if (now < later(allowance.windowFrom, blockCountsForMs))
    return { ...allowance, bound, granted: allowance.granted + size };
  const isNext = now < later(allowance.windowFrom, 2 * blockCountsForMs);
  return { bound, granted: size, grantedBefore: isNext ? allowance.granted : 0, windowFrom: now };
}

/** After counting: what is open, and every place of a block that may be unused. Used ones are counted twice until they are old enough. */
export function recounted(allowance: Allowance, open: number, now: Date): Allowance {
  const { granted, grantedBefore, windowFrom } = allowance;
  const unused =
    now < later(windowFrom, blockCountsForMs)
      ? granted + grantedBefore
      : now < later(windowFrom, 2 * blockCountsForMs)
        ? granted
        : 0;
  return { ...allowance, bound: open + unused };
}

/** The places that one process has for one organization. */
export class Block {
  readonly #until: Date;
  #left: number;

  constructor(size: number, from: Date) {
    this.#left = size;
    this.#until = later(from, blockForMs);
  }

  take(now: Date): boolean {
    if (this.#left === 0 || now >= this.#until) return false;
    this.#left -= 1;
    return true;
  }
}
