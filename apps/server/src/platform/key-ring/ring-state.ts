import { minuteMs, secondMs } from "../kernel/clock.ts";
import type { LoadedKey } from "../lib/key-ring.ts";

/**
 * The agreed state of a key on one database. `introduced`: a process has it, nothing is sealed with it.
 * `in_use`: data may be sealed or hashed with it, so every process must have it; the highest generation
 * seals. `retiring`: it only opens data. `retired`: nothing needs it.
 */
export type KeyState = "introduced" | "in_use" | "retiring" | "retired";
export type KnownKey = LoadedKey & { state: KeyState; generation: number | null };

/** A running process as it last reported. `loaded` has the marks of its keys. */
export type RingProcess = {
  id: string;
  name: string;
  loaded: readonly string[];
  sealsWith: string;
  seenAt: Date;
};

/** What a process reports once about itself. */
export type ProcessSelf = { role: string; version: string; codeVersion: number; startedAt: Date };

/** The report of this process. `report` is its state, null while it starts. */
export type OwnProcess = RingProcess & { self: ProcessSelf; report: unknown };

/**
 * A process without a report for this long counts as gone. With half, a slow restart of the database makes
 * live processes look dead. With twice, a killed process delays a rotation by a minute. If it returns, the
 * database rejects data that it seals with a key that is not in use.
 */
export const goneAfterMs = 30 * secondMs;
export const reportEveryMs = 5 * secondMs;
/** How long a process that ended without a report is shown. */
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
 * The problems of a ring, as sentences: needed keys that it lacks, and keys with another secret than the
 * known one.
 */
export function mismatches(loaded: readonly LoadedKey[], known: readonly KnownKey[]): string[] {
  const problems: string[] = [];
  for (const key of known) {
    const own = loaded.find(({ id }) => id === key.id);
    const needed = key.state === "in_use" || key.state === "retiring";
    if (own === undefined && needed)
      problems.push(`The key ring has no key "${key.id}", and data in the database needs it.`);
    if (own !== undefined && own.fingerprint !== key.fingerprint)
      problems.push(`Key "${key.id}" of the ring differs from the key "${key.id}" of this database.`);
  }
  return problems;
}

/**
 * The agreed state of the keys after a process has presented its ring. The first ring is accepted as it is.
 * Later, the first process that has a key introduces it. The key comes into use when it is first in the ring
 * of a process and every live process has it.
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
    // A mistyped new key that no process has any more is replaced by the correct one.
    const replaced =
      key.state === "introduced" && own !== undefined && withoutKey(key, others).length === others.length;
    return replaced ? { ...key, fingerprint: own.fingerprint } : key;
  });
  for (const key of loaded) {
    if (!next.some(({ id }) => id === key.id)) next.push({ ...key, state: "introduced", generation: null });
  }
  if (mismatches(loaded, next).length > 0) return [...known];
  const [first] = loaded;
  const newest = Math.max(0, ...next.map((key) => key.generation ?? 0));
  return next.map((key) =>
    key.id === first?.id && key.state === "introduced" && withoutKey(key, others).length === 0
      ? { ...key, state: "in_use", generation: newest + 1 }
      : key,
  );
}
