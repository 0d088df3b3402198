import assert from "node:assert/strict";
import { test } from "node:test";
import { runCommand } from "@assay/cli/command";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import { skipWithoutPcscd, startPcscd } from "../../../../../packages/emrtd/test/support/pcscd.ts";
import { readCommand } from "../../../src/operations/cli/read.command.ts";
import { startTestService } from "../../support/service.ts";
import { createTestAuthority } from "../../support/test-authority.ts";
import { testRing } from "../../support/test-ring.ts";
import { operatorOf, weaklySigned } from "../../support/trust.ts";
import { testDocument, trustTestCountry } from "../../support/verify-device.ts";

test("the desk judges by the operator's policy as well", { skip: skipWithoutPcscd }, async (t) => {
  const document = weaklySigned(new Date());
  const daemon = await startPcscd();
  t.after(() => daemon.stop());
  await daemon.insert(createVirtualChip({ files: document.files, ...document.chip }));
  t.after(() => {
    delete process.env.TRUST_POLICY;
  });
  const read = async (policy: string) => {
    process.env.TRUST_POLICY = policy;
    const lines: string[] = [];
    const args = ["read", "--can", document.chip.can, "--test-country", "--socket", daemon.socketPath];
    const exitCode = await runCommand([readCommand], args, (line) => lines.push(line));
    return { exitCode, text: lines.join("\n") };
  };
  const warned = await read("");
  assert.equal(warned.exitCode, 0, warned.text);
  assert.match(warned.text, /warning .*: sha1/);
  const refused = await read("sha1=refuse");
  assert.equal(refused.exitCode, 3, refused.text);
  assert.match(refused.text, /FAILED .*: sha1/);
});

test("the desk applies the deviation lists of the installation", { skip: skipWithoutPcscd }, async (t) => {
  const authority = createTestAuthority("deviations");
  const service = await startTestService();
  // The command has the time of the machine.
  service.clock.set(new Date());
  await trustTestCountry(service);
  const document = testDocument("passport-valid", new Date());
  const daemon = await startPcscd();
  t.after(() => daemon.stop());
  await daemon.insert(createVirtualChip({ files: document.files, ...document.chip }));
  const env = {
    DATABASE_URL: service.databaseUrl,
    SECRET_KEYS: testRing,
    DATA_DIR: service.dataDir,
    TRUST_POLICY: "document_deviates=refuse",
  };
  Object.assign(process.env, env);
  t.after(() => {
    for (const name of Object.keys(env)) delete process.env[name];
  });
  const read = async () => {
    const lines: string[] = [];
    const args = ["read", "--can", document.chip.can, "--socket", daemon.socketPath];
    const exitCode = await runCommand([readCommand], args, (line) => lines.push(line));
    return { exitCode, text: lines.join("\n") };
  };
  const before = await read();
  assert.equal(before.exitCode, 0, before.text);
  const { bring } = await operatorOf(t, service);
  await bring("authority.cer", authority.certificate);
  await bring("faults.dl", authority.deviationList(new Date("2026-01-05T00:00:00Z")));
  const after = await read();
  assert.equal(after.exitCode, 3, after.text);
  assert.match(after.text, /FAILED .*document deviates/);
});
