import { createServer } from "node:net";
import { ExplainedError } from "../lib/explained-error.ts";

type Address = { host: string; port: number; metricsPort: number };

/**
 * Listens for a moment, so that a start with an unusable address fails before it opens or creates a database.
 */
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

/** Explains a listen error and what to do, in a sentence; any other error unchanged. */
export function explainListenError(error: unknown, { host, port, metricsPort }: Address): unknown {
  const { code, syscall, port: refused = port } = error as NodeJS.ErrnoException & { port?: number };
  if (syscall === "getaddrinfo") {
    const isOurs = (error as { hostname?: string }).hostname === host;
    return isOurs
      ? new ExplainedError(`HOST is "${host}", which is not a name of this machine. ${whatHostIs}`)
      : error;
  }
  if (syscall !== "listen") return error;
  const setting = refused === metricsPort ? "METRICS_PORT" : "PORT";
  if (code === "EADDRINUSE")
    return new ExplainedError(
      `Another program uses port ${refused}. Stop it, or start with ${setting}=${refused < 65_535 ? refused + 1 : 3000} npm start.`,
    );
  if (code === "EACCES")
    return new ExplainedError(
      `Only an administrator may use port ${refused}. Start with a port from 1024 on, such as ${setting}=3000 npm start, and put a reverse proxy in front of it.`,
    );
  if (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT")
    return new ExplainedError(`HOST is "${host}", which is not an address of this machine. ${whatHostIs}`);
  return error;
}

const whatHostIs =
  "Unset it to listen on 127.0.0.1, or use 0.0.0.0 to listen on every address of this machine.";

/** An address that a person can open: replaces a wildcard address by the loopback address. */
export function openableUrl(url: string): string {
  return url.replace("//[::]:", "//[::1]:").replace("//0.0.0.0:", "//127.0.0.1:");
}
