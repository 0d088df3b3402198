import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below those that a system gives to whoever asks for any port (Linux from 32768 on): one of these may be somebody else's by the time that the process that is to have it has started. */
const [first, count] = [20_000, 12_000];

/** A port for a process that is told which one to listen at. */
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
