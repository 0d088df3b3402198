import assert from "node:assert/strict";
import { createServer, type Server } from "node:net";
import { test } from "node:test";
import { skipWithoutPcscd, startPcscd } from "../../test/support/pcscd.ts";
import { dg14, ecKey, sampleCan, sampleFiles, sampleKey } from "../../test/support/sample-document.ts";
import { oids } from "../ber/oid.ts";
import { fromHex, toHex } from "../bytes.ts";
import { secureRandom } from "../crypto/random.ts";
import { paceOid } from "../pace/pace-protocol.ts";
import { carryCommands } from "../reader/carry-commands.ts";
import { openChip } from "../reader/open-chip.ts";
import { beginChipProof, continueChipProof } from "../verify/prove-chip.ts";
import { createVirtualChip } from "../virtual/virtual-chip.ts";
import { nativeReaders, openCardReaders } from "./pcsc.ts";
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

test("a missing service is explained", async () => {
  await assert.rejects(openCardReaders({ socketPath: "/nonexistent/pcscd.comm" }), {
    code: "PROTOCOL_UNSUPPORTED",
    message: /pcscd|smartcard/,
  });
});

/** A daemon that answers every request with the same bytes. */
async function oddDaemon(answer: Uint8Array, socketPath: string): Promise<Server> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", () => socket.write(answer));
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  return server;
}

test("a daemon with another protocol is refused with its version", async () => {
  const socketPath = `\0assay-test-${process.pid}`;
  const server = await oddDaemon(fromHex("05000000 01000000 1E001080"), socketPath);
  await assert.rejects(openCardReaders({ socketPath }), { code: "PROTOCOL_UNSUPPORTED", message: /5\.1/ });
  server.close();
});

test("the optional native package is driven in the same way", async () => {
  // Once its session is lost this chip speaks to nobody until it is reset.
  const quirks = { loseSessionAfterCommands: 20, closedUntilReset: 0x6985 };
  const chip = createVirtualChip({ files: sampleFiles(), mrzKey: sampleKey, quirks });
  let resets = 0;
  let refusedLong = 0;
  let ready = false;
  class Context {
    listReaders() {
      const card = {
        protocol: 2,
        transmit: async (command: Uint8Array) => {
          // This reader cannot carry long commands and says so with an error of its own.
          if (command.length > 261 || (command.length > 6 && command[4] === 0)) {
            refusedLong++;
            throw Object.assign(new Error("not transacted"), { code: 0x80100016 });
          }
          return await chip.transceive(command);
        },
        reconnect: async () => {
          resets++;
          await chip.reset();
          return 2;
        },
        disconnect: () => {},
      };
      const connect = async () => {
        // The package hands on numbers with a sign.
        if (!ready) throw Object.assign(new Error("unpowered"), { code: 0x80100067 | 0 });
        return card;
      };
      return [{ name: "desk", state: 0x22, atr: fromHex("3B80800101"), connect }];
    }
    close() {}
  }
  const readers = nativeReaders({ Context });
  assert.deepEqual(await readers.list(), [{ name: "desk", cardPresent: true, atr: fromHex("3B80800101") }]);
  await assert.rejects(readers.connect("desk"), { code: "CHIP_LOST", message: /no power/ });
  ready = true;
  const card = await readers.connect("desk");
  const opened = await openChip(card.transport, { mrz: sampleKey });
  assert.equal(toHex(await opened.readFile("DG2")), toHex(sampleFiles().DG2 ?? new Uint8Array(0)));
  assert.ok(refusedLong > 0);
  assert.equal(resets, refusedLong + 1);
  await assert.rejects(readers.connect("other"), { code: "CHIP_LOST" });
  await card.disconnect();
  await readers.close();
});
