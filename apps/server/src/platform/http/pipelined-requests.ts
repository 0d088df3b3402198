import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Requests that a connection may send ahead of their answers. Browsers send none; more would only fill the
 * memory.
 */
const maxPipelined = 100;

/**
 * Handles the requests of one connection one after the other, so that answers which a client does not read do
 * not fill the memory.
 */
export class PipelinedRequests {
  readonly #waiting = new WeakMap<Socket, (() => void)[]>();

  /** Calls `begin` when the earlier answers have been sent, unless the connection ends first. */
  enter({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
    const ahead = this.#waiting.get(socket);
    const waiting = ahead ?? [];
    const beginInTurn = () => {
      response.once("close", () => {
        const next = waiting.shift();
        if (next === undefined || socket.destroyed) this.#waiting.delete(socket);
        else {
          // The timeout of the previous answer.
          socket.setTimeout(0);
          next();
        }
      });
      begin();
    };
    this.#waiting.set(socket, waiting);
    if (ahead === undefined) beginInTurn();
    else if (ahead.push(beginInTurn) > maxPipelined) socket.destroy();
  }
}
