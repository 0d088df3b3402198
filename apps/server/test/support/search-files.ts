import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A common part of the planted texts, so that a file without it is searched only once. */
export const plantedPart = "zqmark";

/** Where each of the texts stands, byte by byte, in any file below a folder: `text: file`. */
export function searchFiles(folder: string, texts: readonly string[]): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    found.push(...searchBytes(readIfThere(path), texts).map((text) => `${text}: ${path}`));
  }
  return found;
}

const hexMark = "hex-";

/** Bytes as a text to search for: they are found in raw form and, as in a backup, in hexadecimal. */
export function asHex(bytes: Buffer): string {
  return hexMark + bytes.toString("hex");
}

export function searchBytes(bytes: Buffer, texts: readonly string[]): string[] {
  const planted = bytes.includes(plantedPart);
  const holds = (text: string) => {
    if (!text.startsWith(hexMark)) return bytes.includes(text);
    const hex = text.slice(hexMark.length);
    return bytes.includes(hex) || bytes.includes(Buffer.from(hex, "hex"));
  };
  return texts.filter((text) => (planted || !text.includes(plantedPart)) && holds(text));
}

/** A running server removes files while they are searched. */
function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}
