import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type TestContext, test } from "node:test";
import {
  chipFileLimits,
  encodeArtifactFrame,
  verifySocketPath,
  verifySubprotocol,
} from "@assay/contract/verify-protocol";
import { sendFiles } from "@assay/device/send-artifacts";
import { encodeResponse } from "@assay/emrtd/apdu/response";
import { cipherSuites, deriveSessionKeys } from "@assay/emrtd/crypto/cipher-suite";
import { personalise } from "@assay/emrtd/node/test-country/personalise";
import { readPortrait } from "@assay/emrtd/node/test-country/portraits";
import { signerProfile } from "@assay/emrtd/node/test-country/signer-profiles";
import { createTestCountry, defaultTestSeed } from "@assay/emrtd/node/test-country/test-country";
import { SecureMessaging } from "@assay/emrtd/secure-messaging/secure-messaging";
import { WebSocket as HeaderWebSocket } from "undici";
import { sql } from "../../../src/platform/db/sql.ts";
import { createPartner, expectData, expectError } from "../../support/api.ts";
import { untilBlocked } from "../../support/database.ts";
import { startTestService } from "../../support/service.ts";
import { claimedSession, TestDevice, testDocument } from "../../support/verify-device.ts";

const service = await startTestService({
  verify: { timing: { resumeMs: 60_000 } },
});
const partner = await createPartner(service.api);
const valid = testDocument("passport-valid", service.clock.now());
const signing = testDocument("passport-active-authentication", service.clock.now());

async function begin(t: TestContext, at = service.url) {
  const claimed = await claimedSession(partner.api);
  const connect = async (token = claimed.socketToken) => {
    const device = await TestDevice.connect(at, claimed.sessionId, token);
    t.after(() => device.connection.close());
    return device;
  };
  const triesUsed = async () => {
    const session = expectData(await partner.api.get(`/v1/sessions/${claimed.sessionId}`));
    return [session.nfc_tries_used, session.liveness_tries_used, session.status];
  };
  const device = await connect();
  await device.expect("welcome");
  return { ...claimed, connect, triesUsed, device };
}

const unused = [0, 0, "in_progress"];

test("plain HTTP gets 426; a foreign page and a device without the sub-protocol are refused", async () => {
  const { sessionId, baseUrl } = await claimedSession(partner.api);
  const path = verifySocketPath(sessionId);
  expectError(await service.api.get(path), 426, "WEBSOCKET_REQUIRED");
  const url = `${baseUrl.replace("http", "ws")}${path}`;
  const attempt = (options: ConstructorParameters<typeof HeaderWebSocket>[1]) =>
    new Promise<string>((resolve) => {
      const socket = new HeaderWebSocket(url, options);
      socket.addEventListener("open", () => {
        socket.close();
        resolve("open");
      });
      socket.addEventListener("error", () => resolve("refused"));
    });
  assert.equal(
    await attempt({ protocols: [verifySubprotocol], headers: { origin: "https://evil.example" } }),
    "refused",
  );
  assert.equal(await attempt({ protocols: ["other.v1"] }), "refused");
  assert.equal(await attempt({ protocols: [verifySubprotocol], headers: { origin: service.url } }), "open");
});

test("a wrong token, a token of another session and a message before hello get nowhere", async (t) => {
  const victim = await begin(t);
  const other = await claimedSession(partner.api);
  for (const token of ["x".repeat(43), other.socketToken]) {
    const device = await victim.connect(token);
    assert.equal(await device.closed(), "SOCKET_TOKEN_INVALID");
  }
  const hasty = await TestDevice.connect(victim.baseUrl, victim.sessionId);
  hasty.send({ type: "chip_done" });
  assert.equal(await hasty.closed(), "MESSAGE_INVALID");
  // The victim's socket goes on as if nothing had happened.
  assert.equal((await victim.device.passChip(valid)).type, "step_result");
  assert.deepEqual(await victim.triesUsed(), [1, 0, "in_progress"]);
});

test("garbage closes the socket and costs nothing", async (t) => {
  const { connect, triesUsed } = await begin(t);
  const texts = [
    "",
    "null",
    "{",
    "[]",
    '{"type":"__proto__"}',
    '{"type":"constructor"}',
    '{"type":"chip_done","x":1}',
  ];
  for (const text of texts) {
    const device = await connect();
    await device.expect("welcome");
    device.connection.sendText(text);
    assert.equal(await device.closed(), "MESSAGE_INVALID");
  }
  const nothing = encodeArtifactFrame({ artifact: 1, offset: 0, total: 10, bytes: new Uint8Array() });
  for (const bytes of [new Uint8Array(), nothing, new Uint8Array(20), new Uint8Array(70_000)]) {
    const device = await connect();
    await device.expect("welcome");
    device.connection.sendBytes(bytes);
    const reason = await device.closed();
    assert.ok(["MESSAGE_INVALID", "1009", "1006"].includes(reason), reason);
  }
  assert.deepEqual(await triesUsed(), unused);
});

test("a device that does not wait for its welcome may send sixteen frames, and no more", async (t) => {
  for (const frames of [16, 17]) {
    const { sessionId, socketToken } = await claimedSession(partner.api);
    const device = await TestDevice.connect(service.url, sessionId);
    t.after(() => device.connection.close());
    await service.core.db.transaction(async (tx) => {
      // The welcome waits for this row.
      await tx.rows(sql`select 1 from attempts where session_id = ${sessionId} for update`);
      device.send({ type: "hello", socket_token: socketToken });
      for (let sent = 0; sent < frames; sent++) device.send({ type: "chip_restart" });
      // One too many ends the connection, possibly before anything waits.
      if (frames > 16) assert.equal(await device.closed(), "OUT_OF_ORDER");
      else await untilBlocked(tx);
    });
    if (frames > 16) continue;
    await device.expect("welcome");
    assert.equal((await device.passChip(valid)).type, "step_result");
  }
});

test("oversize, unannounced, overlapping and out-of-order artifacts are refused", async (t) => {
  const { connect, triesUsed } = await begin(t);
  const part = (artifact: number, offset: number, total: number, length: number) =>
    encodeArtifactFrame({ artifact, offset, total, bytes: new Uint8Array(length) });
  const attacks: [string, (device: TestDevice) => void][] = [
    [
      "ARTIFACT_INVALID",
      (d) => d.send({ type: "chip_file", artifact: 1, file: "DG1", size: chipFileLimits.DG1 + 1 }),
    ],
    ["MESSAGE_INVALID", (d) => d.send({ type: "chip_file", artifact: 1, file: "DG2", size: 2 ** 31 })],
    ["MESSAGE_INVALID", (d) => d.send({ type: "chip_file", artifact: 1, file: "DG3" as "DG2", size: 10 })],
    ["ARTIFACT_INVALID", (d) => d.connection.sendBytes(part(7, 0, 10, 10))],
    ["OUT_OF_ORDER", (d) => d.send({ type: "chip_done" })],
    ["OUT_OF_ORDER", (d) => d.send({ type: "face_start" })],
    ["OUT_OF_ORDER", (d) => d.send({ type: "chip_lost" })],
    ["OUT_OF_ORDER", (d) => d.send({ type: "chip_answer", exchange: "x".repeat(22), answers: [] })],
    ["OUT_OF_ORDER", (d) => d.send({ type: "hello", socket_token: "x".repeat(43) })],
  ];
  const sending = (after: (device: TestDevice) => void) => (d: TestDevice) => {
    d.send({ type: "chip_file", artifact: 1, file: "DG1", size: 10 });
    after(d);
  };
  for (const [offset, total, length] of [
    [0, 11, 10],
    [1, 10, 9],
    [0, 10, 11],
  ] as const)
    attacks.push([
      "ARTIFACT_INVALID",
      sending((d) => d.connection.sendBytes(part(1, offset, total, length))),
    ]);
  attacks.push([
    "ARTIFACT_INVALID",
    sending((d) => d.send({ type: "chip_file", artifact: 2, file: "DG1", size: 10 })),
  ]);
  attacks.push(["OUT_OF_ORDER", sending((d) => d.send({ type: "chip_done" }))]);
  for (const [code, attack] of attacks) {
    const device = await connect();
    await device.expect("welcome");
    attack(device);
    assert.equal(await device.closed(), code);
  }
  assert.deepEqual(await triesUsed(), unused);
});

test("a challenge is answered once: a signature for another one is refused", async (t) => {
  const { device, connect, triesUsed } = await begin(t);
  sendFiles(device.connection, await device.read(signing));
  const first = await device.expect("chip_command");
  assert.equal(first.kind, "challenge");
  device.send({ type: "chip_lost" });
  const second = await device.expect("chip_command");
  assert.notEqual(second.exchange, first.exchange);
  assert.notEqual(second.commands[0], first.commands[0]);
  await device.answer(first);
  assert.equal(await device.closed(), "STALE_EXCHANGE");
  assert.deepEqual(await triesUsed(), unused);

  // Under the name of the current exchange, the old signature is a wrong one.
  const again = await connect();
  assert.equal((await again.expect("welcome")).phase, "chip_proof");
  const third = await again.expect("chip_command");
  await again.read(signing);
  const { chip } = again;
  assert.ok(chip !== null);
  const old = await chip.answer(second);
  assert.ok(old !== "lost" && old.length === 1);
  again.send({ type: "chip_answer", exchange: third.exchange, answers: old });
  const result = await again.expect("step_result");
  assert.equal(result.failure_code, "document_active_authentication_failed");
  assert.deepEqual(await triesUsed(), [1, 0, "in_progress"]);
});

test("more answers than there were commands are no message: the connection ends, and no try is used up", async (t) => {
  const { device, connect, triesUsed } = await begin(t);
  sendFiles(device.connection, await device.read(signing));
  const { exchange, commands } = await device.expect("chip_command");
  const ok = Buffer.from([0x90, 0]).toString("base64");
  device.send({ type: "chip_answer", exchange, answers: [...commands, ""].map(() => ok) });
  assert.equal(await device.closed(), "MESSAGE_INVALID");
  assert.deepEqual(await triesUsed(), unused);
  // The proof is still to be given, and can be.
  const again = await connect();
  assert.equal((await again.expect("welcome")).phase, "chip_proof");
  await again.read(signing);
  await again.answer(await again.expect("chip_command"));
  assert.equal((await again.expect("step_result")).failure_code, null);
});

test("a device that says the chip took the key, and cannot answer under it, has not proved the chip", async (t) => {
  const suite = cipherSuites["AES-128"];
  const forger = new SecureMessaging(suite, deriveSessionKeys(suite, new Uint8Array(32).fill(7)));
  forger.protectCommand({ cla: 0, ins: 0xa4, p1: 2, p2: 0x0c, data: Uint8Array.of(1, 0x0e) });
  const underOtherKeys = forger.protectResponse(0xa4, { data: new Uint8Array(), statusWord: 0x9000 });
  const answers: readonly (readonly Uint8Array[])[] = [
    [Uint8Array.of(0x90, 0)],
    [new Uint8Array(randomBytes(32))],
    [encodeResponse(underOtherKeys)],
    [],
  ];
  const ok = Buffer.from([0x90, 0]).toString("base64");
  for (const answer of answers) {
    const { device, triesUsed } = await begin(t);
    sendFiles(device.connection, await device.read(valid));
    const agreement = await device.expect("chip_command");
    assert.equal(agreement.kind, "in_session");
    device.send({
      type: "chip_answer",
      exchange: agreement.exchange,
      answers: agreement.commands.map(() => ok),
    });
    const proof = await device.expect("chip_command");
    assert.equal(proof.kind, "sealed");
    device.send({
      type: "chip_answer",
      exchange: proof.exchange,
      answers: answer.map((bytes) => Buffer.from(bytes).toString("base64")),
    });
    const result = await device.expect("step_result");
    assert.equal(result.failure_code, "document_chip_authentication_failed");
    assert.deepEqual(await triesUsed(), [1, 0, "in_progress"]);
  }
});

test("a group that the state did not sign is refused", async (t) => {
  const { device } = await begin(t);
  const files = await device.read(testDocument("passport-no-chip-proof", service.clock.now()));
  const foreign = await device.read(signing);
  assert.ok(foreign.DG15 !== undefined);
  sendFiles(device.connection, { ...files, DG15: foreign.DG15 });
  const { failure_code: code, tries_left: left } = await device.expect("step_result");
  assert.equal(code, "document_authenticity_failed");
  assert.deepEqual(left, { chip: 2, face: 3 });
});

test("groups that would ask for a proof cannot be left out", async (t) => {
  const { device } = await begin(t);
  const { SOD, DG1, DG2 } = await device.read(
    testDocument("passport-cloned-chip-authentication", service.clock.now()),
  );
  sendFiles(device.connection, { SOD, DG1, DG2 });
  assert.equal((await device.expect("step_result")).failure_code, "document_authenticity_failed");
});

/** A passport whose only proof is the mapping of PACE. */
function mappingPassport(clone: boolean) {
  const { files, chip, mrzLines } = personalise({
    country: createTestCountry(defaultTestSeed, service.clock.now()),
    profile: signerProfile("brainpoolP256r1-sha256-explicit"),
    can: "123456",
    portrait: readPortrait("adult.jpg"),
    mrz: {
      format: "TD3",
      documentCode: "P",
      issuingState: "UTO",
      nationality: "UTO",
      documentNumber: "MAPPING01",
      dateOfBirth: "900101",
      dateOfExpiry: "331231",
      sex: "X",
      primaryName: "Mapping",
    },
    chipMapping: true,
    clone,
  });
  return { ...valid, files, chip, mrzLines };
}

test("a chip that proves itself by the mapping of PACE to the service is genuine evidence, and its copy is refused", async (t) => {
  const { device, sessionId } = await begin(t, service.machines[0].url);
  const refused = await device.passChip(mappingPassport(true));
  assert.ok(refused.type === "step_result");
  assert.equal(refused.failure_code, "document_chip_authentication_failed");
  const passed = await device.passChip(mappingPassport(false), 100);
  assert.ok(passed.type === "step_result");
  assert.deepEqual([passed.passed, passed.phase], [true, "face"]);
  device.send({ type: "face_start" });
  assert.equal((await device.expect("outcome")).status, "succeeded");
  const { evidence } = expectData(await partner.api.get(`/v1/sessions/${sessionId}`));
  assert.equal(evidence.chip, "genuine");
});

test("the file with the key of the mapping cannot be left out, and answers of another exchange do not help", async (t) => {
  const { device, triesUsed } = await begin(t);
  const { CardSecurity, ...others } = await device.read(mappingPassport(false));
  assert.ok(CardSecurity !== undefined);
  sendFiles(device.connection, others);
  assert.equal((await device.expect("step_result")).failure_code, "document_chip_authentication_failed");
  const answers: string[][] = [];
  const files = await device.read(mappingPassport(false));
  sendFiles(device.connection, files, 100);
  for (;;) {
    const event = await device.connection.next();
    assert.ok("message" in event);
    if (event.message.type === "step_result") break;
    if (event.message.type !== "chip_command") continue;
    assert.deepEqual([event.message.proof, event.message.kind], ["chip_authentication_mapping", "sealed"]);
    const sent = await device.answer(event.message);
    assert.ok(sent.type === "chip_answer");
    answers.push(sent.answers);
  }
  assert.equal(answers.length, 9);
  const replaying = await begin(t);
  sendFiles(replaying.device.connection, files);
  for (let used = 0; ; ) {
    const event = await replaying.device.connection.next();
    assert.ok("message" in event);
    const { message } = event;
    if (message.type === "chip_command")
      replaying.device.send({
        type: "chip_answer",
        exchange: message.exchange,
        answers: answers[used++] ?? assert.fail("recorded answers were not enough"),
      });
    if (message.type !== "step_result") continue;
    assert.equal(message.failure_code, "document_chip_authentication_failed");
    // The recorded key of the chip fits no token of this exchange.
    assert.equal(used, 6);
    break;
  }
  assert.deepEqual(await replaying.triesUsed(), [1, 0, "in_progress"]);
  assert.deepEqual(await triesUsed(), [2, 0, "in_progress"]);
});

test("what has passed cannot be sent again, not even on a new socket", async (t) => {
  // The passed chip is in the memory of one process. Another one asks for the chip again, which costs no try.
  const { device, connect, triesUsed } = await begin(t, service.machines[0].url);
  assert.equal((await device.passChip(valid)).type, "step_result");
  device.send({ type: "chip_file", artifact: 90, file: "DG1", size: 10 });
  assert.equal(await device.closed(), "ALREADY_PASSED");
  for (const message of [{ type: "chip_restart" }, { type: "chip_done" }] as const) {
    const next = await connect();
    const { phase, resumed } = await next.expect("welcome");
    assert.deepEqual([phase, resumed], ["face", true]);
    next.send(message);
    assert.equal(await next.closed(), "ALREADY_PASSED");
  }
  const last = await connect();
  await last.expect("welcome");
  last.send({ type: "face_start" });
  assert.equal((await last.expect("outcome")).status, "succeeded");
  assert.equal(await last.closed(), "OUTCOME");
  assert.deepEqual(await triesUsed(), [1, 1, "succeeded"]);
  const late = await connect();
  assert.ok(["SOCKET_TOKEN_INVALID", "SESSION_ENDED"].includes(await late.closed()));
});

test("of two sockets the newer goes on, and the older is closed with a reason", async (t) => {
  const { device, connect, triesUsed } = await begin(t);
  device.send({ type: "chip_file", artifact: 1, file: "DG1", size: 10 });
  const newer = await connect();
  assert.equal(await device.closed(), "REPLACED");
  assert.equal((await newer.expect("welcome")).phase, "chip");
  assert.equal((await newer.passChip(valid)).type, "step_result");
  assert.deepEqual(await triesUsed(), [1, 0, "in_progress"]);
});

test("when the session is cancelled or expires, the socket is closed and nothing is counted", async (t) => {
  const cancelled = await begin(t);
  // The process sometimes records that the device answered, and may do so in between.
  let status = 409;
  for (let look = 0; look < 20 && status === 409; look++) {
    await service.core.db.run(
      sql`update attempts set last_seen_at = ${new Date(0)} where session_id = ${cancelled.sessionId}`,
    );
    status = (await partner.api.post(`/v1/sessions/${cancelled.sessionId}/cancel`)).status;
  }
  assert.equal(status, 204);
  assert.equal(await cancelled.device.closed(), "SESSION_ENDED");

  const expiring = await begin(t);
  service.clock.advance(3_600_000);
  expiring.device.send({ type: "chip_file", artifact: 1, file: "DG1", size: 10 });
  assert.equal(await expiring.device.closed(), "SESSION_ENDED");
  assert.deepEqual(await expiring.triesUsed(), [0, 0, "expired"]);
});
