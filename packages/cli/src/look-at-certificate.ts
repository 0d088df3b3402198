import { Socket } from "node:net";
import { connect } from "node:tls";
import { type Found, ok, problem, warning } from "./checks.ts";
import { tunnel } from "./proxy.ts";

const answerWithinMs = 10_000;
const dayMs = 86_400_000;
/** Automatic renewal happens a month before the end, so fewer days mean that it failed. */
const soonDays = 14;

/** The finding about a certificate with this end date. */
export function judgeCertificate(host: string, validTo: Date, now: Date): Found {
  const days = Math.floor((validTo.getTime() - now.getTime()) / dayMs);
  const until = `The certificate of ${host} is good until ${validTo.toISOString().slice(0, 10)}`;
  if (days < 0) return problem(`${until}, which is over.`, "Renew it.");
  return days < soonDays ? warning(`${until}, ${days} days from now.`, "Renew it.") : ok(`${until}.`);
}

/** Connects like any client, through the proxy if there is one, and reads only the certificate. */
export async function lookAtCertificate(
  host: string,
  port: number,
  now: Date,
  proxy: URL | null = null,
): Promise<Found> {
  const way =
    proxy === null ? { host, port } : await tunnel(proxy, host, port).catch((error: Error) => error);
  if (way instanceof Error)
    return problem(`No connection to ${host}: ${way.message}.`, "Look at the settings of the proxy.");
  return new Promise((resolve) => {
    const socket = connect({
      ...(way instanceof Socket ? { socket: way } : way),
      servername: host,
      timeout: answerWithinMs,
    });
    const end = (found: Found) => {
      socket.destroy();
      resolve(found);
    };
    socket.once("secureConnect", () =>
      end(judgeCertificate(host, new Date(socket.getPeerCertificate().valid_to), now)),
    );
    socket.once("timeout", () =>
      end(problem(`${host} does not answer on port ${port}.`, "Look at the proxy in front.")),
    );
    socket.once("error", (error: Error & { code?: string }) =>
      end(
        problem(
          `No trusted connection to ${host}: ${error.code ?? error.message}.`,
          "Make sure that the certificate is for this name, is valid today, and comes with its chain. Name a private authority in NODE_EXTRA_CA_CERTS.",
        ),
      ),
    );
  });
}
