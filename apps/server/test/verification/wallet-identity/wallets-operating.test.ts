import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { makeCertificate } from "../../../../../packages/credential/test/support/make-certificate.ts";
import { dayMs, later } from "../../../src/platform/kernel/clock.ts";
import { assayHere } from "../../support/process.ts";
import { startTestService } from "../../support/service.ts";
import { testRing } from "../../support/test-ring.ts";
import {
  certify,
  createWalletAuthority,
  pem,
  registration,
  sha256,
  writeLote,
  writeVical,
} from "../../support/wallet-authority.ts";

const page = readFileSync(new URL("../../../../../docs/wallets-operating.md", import.meta.url), "utf8");
const folder = mkdtempSync(join(tmpdir(), "assay-operating-"));
after(() => rmSync(folder, { recursive: true }));

test("every command of the operator's page about wallets works, in the order of the page", async () => {
  const { databaseUrl, dataDir } = await startTestService();
  const env = { DATABASE_URL: databaseUrl, SECRET_KEYS: testRing, DATA_DIR: dataDir };
  const validity = {
    notBefore: new Date("2026-01-01T00:00:00Z"),
    notAfter: new Date("2040-01-01T00:00:00Z"),
  };
  const publisher = await makeCertificate({ subject: "CN=Publisher", ...validity });
  const { root } = await createWalletAuthority("Roots");
  const nextUpdate = later(new Date(), dayMs).toISOString().replace(/\.\d+/, "");
  const vical = await writeVical(publisher, root.certificate, nextUpdate);
  const made: Record<string, () => Promise<string | Uint8Array>> = {
    "chain.pem": async () =>
      pem((await certify(publisher, join(folder, "request.pem"), 90)).certificate, publisher.certificate),
    "registration.jwt": async () => registration({ sub: "VATDE-123456789" }),
    "pid-providers.jws": () => writeLote(publisher, "2026-02-01T00:00:00Z", [root.certificate], nextUpdate),
    "vical.cbor": async () => vical.bytes,
    "age-roots.pem": async () => pem(root.certificate),
    "test-roots.pem": async () => pem(root.certificate),
  };
  const commands = [...page.matchAll(/^ {4,}npm run assay -- (.+)$/gm)].map((match) => match[1] ?? "");
  assert.ok(commands.length >= 10);
  let id = "";
  for (const command of commands) {
    const words = (command.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ""));
    const args: string[] = [];
    for (const word of words) {
      const make = made[word];
      if (make !== undefined) writeFileSync(join(folder, word), await make());
      args.push(
        make !== undefined || word === "request.pem"
          ? join(folder, word)
          : word === "SHA256"
            ? words.includes("vical.cbor")
              ? vical.pin
              : sha256(publisher.certificate)
            : word === "ID"
              ? id
              : word,
      );
    }
    const { code, stdout, stderr } = await assayHere(args, env);
    id = /identity ([0-9a-f-]{36})/.exec(stdout)?.[1] ?? id;
    // No passport is trusted here, and the machine of the tests has no way to the outside.
    const expected = ["doctor", "trust status"].includes(words.join(" ")) ? [0, 1] : [0];
    assert.ok(expected.includes(code), `${command}: ${stdout}${stderr}`);
  }
});
