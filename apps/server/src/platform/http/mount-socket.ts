import type { IncomingMessage } from "node:http";
import { routes } from "@assay/contract/routes";
import websocket from "@fastify/websocket";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ApiError } from "../kernel/api-error.ts";
import { pathOf, pathPattern } from "./known-paths.ts";

/** A route that is upgraded to a WebSocket, and its handlers. */
export type SocketBinding = {
  subprotocol: string;
  maxPayloadBytes: number;
  /** Checks a request before the upgrade. An error is answered over HTTP. */
  admit: (request: FastifyRequest) => void;
  open: (socket: unknown, request: FastifyRequest) => void;
  /** Called at shutdown. Resolves when no socket has work in progress. */
  close: () => Promise<void>;
};

/** Enables upgrades. Must be called before the routes are mounted. */
export async function enableSockets(app: FastifyInstance, binding: SocketBinding): Promise<void> {
  await app.register(websocket, {
    options: {
      maxPayload: binding.maxPayloadBytes,
      // Compressed frames could be small on the wire and large in memory, and chip files hardly shrink.
      perMessageDeflate: false,
      handleProtocols: (protocols: Set<string>) =>
        protocols.has(binding.subprotocol) ? binding.subprotocol : false,
    },
    // An error ends only its own connection; the binding sees it close.
    errorHandler: (_error: Error, socket: { terminate(): void }) => socket.terminate(),
    preClose: async () => {
      await binding.close();
      await new Promise<void>((resolve) => app.websocketServer.close(() => resolve()));
    },
  } as never);
}

const socketPaths = routes
  .filter((route) => route.reply.status === 101)
  .map((route) => pathPattern(route.path));

/**
 * Whether an upgrade is accepted: only to a WebSocket, and only where the contract declares one. Other offers
 * are ignored and answered like plain requests; Java's HTTP client offers HTTP/2 (`h2c`) each time.
 */
export function servesUpgrade({ method, url = "", headers }: IncomingMessage): boolean {
  if (method !== "GET" || headers.upgrade?.toLowerCase() !== "websocket") return false;
  return socketPaths.some((pattern) => pattern.test(pathOf(url)));
}

/** Refuses with the envelope what the WebSocket library would refuse without it. */
export function refuseBadHandshake({ headers }: FastifyRequest): void {
  if (headers["sec-websocket-version"] !== "13")
    throw new ApiError("BAD_REQUEST", {
      message: "`Sec-WebSocket-Version` must be 13.",
      headers: { "sec-websocket-version": "13" },
    });
  if (!/^[A-Za-z0-9+/]{22}==$/.test(headers["sec-websocket-key"] ?? ""))
    throw new ApiError("BAD_REQUEST", {
      message: "`Sec-WebSocket-Key` must be 16 bytes in base64.",
    });
}
