import { createServer } from "node:net";
import { ExplainedError } from "../lib/explained-error.ts";

type Address = { host: string; port: number; metricsPort: number };

/** Listens for a moment, so that a start that cannot listen fails before it opens or makes a database. */
export async function checkAddress(address: Address): Promise<void> {
  for (const port of [address.port, address.metricsPort]) {
    const probe = createServer();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    probe.once("error", reject);
    probe.listen(port, address.host, resolve);
    await promise.catch((error) => {
      throw explainListenError(error, address);
    });
    await new Promise((closed) => probe.close(closed));
  }
}

/** What to do about an error of listening, in a sentence; any other error as it is. */
export function explainListenError(error: unknown, { host, port, metricsPort }: Address): unknown {
  const { code, syscall, port: refused = port } = error as NodeJS.ErrnoException & { port?: number };
  if (syscall === "getaddrinfo") {
    const isOurs = (error as { hostname?: string }).hostname === host;
    return isOurs
      ? new ExplainedError(`HOST is "${host}", which is no name of this machine. ${whatHostIs}`)
      : error;
  }
  if (syscall !== "listen") return error;
  const setting = refused === metricsPort ? "METRICS_PORT" : "PORT";
  if (code === "EADDRINUSE")
    return new ExplainedError(
      `Port ${refused} is taken by another program. Stop it, or start with ${setting}=${refused < 65_535 ? refused + 1 : 3000} npm start.`,
    );
  if (code === "EACCES")
    return new ExplainedError(
      `Only an administrator may use port ${refused}. Start with a port from 1024 on, such as ${setting}=3000 npm start, and put a reverse proxy in front of it.`,
    );
  if (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT")
    return new ExplainedError(`HOST is "${host}", which is no address of this machine. ${whatHostIs}`);
  return error;
}

const whatHostIs =
  "Leave it out to listen on 127.0.0.1, or use 0.0.0.0 to listen on every address of this machine.";

/** An address that a person can open: one that stands for all addresses of the machine becomes its own. */
export function openableUrl(url: string): string {
  return url.replace("//[::]:", "//[::1]:").replace("//0.0.0.0:", "//127.0.0.1:");
}
