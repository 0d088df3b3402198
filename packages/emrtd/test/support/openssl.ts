import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { toBase64 } from "../../src/base64.ts";

export function openssl(...args: readonly string[]) {
  return spawnSync("openssl", args, { encoding: "utf8", timeout: 20_000 });
}

/** Pass it as the `skip` option of a test that lets OpenSSL judge what we made or judged. */
export const skipWithoutOpenssl: string | false =
  openssl("version").status === 0 ? false : "openssl is not installed";

export function pem(label: string, bytes: Uint8Array): string {
  return `-----BEGIN ${label}-----\n${toBase64(bytes).replace(/.{64}(?=.)/g, "$&\n")}\n-----END ${label}-----\n`;
}

/** Runs with a temporary folder; `write` returns the path of the file that it wrote. */
export function inFolder(run: (write: (name: string, content: Uint8Array | string) => string) => void): void {
  const folder = mkdtempSync(path.join(tmpdir(), "openssl-"));
  try {
    run((name, content) => {
      writeFileSync(path.join(folder, name), content);
      return path.join(folder, name);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
