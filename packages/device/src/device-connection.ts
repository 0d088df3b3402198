import { verifySocketPath, verifySubprotocol } from "@assay/contract/verify-protocol";
import type { DeviceMessage, ServiceMessage } from "@assay/contract/verify-socket";

export type ConnectionEvents = {
  opened(): void;
  heard(message: ServiceMessage): void;
  /** `reason` is the close frame's; empty when the network failed or the socket was never opened. */
  closed(reason: string, status: number): void;
};

/** The device's socket, in a browser or in Node. After `close` it reports nothing. */
export class DeviceConnection {
  readonly #socket: WebSocket;

  constructor(baseUrl: string, sessionId: string, events: ConnectionEvents) {
    const url = `${baseUrl.replace(/^http/, "ws")}${verifySocketPath(sessionId)}`;
    const socket = new WebSocket(url, verifySubprotocol);
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => events.opened();
    socket.onmessage = ({ data }: { data: unknown }) => {
      const message = typeof data === "string" ? readMessage(data) : null;
      if (message !== null) events.heard(message);
    };
    socket.onclose = ({ reason, code }: { reason: string; code: number }) => events.closed(reason, code);
  }

  send(message: DeviceMessage): void {
    this.sendText(JSON.stringify(message));
  }

  sendText(text: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text);
  }

  sendBytes(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(bytes);
  }

  close(): void {
    this.#socket.onopen = null;
    this.#socket.onmessage = null;
    this.#socket.onclose = null;
    this.#socket.close(1000);
  }
}

/** Null for a text that is no message, as a proxy might send. */
function readMessage(text: string): ServiceMessage | null {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === "object" && read !== null && "type" in read ? (read as ServiceMessage) : null;
  } catch {
    return null;
  }
}
