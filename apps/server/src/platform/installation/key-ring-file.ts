import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { hasCode } from "../lib/error-code.ts";
import { ExplainedError } from "../lib/explained-error.ts";
import { formatRing, KeyRing, newRingKey, parseRing, type RingKey } from "../lib/key-ring.ts";
import { dataDirMode, explainFolderError } from "./data-dir.ts";

/** The name of the file in DATA_DIR and in its backups. */
export const keyRingFileName = "secret-keys";

export function keyRingPath(dataDir: string): string {
  return join(dataDir, keyRingFileName);
}

/** The text of the ring of an installation; null if it does not exist yet. */
export function readRing(config: { secretKeys: string; dataDir: string }): string | null {
  if (config.secretKeys !== "") return config.secretKeys;
  const path = keyRingPath(config.dataDir);
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}

/**
 * Opens the ring of an installation without SECRET_KEYS: a file that only its owner can read, created at the
 * first start.
 */
export function openRingFile(path: string): KeyRing {
  const read = () => parseRing(readFileSync(path, "utf8"));
  try {
    return new KeyRing(read(), read);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) {
      const explained = explainFolderError(error, dirname(path));
      throw explained !== error
        ? explained
        : new ExplainedError(`${path} cannot be used: ${(error as Error).message}`);
    }
  }
  mkdirSync(dirname(path), { recursive: true, mode: dataDirMode() });
  const temporary = writeTemporary(path, [newRingKey([])]);
  try {
    // `link` fails if the file exists: if two processes start first, one creates the ring and both use it.
    linkSync(temporary, path);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  } finally {
    unlinkSync(temporary);
  }
  return new KeyRing(read(), read);
}

/** Replaces the file atomically. */
export function writeRingFile(path: string, keys: readonly RingKey[]): void {
  renameSync(writeTemporary(path, keys), path);
}

function writeTemporary(path: string, keys: readonly RingKey[]): string {
  const temporary = `${path}.${process.pid}.new`;
  const file = openSync(temporary, "w", 0o600);
  try {
    writeSync(file, `${formatRing(keys)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return temporary;
}
