import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { noteCode } from "./api.ts";
import { machineBehind } from "./round-robin.ts";

export type RawAnswer = { status: number; headers: ReadonlyMap<string, string>; body: string; text: string };

/** Opens a connection to the service on which a test writes its bytes itself. */
export function openConnection(url: string): Socket {
  const { hostname, port } = machineBehind(url);
  return connect(Number(port), hostname);
}

/** Sends bytes that no HTTP client would, and reads until the service closes the connection. */
export async function sendRaw(url: string, request: string | Uint8Array): Promise<RawAnswer> {
  const socket = openConnection(url);
  const answer = readToEnd(socket);
  socket.write(request);
  return parseAnswer(await answer);
}

/** What arrives until the other side closes. Data that arrived before a reset counts. */
export function readToEnd(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("end", () => socket.end());
    socket.on("error", () => {});
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
  });
}

export function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1] ?? 0),
    headers,
    body: text.slice(end + 4),
    text,
  };
}

/** Asserts that a refusal is in the envelope and carries what every answer does. */
export function expectRefusal(answer: RawAnswer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.text);
  const { data, error } = JSON.parse(answer.body);
  assert.equal(data, null);
  assert.equal(error.code, code, answer.text);
  assert.deepEqual(Object.keys(error).sort(), ["code", "docs", "hint", "message"]);
  assert.match(answer.headers.get("x-request-id") ?? "", /^req_[0-9a-f]{24}$/);
  assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal(Number(answer.headers.get("content-length")), answer.body.length);
  noteCode(error.code);
}
