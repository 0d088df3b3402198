import assert from "node:assert/strict";
import { createServer, type Server } from "node:net";
import { test } from "node:test";
import { sampleFiles, sampleKey } from "../../test/support/sample-document.ts";
import { fromHex, toHex } from "../bytes.ts";
import { openChip } from "../reader/open-chip.ts";
import { createVirtualChip } from "../virtual/virtual-chip.ts";
import { nativeReaders, openCardReaders } from "./pcsc.ts";

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
  // After its session is lost, this chip refuses everything until it is reset.
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
          // This reader cannot carry long commands and fails with a reader error.
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
