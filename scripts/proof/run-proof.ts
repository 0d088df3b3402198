import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { arch, availableParallelism, cpus, release, type as systemName, totalmem } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { git, releaseBefore } from "../release-before.ts";
import { signFile, withKey } from "../sign-file.ts";
import { partsOf } from "./parts.ts";
import { type Proof, renderProof } from "./report.ts";
import { type RanPart, runPart } from "./run-part.ts";

const root = path.resolve(import.meta.dirname, "../..");
const namespace = "assay-proof";
export const proofFolder = path.join(root, "dist", "proof");

export const usage = `npm run prove [-- --key FILE] [--from COMMIT] [--seed N] [--out FOLDER] [--minutes N]

  --key FILE   SSH private key that signs proof.json. Default: a temporary key
  --from       the previous release. Default: the last tag or, without one, the commit before the last new migration
  --seed N     seed of random choices. Default: the date (${today()})
  --minutes N  time limit for all parts (60); a part that has not ended by then fails`;

/** Runs every part, and writes the report also when one does not hold. */
export async function runProof(args: readonly string[], chosen: typeof partsOf = partsOf): Promise<boolean> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { key: text, from: text, seed: text, out: text, minutes: text },
  });
  const seed = Number(values.seed ?? today());
  const minutes = Number(values.minutes ?? 60);
  if (!Number.isSafeInteger(seed) || !(minutes > 0)) throw new Error(usage);
  const before = git("rev-parse", "--verify", "--quiet", `${values.from ?? releaseBefore()}^{commit}`);
  const out = path.resolve(values.out ?? proofFolder);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const startedAt = new Date();
  const commit = git("rev-parse", "HEAD");
  const isClean = () => git("status", "--porcelain") === "" && git("rev-parse", "HEAD") === commit;
  const wasClean = isClean();
  const parts: RanPart[] = [];
  for (const part of chosen(seed, before)) {
    console.log(`${new Date().toISOString().slice(11, 19)}  ${part.name}`);
    const ran = await runPart(part, out, startedAt.getTime() + minutes * 60_000);
    parts.push(ran);
    const counts = ran.counts.map(({ what, count, minimum }) => `${what} ${count} (${minimum})`).join(", ");
    console.log(
      `${ran.problems.length === 0 ? "ok  " : "FAIL"}      ${counts}; ${ran.seconds} s, processor ${ran.cpuSeconds ?? "?"} s`,
    );
    for (const problem of ran.problems) console.log(`          ${problem}`);
    if (ran.problems.length > 0) console.log(`          ${path.join(out, `${part.name}.log`)}`);
  }
  const proof: Proof = {
    format: 1,
    version: (JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as { version: string })
      .version,
    commit,
    before,
    // Also at the end: a change in between would be in some parts only.
    isClean: wasClean && isClean(),
    startedAt: startedAt.toISOString(),
    endedAt: new Date().toISOString(),
    seed,
    machine: {
      system: `${systemName()} ${release()} ${arch()}`,
      processor: cpus()[0]?.model ?? "unknown",
      cores: availableParallelism(),
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      node: process.versions.node,
    },
    holds: parts.length > 0 && parts.every(({ problems }) => problems.length === 0),
    parts,
  };
  const file = path.join(out, "proof.json");
  writeFileSync(file, `${JSON.stringify(proof, null, 2)}\n`);
  const digest = createHash("sha256").update(readFileSync(file)).digest("hex");
  writeFileSync(path.join(out, "proof.html"), renderProof(proof, digest));
  const signer = withKey(values.key, (key) => signFile(file, key, namespace));
  console.log(`\n${proof.holds ? "All parts hold" : "Not all parts hold"}: ${file}\nSigned by: ${signer}`);
  if (values.key === undefined) console.log("The key is deleted. Sign a release with --key.");
  return proof.holds;
}

/** The day as a number: a seed that changes, and that the report names. */
function today(): number {
  return Number(new Date().toISOString().slice(0, 10).replaceAll("-", ""));
}
