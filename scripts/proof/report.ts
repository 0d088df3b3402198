import type { RanPart } from "./run-part.ts";

export type Proof = {
  format: 1;
  version: string;
  commit: string;
  /** The release that was upgraded from. */
  before: string;
  /** Whether the files were those of the commit. */
  isClean: boolean;
  startedAt: string;
  endedAt: string;
  seed: number;
  machine: { system: string; processor: string; cores: number; memoryGiB: number; node: string };
  holds: boolean;
  parts: readonly RanPart[];
};

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const text = (value: string | number) => String(value).replace(/[&<>"]/g, (found) => escapes[found] ?? "");
const number = (value: number) => value.toLocaleString("en");

/** One self-contained page for people. `proof.json` is the signed file. */
export function renderProof(proof: Proof, digest: string): string {
  const { machine, parts } = proof;
  const cpu = parts.reduce((sum, { cpuSeconds }) => sum + (cpuSeconds ?? 0), 0);
  const facts: [string, string][] = [
    ["Result", proof.holds ? "All parts hold." : "Not all parts hold."],
    ["Version", proof.version],
    ["Commit", `${proof.commit}${proof.isClean ? "" : ", with changes"}`],
    ["Release before", proof.before],
    ["Date", `${proof.startedAt} to ${proof.endedAt}`],
    ["Time", `${minutes(parts.reduce((sum, { seconds }) => sum + seconds, 0))}, processor ${minutes(cpu)}`],
    [
      "Machine",
      `${machine.processor}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.system}, Node ${machine.node}`,
    ],
    ["Seed", String(proof.seed)],
    ["SHA-256 of proof.json", digest],
  ];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Proof of Assay ${text(proof.version)}</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse } th, td { text-align: left; vertical-align: top; padding: 0.25rem 1rem 0.25rem 0 }
td.number { text-align: right; font-variant-numeric: tabular-nums } code { overflow-wrap: anywhere }
</style>
<h1>Proof of Assay ${text(proof.version)}</h1>
<table>
${facts.map(([name, value]) => `<tr><th scope="row">${text(name)}</th><td>${text(value)}</td></tr>`).join("\n")}
</table>
${parts.map(renderPart).join("\n")}
<h2>Run it again</h2>
<p>Check out the commit and run <code>npm run prove -- --seed ${text(proof.seed)} --from ${text(proof.before)}</code>. It needs Node and npm; with PgBouncer installed, connections also go through it.</p>
<p>Verify the signature: <code>ssh-keygen -Y verify -f allowed_signers -I release@assay -n assay-proof -s proof.json.sig &lt; proof.json</code></p>
</html>
`;
}

function renderPart({ name, promise, command, seconds, cpuSeconds, counts, problems }: RanPart): string {
  const rows = counts.map(
    ({ what, count, minimum }) =>
      `<tr><th scope="row">${text(what)}</th><td class="number">${number(count)}</td><td class="number">${number(minimum)}</td></tr>`,
  );
  return `<section>
<h2>${text(name)}: ${problems.length === 0 ? "holds" : "does not hold"}</h2>
<p>${text(promise)}</p>
${problems.map((problem) => `<p><strong>${text(problem)}</strong></p>`).join("\n")}
<table>
<tr><th scope="col">Counted</th><th scope="col">Number</th><th scope="col">Minimum</th></tr>
${rows.join("\n")}
</table>
<p>${minutes(seconds)}${cpuSeconds === null ? "" : `, processor ${minutes(cpuSeconds)}`}: <code>${text(command)}</code></p>
</section>`;
}

const minutes = (seconds: number) => `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
