import { minuteMs, secondMs } from "../kernel/clock.ts";
import type { LoadedKey } from "../lib/key-ring.ts";

/**
 * What the processes on one database have agreed about a key. `introduced`: somebody has it, nothing is sealed with it.
 * `in_use`: data may be sealed or hashed with it, so every process must have it; of these the one with the highest
 * generation seals. `retiring`: it seals no more and is still needed to read. `retired`: nothing needs it.
 */
export type KeyState = "introduced" | "in_use" | "retiring" | "retired";
export type KnownKey = LoadedKey & { state: KeyState; generation: number | null };

/** A running process as it last reported: `loaded` are marks of its keys. */
export type RingProcess = {
  id: string;
  name: string;
  loaded: readonly string[];
  sealsWith: string;
  seenAt: Date;
};

/** What a process says once about itself. */
export type ProcessSelf = { role: string; version: string; codeVersion: number; startedAt: Date };

/** This process as it reports. `report` says how it fares, and is null while it starts. */
export type OwnProcess = RingProcess & { self: ProcessSelf; report: unknown };

/**
 * A process that has not reported for this long counts as gone. Processes report, and look at the keys, every 5 s and when the keys change: at
 * half of this a database that restarts slowly would make living processes look dead; at twice this a killed one holds
 * up a rotation for a minute. One that is taken for dead and comes back loses nothing: the database refuses what it
 * seals with a key that is no longer in use.
 */
export const goneAfterMs = 30 * secondMs;
export const reportEveryMs = 5 * secondMs;
/** How long one is shown that ended without saying so. */
export const forgottenAfterMs = 60 * minuteMs;

/** Id and fingerprint: two keys with the same id and different secrets are different keys. */
export function markOf({ id, fingerprint }: LoadedKey): string {
  return `${id}:${fingerprint}`;
}

export function isLive(process: RingProcess, now: Date): boolean {
  return now.getTime() - process.seenAt.getTime() < goneAfterMs;
}

export function withoutKey(key: LoadedKey, processes: readonly RingProcess[]): RingProcess[] {
  return processes.filter((process) => !process.loaded.includes(markOf(key)));
}

export function sealingElsewhere(keyId: string, processes: readonly RingProcess[]): RingProcess[] {
  return processes.filter((process) => process.sealsWith !== keyId);
}

/** The key that seals: the one that came into use last. */
export function sealingKey(known: readonly KnownKey[]): KnownKey | null {
  const inUse = known.filter((key) => key.state === "in_use");
  return inUse.reduce<KnownKey | null>(
    (newest, key) => ((newest?.generation ?? -1) > (key.generation ?? -1) ? newest : key),
    null,
  );
}

/**
 * What is wrong with a ring, as sentences: keys that stored data needs and the ring lacks, and keys whose secret is not
 * the one that is known under their id.
 */
export function misfits(loaded: readonly LoadedKey[], known: readonly KnownKey[]): string[] {
  const problems: string[] = [];
  for (const key of known) {
    const own = loaded.find(({ id }) => id === key.id);
    const needed = key.state === "in_use" || key.state === "retiring";
    if (own === undefined && needed)
      problems.push(`The key ring has no key "${key.id}", and data in the database needs it.`);
    if (own !== undefined && own.fingerprint !== key.fingerprint)
      problems.push(
        `Key "${key.id}" of the ring is another key than the one this database knows as "${key.id}".`,
      );
  }
  return problems;
}

/**
 * The agreed state of the keys after a process has brought its ring. The very first ring is taken as it is. Later a key
 * is introduced by the first process that has it, and comes into use when it is first in the ring of some process and
 * every living process has it.
 */
export function admitKeys(
  known: readonly KnownKey[],
  loaded: readonly LoadedKey[],
  others: readonly RingProcess[],
): KnownKey[] {
  if (known.length === 0)
    return loaded.map((key, place) => ({ ...key, state: "in_use", generation: loaded.length - place }));
  const next = known.map((key) => {
    const own = loaded.find(({ id }) => id === key.id);
    // A mistyped new key that no process holds any more is replaced by the right one.
    const replaced =
      key.state === "introduced" && own !== undefined && withoutKey(key, others).length === others.length;
    return replaced ? { ...key, fingerprint: own.fingerprint } : key;
  });
  for (const key of loaded) {
    if (!next.some(({ id }) => id === key.id)) next.push({ ...key, state: "introduced", generation: null });
  }
  if (misfits(loaded, next).length > 0) return [...known];
  const [first] = loaded;
  const newest = Math.max(0, ...next.map((key) => key.generation ?? 0));
  return next.map((key) =>
    key.id === first?.id && key.state === "introduced" && withoutKey(key, others).length === 0
      ? { ...key, state: "in_use", generation: newest + 1 }
      : key,
  );
}
