import type { SessionId } from "@assay/contract/ids";
import { artifactHeaderBytes, verifySocketLimits, verifySubprotocol } from "@assay/contract/verify-protocol";
import { isOwnOrigin } from "../../platform/http/identify.ts";
import type { SocketBinding } from "../../platform/http/mount-socket.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { DeviceRegistry } from "./registry.ts";
import type { RawSocket } from "./socket.ts";

/** The route `openVerifySocket`. */
export function bindVerifySocket(registry: DeviceRegistry, publicUrl: () => string): SocketBinding {
  return {
    subprotocol: verifySubprotocol,
    maxPayloadBytes: Math.max(
      verifySocketLimits.textBytes,
      verifySocketLimits.frameBytes + artifactHeaderBytes,
    ),
    admit: (request) => {
      const { origin } = request.headers;
      // Only browsers send an `Origin`. It names the page, and only pages of this service may connect.
      if (origin !== undefined && !isOwnOrigin(origin, request, publicUrl())) {
        throw new ApiError("FOREIGN_ORIGIN", {
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
      registry.admit(sessionOf(request), request.ip);
    },
    open: (socket, request) => registry.accept(socket as RawSocket, sessionOf(request), request.ip),
    close: () => registry.close(),
  };
}

function sessionOf({ params }: { params: unknown }): SessionId {
  return (params as { id: SessionId }).id;
}
