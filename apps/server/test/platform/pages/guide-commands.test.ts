import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after } from "node:test";
import { createPartner } from "../../support/api.ts";
import { DnsServer } from "../../support/dns-server.ts";
import { openLive } from "../../support/live.ts";
import { drawPng } from "../../support/pictures.ts";
import { startTestService } from "../../support/service.ts";

const root = path.join(import.meta.dirname, "../../../../..");
const missing = ["bash", "curl", "jq", "openssl"].find(
  (program) => spawnSync(program, ["--version"], { stdio: "ignore" }).error !== undefined,
);
const skip = missing === undefined ? false : `no ${missing} on this machine`;

const dns = await new DnsServer().start();
after(() => dns.close());
dns.set("partner.example.com", "A", "93.184.216.34");
dns.set("shop.example.com", "A", "93.184.216.34");
const { url, api, core } = await startTestService({ env: { DNS_RESOLVERS: dns.address } });
const { owner, key, organizationId } = await createPartner(api);

const folder = mkdtempSync(path.join(tmpdir(), "assay-guides-"));
after(() => rmSync(folder, { recursive: true, force: true }));
symlinkSync(path.join(root, "examples"), path.join(folder, "examples"));
writeFileSync(path.join(folder, "logo.png"), drawPng(80, 80));

/** The shell blocks of a guide, for this service instead of the one that the guide has. */
const blocksOf = (guide: string) =>
  [...readFileSync(path.join(root, `docs/${guide}.md`), "utf8").matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(
    ([, code = ""]) => code.replace(/^(?:BASE|TOKEN)=.*$/gm, "").replaceAll("http://127.0.0.1:3000", url),
  );

/** Runs a script as a reader would paste it. A refused request ends it with an error. */
async function run(...blocks: string[]): Promise<string> {
  const refusing = 'curl() { command curl --fail-with-body "$@"; }';
  const shell = spawn("bash", ["-euo", "pipefail", "-c", [refusing, ...blocks].join("\n")], {
    cwd: folder,
    env: {
      PATH: `${path.dirname(process.execPath)}:${process.env.PATH ?? ""}`,
      BASE: url,
      TOKEN: owner.token,
      ASSAY_API_KEY: key.secret,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  const [code] = await once(shell, "close");
  assert.equal(code, 0, `${blocks.join("\n")}\n${output}`);
  return output;
}

test("the requests of the guides for partners are accepted as they are printed", { skip }, async () => {
  await run(...blocksOf("sessions"));
  await run(...blocksOf("organization"));
  await run(...blocksOf("webhooks"));
  await run(...blocksOf("agents"));
  assert.match(await run(...blocksOf("verify-flow")), /"outcome": "cancelled"/);

  // Publishes the record of the challenge, as the guide asks.
  const [begin = "", verify = "", restrict = ""] = blocksOf("domains");
  const { data } = JSON.parse(await run(begin));
  dns.set(data.record_name, "TXT", data.record_value);
  await run(verify.replace('"challenge_id":"..."', `"challenge_id":"${data.challenge_id}"`));
  await run(restrict);
  await run(...blocksOf("embedding"));

  const [inLive = "", beforeLive = ""] = blocksOf("go-live");
  await run(beforeLive);
  await openLive(core, organizationId);
  await run(inLive);
});
