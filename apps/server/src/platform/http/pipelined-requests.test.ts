import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import test from "node:test";
import { PipelinedRequests } from "./pipelined-requests.ts";

/** A connection, and the requests that were started on it. */
function connection() {
  const pipelined = new PipelinedRequests();
  const timeouts: number[] = [];
  const socket = {
    destroyed: false,
    setTimeout: (ms: number) => timeouts.push(ms),
    destroy: () => {
      socket.destroyed = true;
    },
  };
  const begun: string[] = [];
  const enter = (name: string) => {
    const response = new EventEmitter();
    pipelined.enter({ socket } as unknown as IncomingMessage, response as unknown as ServerResponse, () =>
      begun.push(name),
    );
    return response;
  };
  return { socket, begun, timeouts, enter };
}

test("requests of one connection begin when the answer before has left, in order", () => {
  const { begun, timeouts, enter } = connection();
  const [first, second] = [enter("first"), enter("second")];
  enter("third");
  assert.deepEqual(begun, ["first"]);
  first.emit("close");
  assert.deepEqual(begun, ["first", "second"]);
  assert.deepEqual(timeouts, [0], "the limit of the answer before is lifted");
  second.emit("close");
  assert.deepEqual(begun, ["first", "second", "third"]);
});

test("a connection without answers under way begins at once", () => {
  const { begun, enter } = connection();
  enter("first").emit("close");
  enter("second");
  assert.deepEqual(begun, ["first", "second"]);
});

test("what waits on a connection that is gone never begins", () => {
  const { socket, begun, enter } = connection();
  const first = enter("first");
  enter("second");
  socket.destroy();
  first.emit("close");
  assert.deepEqual(begun, ["first"]);
});

test("a hundred requests may wait on a connection, and one more ends it", () => {
  const { socket, enter } = connection();
  for (let i = 0; i <= 100; i++) enter(String(i));
  assert.equal(socket.destroyed, false);
  enter("one more");
  assert.equal(socket.destroyed, true);
});
