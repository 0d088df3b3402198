import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { type TarEntry, writeTar } from "../lib/tar.ts";

/** The packages that the service hands out, with the files that `npm pack` would put into them. */
const files = {
  cli: ["package.json", "README.md", "LICENSE", "assay.mjs"],
  webhook: [
    "package.json",
    "README.md",
    "LICENSE",
    "lib/index.js",
    "lib/index.d.ts",
    "lib/event.d.ts",
    "lib/webhook-error.d.ts",
  ],
} as const;

export type PartnerPackage = keyof typeof files;
export const partnerPackages = Object.keys(files) as PartnerPackage[];

/** An archive that `npm install` and `npx` take from an address. */
export async function packageArchive(name: PartnerPackage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of writeTar(entriesOf(name))) parts.push(part);
  return gzipSync(Buffer.concat(parts));
}

async function* entriesOf(name: PartnerPackage): AsyncGenerator<TarEntry> {
  for (const file of files[name]) {
    const bytes = readFileSync(new URL(`../../../../../packages/${name}/${file}`, import.meta.url));
    const content = (async function* () {
      yield bytes;
    })();
    yield { kind: "file", name: `package/${file}`, bytes: bytes.length, content };
  }
}
