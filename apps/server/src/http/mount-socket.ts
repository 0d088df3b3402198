import websocket from "@fastify/websocket";
import type { FastifyInstance, FastifyRequest } from "fastify";

/** A route whose requests are upgraded to a WebSocket, and the functions that handle them. */
export type SocketBinding = {
  subprotocol: string;
  /** The most bytes of one frame. */
  maxPayloadBytes: number;
  /** Checks a request before the upgrade. What it throws is answered over HTTP. */
  admit: (request: FastifyRequest) => void;
  open: (socket: unknown, request: FastifyRequest) => void;
  /** The server is being stopped. Resolves when no socket has work under way. */
  close: () => Promise<void>;
};

/** Teaches the server to upgrade. It must come before the routes are mounted. */
export async function enableSockets(app: FastifyInstance, binding: SocketBinding): Promise<void> {
  await app.register(websocket, {
    options: {
      maxPayload: binding.maxPayloadBytes,
      // Compressed frames could be small on the wire and large in memory, and chip files hardly shrink.
      perMessageDeflate: false,
      handleProtocols: (protocols: Set<string>) =>
        protocols.has(binding.subprotocol) ? binding.subprotocol : false,
    },
    // Whatever goes wrong with a connection ends that connection; the binding sees it close.
    errorHandler: (_error: Error, socket: { terminate(): void }) => socket.terminate(),
    preClose: async () => {
      await binding.close();
      await new Promise<void>((resolve) => app.websocketServer.close(() => resolve()));
    },
  } as never);
}
