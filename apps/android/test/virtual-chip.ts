import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { testDocument } from "@assay/emrtd/node/test-country/catalogue";
import type { TestDocument } from "@assay/emrtd/virtual/test-document";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";

/**
 * A software chip behind a local socket, one per connection: one line per command and per answer, in
 * hexadecimal; `reset` is answered with `ok`.
 */
export async function startVirtualChip(
  document: Pick<TestDocument, "files" | "chip"> = defaultDocument(),
): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.setNoDelay(true));
    socket.on("error", () => {});
    const chip = createVirtualChip({ ...document.chip, files: document.files });
    const answer = async (line: string): Promise<string> => {
      if (line !== "reset")
        return Buffer.from(await chip.transceive(Buffer.from(line, "hex"))).toString("hex");
      await chip.reset();
      return "ok";
    };
    createInterface({ input: socket }).on("line", async (line) => socket.write(`${await answer(line)}\n`));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function defaultDocument(): TestDocument {
  const found = testDocument("passport-valid", new Date());
  if (found === null) throw new Error("The catalogue has no valid passport");
  return found;
}
