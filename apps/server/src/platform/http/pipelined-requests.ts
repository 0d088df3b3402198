import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Requests that a connection may send ahead of their answers. No browser does so; more would only pile up. */
const maxPipelined = 100;

/** Deals with the requests of one connection one after the other, so that answers which a client does not read do not pile up in memory. */
export class PipelinedRequests {
  readonly #waiting = new WeakMap<Socket, (() => void)[]>();

  /** Calls `begin` when the answers before have left, unless the connection ends before. */
  enter({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
    const ahead = this.#waiting.get(socket);
    const waiting = ahead ?? [];
    const beginInTurn = () => {
      response.once("close", () => {
        const next = waiting.shift();
        if (next === undefined || socket.destroyed) this.#waiting.delete(socket);
        else {
          // Of the answer before.
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
