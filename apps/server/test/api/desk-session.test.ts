import assert from "node:assert/strict";
import { test } from "node:test";
import { CommandError, runCommand } from "@assay/cli/command";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import { skipWithoutPcscd, startPcscd } from "../../../../packages/emrtd/test/support/pcscd.ts";
import { readCommand } from "../../src/cli/read.command.ts";
import { createPartner, expectData } from "../support/api.ts";
import { startTestService } from "../support/service.ts";
import { agree } from "../support/verify.ts";
import { testDocument } from "../support/verify-device.ts";

const service = await startTestService({ verify: { examiner: { threads: 1 } } });
const partner = await createPartner(service.api);
const skip = skipWithoutPcscd;

async function newSession(): Promise<{ id: string; verification_url: string }> {
  const shareFields = { date_of_birth: { required: true, reason: "We must know that you are of age." } };
  return expectData(await partner.api.post("/v1/sessions", { share_fields: shareFields }), 201);
}

/** A desk with a passport on its reader. `read` runs the command there, with a look at each line that it prints. */
async function deskWith(documentId: string) {
  const document = testDocument(documentId, service.clock.now());
  const chip = createVirtualChip({ files: document.files, ...document.chip });
  const daemon = await startPcscd();
  let inserted = await daemon.insert(chip);
  return {
    read: async (verificationUrl: string, onLine: (line: string) => void = () => {}) => {
      const lines: string[] = [];
      const key = ["--can", document.chip.can];
      const exitCode = await runCommand(
        [readCommand],
        ["read", ...key, "--session", verificationUrl, "--socket", daemon.socketPath],
        (line) => {
          lines.push(line);
          onLine(line);
        },
      );
      return { exitCode, lines };
    },
    slip: async () => {
      await inserted.close();
      inserted = await daemon.insert(chip);
    },
    stop: () => daemon.stop(),
  };
}

test("a partner's desk reads the document of a session, and the service judges it", { skip }, async () => {
  const desk = await deskWith("passport-valid");
  try {
    const session = await newSession();
    await agree(service.api, session.id);
    const { exitCode, lines } = await desk.read(session.verification_url);
    assert.match(lines[0] ?? "", /^Reader: Virtual PCD/);
    assert.deepEqual(
      lines.slice(1, 4).concat(lines.filter((line) => line === "chip passed")),
      ["consent", "handoff", "claim", "chip passed"],
      lines.join("\n"),
    );
    assert.ok(
      lines.includes("chip authentication"),
      "the service had the chip prove itself through the desk",
    );
    assert.equal(exitCode, 0, lines.join("\n"));
    const ended = expectData(await partner.api.get(`/v1/sessions/${session.id}`));
    assert.equal(ended.status, "succeeded");
    assert.equal(ended.nfc_tries_used, 1);
  } finally {
    await desk.stop();
  }
});

test("a document that slips off before it is read or during its proof costs no try", { skip }, async () => {
  const desk = await deskWith("passport-valid");
  try {
    for (const step of ["claim", "chip authentication"]) {
      const session = await newSession();
      await agree(service.api, session.id);
      let slipped: Promise<void> | undefined;
      const { exitCode, lines } = await desk.read(session.verification_url, (line) => {
        if (line === step) slipped ??= desk.slip();
      });
      await slipped;
      assert.ok(slipped !== undefined, lines.join("\n"));
      // Before it is read, the desk may see the empty reader first.
      const asked = step === "claim" ? /Put (it back|the document on)/ : /left the reader\. Put it back/;
      assert.match(lines.join("\n"), asked);
      assert.equal(exitCode, 0, lines.join("\n"));
      const ended = expectData(await partner.api.get(`/v1/sessions/${session.id}`));
      assert.deepEqual([ended.status, ended.nfc_tries_used], ["succeeded", 1]);
    }
  } finally {
    await desk.stop();
  }
});

test("a copied chip is refused by the service, not by the desk", { skip }, async () => {
  const desk = await deskWith("passport-cloned-chip-authentication");
  try {
    const session = await newSession();
    await agree(service.api, session.id);
    const { exitCode, lines } = await desk.read(session.verification_url);
    assert.equal(exitCode, 3);
    assert.equal(lines.at(-1), "Failed: document_chip_authentication_failed.");
    const ended = expectData(await partner.api.get(`/v1/sessions/${session.id}`));
    assert.deepEqual([ended.status, ended.nfc_tries_used], ["failed", 3]);
  } finally {
    await desk.stop();
  }
});

test("the desk cannot agree in the person's place, and names a link that is none", { skip }, async () => {
  const desk = await deskWith("passport-valid");
  try {
    const session = await newSession();
    await assert.rejects(desk.read(session.verification_url), {
      constructor: CommandError,
      message: /consent|agree/i,
    });
    assert.equal(expectData(await partner.api.get(`/v1/sessions/${session.id}`)).status, "created");
    await assert.rejects(desk.read("https://example.com/other"), {
      constructor: CommandError,
      message: /verification_url/,
    });
  } finally {
    await desk.stop();
  }
});
