import { createHmac, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const secretBytes = 32;

/**
 * This desk's name in a session, the same whenever the command runs, so that a desk that was interrupted comes back to what it has claimed. It differs from
 * session to session, and so links nothing. What it is made of is kept in a file of the user; where none can be written, a desk cannot come back.
 */
export function deskNameFor(session: string, folder: string): string {
  return createHmac("sha256", secretOf(folder)).update(session).digest("base64url");
}

function secretOf(folder: string): Buffer {
  const file = join(folder, "desk-name");
  const known = readSecret(file);
  if (known !== null) return known;
  const made = randomBytes(secretBytes);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(file, made, { mode: 0o600, flag: "wx" });
    return made;
  } catch {
    // Another command may have made it in the meantime.
    return readSecret(file) ?? made;
  }
}

function readSecret(file: string): Buffer | null {
  try {
    const bytes = readFileSync(file);
    return bytes.length === secretBytes ? bytes : null;
  } catch {
    return null;
  }
}
