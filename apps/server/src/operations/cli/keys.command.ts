import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { type Command, CommandError } from "@assay/cli/command";
import type { Db } from "../../platform/db/db.ts";
import { keyRingPath, writeRingFile } from "../../platform/installation/key-ring-file.ts";
import { withDatabase } from "../../platform/installation/open-installation.ts";
import { type Clock, secondMs } from "../../platform/kernel/clock.ts";
import { listLiveProcesses, reconcileRing } from "../../platform/key-ring/ring-member.ts";
import { fenceKey, listKnownKeys, setKeyState } from "../../platform/key-ring/ring-state.store.ts";
import {
  type KnownKey,
  type RingProcess,
  sealingElsewhere,
  sealingKey,
  withoutKey,
} from "../../platform/key-ring/ring-state.ts";
import { countSealedWith, hashesUnder, resealAll } from "../../platform/key-ring/sealed-columns.store.ts";
import { formatRing, KeyRing, newRingKey, parseRing, type RingKey } from "../../platform/lib/key-ring.ts";
import { sqlState } from "../../platform/lib/sql-state.ts";

// Must be longer than a killed process counts as running. Otherwise a rotation after a crash would fail.
const waitSeconds = 60;
const lookAgainMs = 250;

type Work = {
  db: Db;
  clock: Clock;
  waitMs: number;
  print: (line: string) => void;
  /** The ring as this command found it. */
  keys: readonly RingKey[];
  /** File of the ring; null if it comes from SECRET_KEYS, which only the operator can change. */
  path: string | null;
};

export const keysRotate: Command = {
  name: "keys rotate",
  about:
    "Put a new key into use once every running process has it, and reseal all stored data with it. Old keys stay in the ring until --retire finds them unused.",
  examples: ["keys rotate", "keys rotate --retire"],
  options: {
    retire: { type: "boolean", about: "Add no key; remove old keys that are no longer needed." },
    wait: {
      type: "string",
      about: `Seconds to wait for running processes. Default: ${waitSeconds}.`,
      placeholder: "SECONDS",
    },
  },
  run: ({ options }, print) => {
    const seconds = Number(options.wait ?? waitSeconds);
    if (!(seconds >= 0 && seconds <= 86_400)) throw new CommandError("--wait must be a number of seconds.");
    return withDatabase(process.env, async (db, { config, clock }) => {
      const path = config.secretKeys === "" ? keyRingPath(config.dataDir) : null;
      const keys = parseRing(path === null ? config.secretKeys : readFileSync(path, "utf8"));
      const work: Work = { db, clock, waitMs: seconds * secondMs, print, keys, path };
      return options.retire ? retire(work) : rotate(work);
    });
  },
};

const isInFile = () => (process.env.SECRET_KEYS_FILE ?? "").trim() !== "";

/** Idempotent: a key that is not in use yet is put into use before another one is added. */
async function rotate(work: Work): Promise<number> {
  const { db, clock, print, path } = work;
  const before = await listKnownKeys(db);
  const known = await reconcileRing(db, new KeyRing(work.keys), clock.now(), null);
  const waiting = work.keys.find(
    (key) => before.length > 0 && (stateOf(before, key.id) ?? "introduced") === "introduced",
  );
  if (waiting === undefined && path === null) {
    const next = [...work.keys, newRingKey([...work.keys, ...known])];
    print(
      isInFile()
        ? "1. Write this ring to the file that SECRET_KEYS_FILE names, for every process. Running processes reload it by themselves:"
        : "1. Set SECRET_KEYS to this ring on every process and restart them, one after the other:",
    );
    print(formatRing(next));
    print("2. Run `assay keys rotate` again with this ring: it puts the new key into use.");
    return 0;
  }
  const fresh = waiting ?? newRingKey([...work.keys, ...known]);
  const next = [fresh, ...work.keys.filter((key) => key !== fresh)];
  // Written before anything is sealed with it, so that a crash leaves every value readable.
  if (path !== null) writeRingFile(path, next);
  const ring = new KeyRing(next);
  await waitFor(
    work,
    `load key ${fresh.id}`,
    async () => {
      const now = await reconcileRing(db, ring, clock.now(), null);
      const key = now.find(({ id }) => id === fresh.id);
      if (key === undefined || key.state !== "introduced") return [];
      return withoutKey(key, await listLiveProcesses(db, clock.now()));
    },
    path === null
      ? "Give them the ring with this key, and run `assay keys rotate` again. Until then the old key stays in use, and nothing is lost."
      : "Until they have it the old key stays in use, and nothing is lost. Run `assay keys rotate` again to continue.",
  );
  await waitUntilAllSealWith(work, fresh.id);
  await reseal(work, sealing(next, fresh.id));
  for (const key of next.slice(1)) {
    for (const reason of await hashesUnder(db, key.id, clock.now())) print(`Key ${key.id} stays: ${reason}`);
  }
  return 0;
}

async function reseal({ db, clock, print }: Work, ring: KeyRing): Promise<void> {
  const { resealed, stuck } = await resealAll(db, ring, clock.now());
  print(`Current key: ${ring.currentId}. Resealed: ${resealed}.`);
  if (stuck > 0)
    print(
      `${stuck} cannot be resealed and stay as they are; \`assay jobs\` lists them. Their keys are still needed.`,
    );
}

async function retire(work: Work): Promise<number> {
  const { db, clock, print, path } = work;
  const known = await reconcileRing(db, new KeyRing(work.keys), clock.now(), null);
  const current = sealingKey(known);
  if (current === null) throw new CommandError("No key of the ring is in use.");
  const ring = sealing(work.keys, current.id);
  await reseal(work, ring);
  const old = known.filter(
    (key) => key.id !== current.id && (key.state === "in_use" || key.state === "retiring"),
  );
  if (old.length > 0) await waitUntilAllSealWith(work, current.id);
  for (const key of old) {
    const kept = await retireKey(work, ring, key);
    for (const reason of kept) print(`Key ${key.id} stays: ${reason}`);
  }
  // Includes keys that an earlier run retired but could not remove.
  const now = await listKnownKeys(db);
  const gone = work.keys.filter((key) => stateOf(now, key.id) === "retired");
  if (gone.length === 0) {
    print("No key can be retired yet.");
    return 0;
  }
  print(`Retired: ${gone.map((key) => key.id).join(", ")}.`);
  const left = work.keys.filter((key) => !gone.includes(key));
  if (path === null) {
    print(isInFile() ? "Write to the file that SECRET_KEYS_FILE names:" : "Set SECRET_KEYS to:");
    print(formatRing(left));
  } else {
    writeRingFile(path, left);
  }
  return 0;
}

/** Returns the reasons that keep the key, as sentences; empty if it is retired. */
async function retireKey({ db, clock }: Work, ring: KeyRing, key: KnownKey): Promise<string[]> {
  const before = await hashesUnder(db, key.id, clock.now());
  if (before.length > 0) return before;
  if (!(await fence(db, key.id))) return ["a request that stores something takes long. Try again."];
  // From here on nothing new is stored under the key, so this check is final.
  await resealAll(db, ring, clock.now());
  const hashes = await hashesUnder(db, key.id, clock.now());
  if (hashes.length > 0 || (await countSealedWith(db, key.id)) > 0) {
    await setKeyState(db, key.id, "retiring", "in_use", clock.now());
    return hashes.length > 0 ? hashes : ["some values are still sealed with it."];
  }
  await setKeyState(db, key.id, "retiring", "retired", clock.now());
  return [];
}

async function fence(db: Db, keyId: string): Promise<boolean> {
  for (let attempt = 1; attempt <= 5; attempt++) {
    try {
      await fenceKey(db, keyId);
      return true;
    } catch (error) {
      const lockNotAvailable = "55P03";
      if (sqlState(error) !== lockNotAvailable) throw error;
      // Lets requests proceed that waited for this lock.
      await wait(2 * secondMs);
    }
  }
  return false;
}

function waitUntilAllSealWith(work: Work, keyId: string): Promise<void> {
  const { db, clock } = work;
  return waitFor(
    work,
    `seal with key ${keyId}`,
    async () => sealingElsewhere(keyId, await listLiveProcesses(db, clock.now())),
    "No key was removed and nothing is lost. Run the command again when these processes are healthy or have ended.",
  );
}

/**
 * Polls until no process is behind. Prints the names of those that are, and fails after the limit with
 * `advice`.
 */
async function waitFor(
  { clock, waitMs, print }: Work,
  what: string,
  behind: () => Promise<RingProcess[]>,
  advice: string,
): Promise<void> {
  const deadline = clock.now().getTime() + waitMs;
  let said = "";
  for (;;) {
    const names = (await behind()).map((process) => process.name).join(", ");
    if (names === "") return;
    if (names !== said) print(`Waiting for running processes to ${what}: ${names}.`);
    said = names;
    if (clock.now().getTime() >= deadline)
      throw new CommandError(`These processes did not ${what} in time: ${names}. ${advice}`);
    await wait(lookAgainMs);
  }
}

function sealing(keys: readonly RingKey[], keyId: string): KeyRing {
  const ring = new KeyRing(keys);
  ring.sealWith(keyId);
  return ring;
}

function stateOf(known: readonly KnownKey[], keyId: string): KnownKey["state"] | null {
  return known.find((key) => key.id === keyId)?.state ?? null;
}
