import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { after } from "node:test";

/**
 * A proxy between the service and PostgreSQL that can fall silent: it swallows the traffic and notifies
 * neither side. To the service that looks like a host without power.
 */
export class SilentProxy {
  #url = "";
  readonly #sockets = new Set<Socket>();
  readonly #silent = new WeakSet<Socket>();
  /** Whether connections that are opened from now on are silent as well. */
  swallowsNew = false;
  /** How many connections the service has opened. */
  opened = 0;

  /** Where the service finds the database. */
  get url(): string {
    return this.#url;
  }

  /** Open connections fall silent from now on. */
  fallSilent(): void {
    for (const socket of this.#sockets) this.#silent.add(socket);
  }

  /** The address of a proxy on this port, started or not. */
  static addressOf(databaseUrl: string, port: number): string {
    const target = new URL(databaseUrl);
    const user = target.username || target.searchParams.get("user") || "";
    const secret = target.password || target.searchParams.get("password") || "";
    const password = secret === "" ? "" : `:${secret}`;
    return `postgresql://${user}${password}@127.0.0.1:${port}${target.pathname}`;
  }

  async start(databaseUrl: string, ownPort = 0): Promise<this> {
    const target = new URL(databaseUrl);
    const folder = target.searchParams.get("host");
    const port = Number(target.searchParams.get("port") ?? (target.port || 5432));
    const reach = () =>
      folder?.startsWith("/") === true
        ? connect(`${folder}/.s.PGSQL.${port}`)
        : connect(port, folder ?? target.hostname);
    const server = createServer((near) => {
      this.opened++;
      const far = reach();
      if (this.swallowsNew) for (const socket of [near, far]) this.#silent.add(socket);
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(from);
        from.on("error", () => {});
        from.on("data", (chunk) => {
          if (!this.#silent.has(from)) to.write(chunk);
        });
        from.on("close", () => {
          this.#sockets.delete(from);
          if (!this.#silent.has(from)) to.destroy();
        });
      }
    });
    server.listen(ownPort, "127.0.0.1");
    await once(server, "listening");
    this.#url = SilentProxy.addressOf(databaseUrl, (server.address() as { port: number }).port);
    after(() => {
      for (const socket of this.#sockets) socket.destroy();
      server.close();
    });
    return this;
  }
}
