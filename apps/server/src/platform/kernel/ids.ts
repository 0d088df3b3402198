import { hash, randomFillSync } from "node:crypto";
import { type IdPrefix, idLengths } from "@assay/contract/facts";
import type { DeliveryAttemptId, DeliveryId, Id, PrefixedIdOf, UuidId } from "@assay/contract/ids";

// In ASCII order, so that ids sort as text (collation "C") by the time at their beginning.
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const timeLength = 8;

let pool = Buffer.alloc(0);
let used = 0;

/** Bytes are drawn for many ids at once: a call for each costs more than the rest of an id. */
function randomByte(): number {
  if (used === pool.length) {
    pool = randomFillSync(Buffer.allocUnsafe(8192));
    used = 0;
  }
  const byte = pool[used] ?? 0;
  // Used bytes are wiped: they are parts of secrets.
  pool[used] = 0;
  used += 1;
  return byte;
}

/** So many random bytes in hexadecimal. */
export function randomHex(bytes: number): string {
  return Array.from({ length: bytes }, () => randomByte().toString(16).padStart(2, "0")).join("");
}

/** Characters of [0-9A-Za-z], uniformly distributed. */
export function randomText(length: number): string {
  let text = "";
  while (text.length < length) {
    const byte = randomByte() & 63;
    if (byte < alphabet.length) text += alphabet[byte];
  }
  return text;
}

/** A number in our alphabet, with leading zeros so that it sorts as text. */
function numberText(number: number, length: number): string {
  let rest = number;
  let text = "";
  for (let i = 0; i < length; i++) {
    text = alphabet[rest % alphabet.length] + text;
    rest = Math.floor(rest / alphabet.length);
  }
  return text;
}

function timeText(at: Date): string {
  // The bounds of a list come from callers, and may be before 1970 or too large for eight characters.
  return numberText(Math.min(Math.max(at.getTime(), 0), alphabet.length ** timeLength - 1), timeLength);
}

// Ids that one process creates in the same millisecond sort in order of creation.
const sequenceLength = 2;
const maxSequence = alphabet.length ** sequenceLength - 1;
let sequenceMs = Number.NaN;
let sequence = 0;

function nextSequence(now: Date): number {
  sequence = now.getTime() === sequenceMs ? Math.min(sequence + 1, maxSequence) : 0;
  sequenceMs = now.getTime();
  return sequence;
}

/**
 * `vs_…` and the like. The first ten characters are the creation time in milliseconds and a sequence number,
 * so ids sort by age. The others are random, 321 bits in the long form.
 */
export function newId<P extends IdPrefix>(prefix: P, now: Date): PrefixedIdOf<P> {
  const order = timeText(now) + numberText(nextSequence(now), sequenceLength);
  return knownId(`${prefix}_${order}${randomText(idLengths[prefix] - order.length)}`);
}

/**
 * Text that is known to be an id of this type, because this service made it. Ids from callers get their type
 * from the contract when they are validated, and stored ids from the type of their row.
 */
export function knownId<T extends Id<string>>(text: string): T {
  return text as T;
}

/** A caller may write a UUID in capitals, but ids are compared in lower case. */
export function lowerCased<T extends UuidId>(id: T): T {
  return knownId(id.toLowerCase());
}

/** The smallest id of this prefix that can be created at or after `at`. */
export function idFloor(prefix: IdPrefix, at: Date): string {
  return `${prefix}_${timeText(at)}`;
}

/** The creation time of an id with a prefix. */
export function madeAt(id: string): Date {
  let ms = 0;
  for (const character of id.slice(id.indexOf("_") + 1).slice(0, timeLength))
    ms = ms * alphabet.length + alphabet.indexOf(character);
  return new Date(ms);
}

/** Upper limit for the clock difference between processes that create related ids. */
const clocksApartMs = 3_600_000;

/**
 * Bounds of the ids of this prefix that were created between `id` and `withinMs` later. If the operator has
 * partitioned the table, PostgreSQL skips the other partitions.
 */
export function madeSoonAfter(prefix: IdPrefix, id: string, withinMs: number): { from: string; to: string } {
  const at = madeAt(id).getTime();
  return {
    from: idFloor(prefix, new Date(at - clocksApartMs)),
    to: idFloor(prefix, new Date(at + withinMs + clocksApartMs)),
  };
}

/** Bounds of the ids of this prefix that were created in the same millisecond as `id`. `to` is exclusive. */
export function madeWith(prefix: IdPrefix, id: Id<string>): { from: string; to: string } {
  const time = id.slice(id.indexOf("_") + 1).slice(0, timeLength);
  // The tilde sorts after every character of an id.
  return { from: `${prefix}_${time}`, to: `${prefix}_${time}~` };
}

/**
 * The id of the attempt that delivered: the time of the attempt and the rest of the delivery's id. A delivery
 * has at most one, so it is not stored.
 */
export function arrivalIdOf(id: DeliveryId, attemptedAt: Date): DeliveryAttemptId {
  return knownId(`wha_${timeText(attemptedAt)}${id.slice(id.indexOf("_") + 1).slice(timeLength)}`);
}

/**
 * UUID version 7: ordered by creation time like the ids above. Its type follows from the context, or is
 * given: `newUuid<UserId>(now)`.
 */
export function newUuid<T extends UuidId>(now: Date): T {
  const bytes = Buffer.allocUnsafe(16);
  for (let i = 8; i < 16; i++) bytes[i] = randomByte();
  bytes.writeUIntBE(now.getTime(), 0, 6);
  bytes.writeUInt16BE(0x7000 | nextSequence(now), 6);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString("hex");
  return knownId(
    `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`,
  );
}

/** The smallest UUID of version 7 that can be created at or after `at`. */
export function uuidFloor(at: Date): string {
  const hex = Math.max(at.getTime(), 0).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7000-8000-000000000000`;
}

/** The creation time of a UUID of version 7. */
export function uuidTime(id: UuidId): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

/** A secret of 256 bits for links, cookies and access tokens. */
export function newToken(): string {
  return randomText(43);
}

/** The stored form of a token. A token has 256 random bits, so a plain hash is safe. */
export function hashToken(token: string): Buffer {
  return hash("sha256", token, "buffer");
}
