import { artifactHeaderBytes, verifySocketLimits, verifySubprotocol } from "@assay/contract/verify-protocol";
import websocket from "@fastify/websocket";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { RawSocket, VerifyHub } from "../device-socket/registry.ts";
import { ApiError } from "./api-error.ts";
import { isOwnOrigin } from "./mount.ts";

/** What a route does with a request that asks to upgrade. */
export type SocketBinding = {
  /** Throws while it is still HTTP. */
  admit: (request: FastifyRequest) => void;
  open: (socket: unknown, request: FastifyRequest) => void;
};

const maxPayloadBytes = Math.max(
  verifySocketLimits.textBytes,
  verifySocketLimits.frameBytes + artifactHeaderBytes,
);

/** Teaches the server to upgrade. It must come before the routes are mounted. */
export async function enableSockets(app: FastifyInstance, hub: VerifyHub): Promise<void> {
  await app.register(websocket, {
    options: {
      maxPayload: maxPayloadBytes,
      // Compressed frames could be small on the wire and large in memory, and chip files hardly shrink.
      perMessageDeflate: false,
      handleProtocols: (protocols: Set<string>) =>
        protocols.has(verifySubprotocol) ? verifySubprotocol : false,
    },
    // Whatever goes wrong with a connection ends that connection; the hub notices.
    errorHandler: (_error: Error, socket: { terminate(): void }) => socket.terminate(),
    preClose: async () => {
      await hub.close();
      await new Promise<void>((resolve) => app.websocketServer.close(() => resolve()));
    },
  } as never);
}

export function verifySocket(hub: VerifyHub, publicUrl: () => string): SocketBinding {
  return {
    admit: (request) => {
      const { origin } = request.headers;
      // Devices that are no browser send none. A browser names the page it is on, and only ours may connect.
      if (origin !== undefined && !isOwnOrigin(origin, request, publicUrl())) {
        throw new ApiError("FORBIDDEN", {
          message: "A browser may open this socket from this service's own pages only.",
          hint: "Send the person to the session's `verification_url`.",
        });
      }
      const offered = String(request.headers["sec-websocket-protocol"] ?? "");
      if (!offered.split(",").some((name) => name.trim() === verifySubprotocol)) {
        throw new ApiError("BAD_REQUEST", {
          message: `\`Sec-WebSocket-Protocol\` must offer \`${verifySubprotocol}\`.`,
        });
      }
    },
    open: (socket, request) => hub.accept(socket as RawSocket, (request.params as { id: string }).id),
  };
}
