import assert from "node:assert/strict";
import { test } from "node:test";
import { skipWithoutPcscd, startPcscd } from "../../test/support/pcscd.ts";
import { dg14, ecKey, sampleCan, sampleFiles, sampleKey } from "../../test/support/sample-document.ts";
import { oids } from "../ber/oid.ts";
import { toHex } from "../bytes.ts";
import { secureRandom } from "../crypto/random.ts";
import { paceOid } from "../pace/pace-protocol.ts";
import { carryCommands } from "../reader/carry-commands.ts";
import { openChip } from "../reader/open-chip.ts";
import { beginChipProof, continueChipProof } from "../verify/prove-chip.ts";
import { createVirtualChip } from "../virtual/virtual-chip.ts";
import { openCardReaders } from "./pcsc.ts";
import { PcscError } from "./pcscd-client.ts";

test("a document is read over PC/SC: reader, daemon, virtual reader, software chip", {
  skip: skipWithoutPcscd,
}, async () => {
  const daemon = await startPcscd();
  try {
    const readers = await openCardReaders({ socketPath: daemon.socketPath });
    const key = ecKey("brainpoolP256r1", "explicit");
    const files = { ...sampleFiles(), DG14: dg14(key, [oids.chipAuthenticationEcdhAes128]) };
    const chip = createVirtualChip({
      files,
      mrzKey: sampleKey,
      can: sampleCan,
      pace: [{ oid: paceOid("ECDH", "generic", "AES-128"), parameterId: 13 }],
      chipAuthentication: [{ privateKey: key.pkcs8 }],
    });
    const inserted = await daemon.insert(chip);
    const name = (await readers.list()).find(({ cardPresent }) => cardPresent)?.name ?? "";
    assert.match(name, /Virtual PCD/);

    for (const accessKey of [{ mrz: sampleKey }, { can: sampleCan }]) {
      const card = await readers.connect(name);
      assert.equal(card.transport.extendedLength, true);
      const opened = await openChip(card.transport, accessKey);
      assert.equal(opened.accessMethod, "PACE");
      for (const file of ["COM", "DG1", "DG2", "DG14", "SOD"] as const) {
        assert.equal(toHex(await opened.readFile(file)), toHex(files[file] ?? new Uint8Array(0)), file);
      }
      let step = beginChipProof("chip_authentication", files, secureRandom);
      while (step.kind === "ask")
        step = continueChipProof(step.state, await carryCommands(opened, step.ask), files, secureRandom);
      assert.equal(step.verdict.passed, true);
      await card.disconnect();
    }

    const card = await readers.connect(name);
    await inserted.close();
    await assert.rejects(openChip(card.transport, { mrz: sampleKey }), { code: "CHIP_LOST" });
    await assert.rejects(readers.connect(name), {
      code: "CHIP_LOST",
      message: "SCardConnect: there is no card in the reader",
    });
    await assert.rejects(readers.connect("Another reader"), PcscError);
    await card.disconnect().catch(() => {});

    await daemon.stop();
    await assert.rejects(readers.list(), { name: "PcscError", message: /service has stopped/ });
    await readers.close();
  } finally {
    await daemon.stop();
  }
});
