import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { type TarEntry, writeTar } from "../lib/tar.ts";

/** The packages that the service offers, with the files that `npm pack` or an sdist would have. */
const packages = {
  cli: { folder: "cli", files: ["package.json", "README.md", "LICENSE", "dist/assay.mjs"] },
  webhook: {
    folder: "webhook",
    files: [
      "package.json",
      "README.md",
      "LICENSE",
      "lib/index.js",
      "lib/index.d.ts",
      "lib/event.d.ts",
      "lib/webhook-error.d.ts",
    ],
  },
  "webhook-python": {
    folder: "webhook/python",
    files: [
      "pyproject.toml",
      "README.md",
      "LICENSE",
      "assay_webhook/__init__.py",
      "assay_webhook/event.py",
      "assay_webhook/py.typed",
    ],
  },
} as const;

export type PartnerPackage = keyof typeof packages;
export const partnerPackages = Object.keys(packages) as PartnerPackage[];

/** An archive that `npm install`, `npx` or `pip install` accepts from a URL. */
export async function packageArchive(name: PartnerPackage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of writeTar(entriesOf(name))) parts.push(part);
  return gzipSync(Buffer.concat(parts));
}

async function* entriesOf(name: PartnerPackage): AsyncGenerator<TarEntry> {
  const { folder, files } = packages[name];
  for (const file of files) {
    const bytes = readFileSync(new URL(`../../../../../packages/${folder}/${file}`, import.meta.url));
    const content = (async function* () {
      yield bytes;
    })();
    yield { kind: "file", name: `package/${file}`, bytes: bytes.length, content };
  }
}
