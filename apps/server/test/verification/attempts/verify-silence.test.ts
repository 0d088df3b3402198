import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import type { Socket } from "node:net";
import { test } from "node:test";
import { verifyCloseCodes, verifySocketPath, verifySubprotocol } from "@assay/contract/verify-protocol";
import { createPartner, expectData } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";
import { claimedSession, TestDevice } from "../../support/verify-device.ts";

// Short enough to wait for, and long enough that a busy machine answers a ping within three beats.
const service = await startTestService({
  verify: { timing: { helloMs: 1000, heartbeatMs: 1000, idleMs: 3500 } },
});
const partner = await createPartner(service.api);

const opcode = { text: 1, close: 8, ping: 9 } as const;

/** A WebSocket by hand, because Node's answers pings. Resolves with what arrived until its end. */
async function muteDevice(baseUrl: string, sessionId: string, hello: string) {
  const upgrade = request(`${baseUrl}${verifySocketPath(sessionId)}`, {
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-key": randomBytes(16).toString("base64"),
      "sec-websocket-version": "13",
      "sec-websocket-protocol": verifySubprotocol,
    },
  });
  upgrade.end();
  const [, socket, head] = (await once(upgrade, "upgrade")) as [unknown, Socket, Buffer];
  const pieces = [head];
  socket.on("data", (piece: Buffer) => pieces.push(piece));
  // A connection that is torn down is over, too.
  socket.on("error", () => {});
  const over = once(socket, "close");
  // Masked with zeros, so the text does not change.
  const length = Buffer.from([0x80 | 126, hello.length >> 8, hello.length & 0xff]);
  socket.write(
    Buffer.concat([Buffer.from([0x80 | opcode.text]), length, Buffer.alloc(4), Buffer.from(hello)]),
  );
  await over;
  return framesOf(Buffer.concat(pieces));
}

function framesOf(bytes: Buffer): { opcode: number; payload: Buffer }[] {
  const frames: { opcode: number; payload: Buffer }[] = [];
  for (let at = 0; at + 2 <= bytes.length; ) {
    const short = (bytes[at + 1] ?? 0) & 0x7f;
    assert.ok(short < 127, "messages are far shorter than 64 KiB");
    const start = at + (short === 126 ? 4 : 2);
    const end = start + (short === 126 ? bytes.readUInt16BE(at + 2) : short);
    frames.push({ opcode: (bytes[at] ?? 0) & 0x0f, payload: bytes.subarray(start, end) });
    at = end;
  }
  return frames;
}

/** By all machines together. */
function closesCounted(code: string): number {
  const series = new RegExp(`^assay_verify_socket_closes_total\\{code="${code}"\\} (\\d+)$`, "m");
  return service.machines
    .map(({ core }) => Number(series.exec(core.metrics.render())?.[1] ?? 0))
    .reduce((sum, count) => sum + count, 0);
}

const untouched = async (sessionId: string) => {
  const session = expectData(await partner.api.get(`/v1/sessions/${sessionId}`));
  assert.deepEqual(
    [session.status, session.nfc_tries_used, session.liveness_tries_used],
    ["in_progress", 0, 0],
  );
};

test("a device that does not say hello is closed", async () => {
  const claimed = await claimedSession(partner.api);
  const device = await TestDevice.connect(claimed.baseUrl, claimed.sessionId);
  const closing = await device.expect("closing");
  assert.equal(closing.code, "HELLO_TIMEOUT");
  assert.equal(await device.closed(), "HELLO_TIMEOUT");
  assert.equal(closesCounted("HELLO_TIMEOUT"), 1);
  await untouched(claimed.sessionId);
});

test("a device that answers pings and says nothing is closed as idle, and may come back", async (t) => {
  const claimed = await claimedSession(partner.api);
  const device = await TestDevice.connect(claimed.baseUrl, claimed.sessionId, claimed.socketToken);
  await device.expect("welcome");
  // Idle comes after the time in which three pings would have gone unanswered, so its pings were answered.
  const closing = await device.expect("closing");
  assert.equal(closing.code, "IDLE_TIMEOUT");
  assert.equal(closing.message, verifyCloseCodes.IDLE_TIMEOUT.about);
  assert.equal(await device.closed(), "IDLE_TIMEOUT");
  assert.equal(closesCounted("IDLE_TIMEOUT"), 1);
  await untouched(claimed.sessionId);
  const again = await TestDevice.connect(claimed.baseUrl, claimed.sessionId, claimed.socketToken);
  t.after(() => again.connection.close());
  assert.equal((await again.expect("welcome")).phase, "chip");
});

test("a device that answers none of three pings is cut off without a word, and may come back", async (t) => {
  const claimed = await claimedSession(partner.api);
  const hello = JSON.stringify({ type: "hello", socket_token: claimed.socketToken });
  const frames = await muteDevice(claimed.baseUrl, claimed.sessionId, hello);
  const messages = frames.filter((frame) => frame.opcode === opcode.text);
  assert.deepEqual(
    messages.map(({ payload }) => JSON.parse(payload.toString("utf8")).type),
    ["welcome"],
  );
  assert.ok(frames.filter((frame) => frame.opcode === opcode.ping).length >= 3);
  // A device that does not answer would not read a reason either.
  assert.ok(!frames.some((frame) => frame.opcode === opcode.close));
  await untouched(claimed.sessionId);
  const again = await TestDevice.connect(claimed.baseUrl, claimed.sessionId, claimed.socketToken);
  t.after(() => again.connection.close());
  assert.equal((await again.expect("welcome")).phase, "chip");
});
