import { createHmac, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const secretBytes = 32;

/**
 * This desk's name in a session. It is the same for every run of the command, so an interrupted desk can
 * resume its claim, and differs between sessions, so it links none. The secret is in a file of the user. If
 * it cannot be written, a desk cannot resume.
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
