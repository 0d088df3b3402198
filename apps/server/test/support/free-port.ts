import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ephemeral ports (Linux: from 32768), which other programs get at any time. */
const [first, count] = [20_000, 12_000];

/** A port for a process that has to be given one. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + randomInt(count);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
