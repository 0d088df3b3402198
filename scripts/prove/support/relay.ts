import { createServer, type Socket } from "node:net";

/** One address that leads to a server which may change, like a virtual address or a proxy beside it. */
export async function openRelay(reach: () => Socket): Promise<{ port: number; drop(): void; close(): void }> {
  const sockets = new Set<Socket>();
  const drop = () => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((near) => {
    const far = reach();
    for (const [end, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(end);
      end.on("error", () => {});
      end.on("close", () => {
        sockets.delete(end);
        other.destroy();
      });
      end.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    /** Ends the open connections. */
    drop,
    close() {
      drop();
      server.close();
    },
  };
}
