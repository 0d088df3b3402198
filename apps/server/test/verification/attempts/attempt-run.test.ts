import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ChipFile,
  decodeArtifactFrame,
  type VerifyCloseCode,
  verifySocketLimits,
} from "@assay/contract/verify-protocol";
import type { DeviceMessage, ServiceMessage } from "@assay/contract/verify-socket";
import type { OpenedChip } from "@assay/device/drive-device";
import { sendFiles } from "@assay/device/send-artifacts";
import { virtualPassport } from "@assay/device/virtual-passport";
import { createNodeSignatureChecker } from "@assay/emrtd/node/signature-checker";
import type { ChipProofState, ChipProofStep } from "@assay/emrtd/verify/prove-chip";
import type { TestDocument } from "@assay/emrtd/virtual/test-document";
import { newChallenge } from "@assay/face/challenge";
import { Listener } from "../../../src/platform/db/listener.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import {
  AttemptRun,
  type DeviceLink,
  type RunOwner,
  type RunSurroundings,
} from "../../../src/verification/attempts/attempt-run.ts";
import { findSocketOwner } from "../../../src/verification/attempts/attempt-socket.store.ts";
import { ByteBudget, byteLimits } from "../../../src/verification/attempts/byte-budget.ts";
import { ChipExaminer, type ChipPool } from "../../../src/verification/attempts/chip-examiner.ts";
import { ChipStep } from "../../../src/verification/attempts/chip-step.ts";
import {
  type DocumentCheck,
  runChipTask,
  TrustStores,
} from "../../../src/verification/attempts/chip-task.ts";
import { FaceStep } from "../../../src/verification/attempts/face-step.ts";
import {
  progressSession,
  verifyProgressChannel,
} from "../../../src/verification/attempts/report-progress.ts";
import { maxBreakdowns, maxFreeChallenges } from "../../../src/verification/attempts/verify-flow.ts";
import type { FaceJudge, FaceVerdict, JudgeInput } from "../../../src/verification/face/face-judge.ts";
import { FaceSitting } from "../../../src/verification/face/face-sitting.ts";
import { CurrentTrust } from "../../../src/verification/trust/current-trust.ts";
import { createPartner, expectData } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { claimedSession, testDocument } from "../../support/verify-device.ts";

const service = await startTestService({ machines: 1, role: "api" });
const { core, clock } = service;
const partner = await createPartner(service.api);
const valid = testDocument("passport-valid", clock.now());

const checker = createNodeSignatureChecker();
const stores = new TrustStores(checker);
/** Every state of a proof that a run has been given. */
const proofStates: ChipProofState[] = [];
/** What the documents of all runs say about their holders. */
const contents: Uint8Array[] = [];
/** Without threads. Tasks and answers are copied, as they are for a thread. */
const pool: ChipPool = {
  waiting: 0,
  run: async (task) => {
    const answer = structuredClone(await runChipTask(structuredClone(task), { checker, stores }));
    if (task.kind === "verify") contents.push((answer as DocumentCheck).content ?? new Uint8Array(0));
    if (task.kind === "begin_proof" || task.kind === "continue_proof") {
      const step = answer as ChipProofStep;
      if (step.kind === "ask") proofStates.push(step.state);
    }
    return answer;
  },
  close: async () => {},
};
const examiner = new ChipExaminer({ pool });
const secretsOf = (state: ChipProofState) =>
  Object.values(state).filter((value): value is Uint8Array => value instanceof Uint8Array);
const isOverwritten = (bytes: Uint8Array) => bytes.every((byte) => byte === 0);

/** A device as the run sees it. */
class Link implements DeviceLink {
  readonly sent: ServiceMessage[] = [];
  closedWith: VerifyCloseCode | null = null;

  send(message: ServiceMessage): void {
    this.sent.push(message);
  }

  close(code: VerifyCloseCode): void {
    this.closedWith = code;
  }

  types(): string[] {
    return this.sent.map(({ type }) => type);
  }

  last<T extends ServiceMessage["type"]>(type: T): Extract<ServiceMessage, { type: T }> {
    const found = this.sent.findLast((message) => message.type === type);
    assert.ok(found !== undefined, `no ${type} in ${this.types()}`);
    return found as Extract<ServiceMessage, { type: T }>;
  }
}

type Message = Exclude<DeviceMessage, { type: "hello" }>;

/** One run of a claimed session, with nothing between it and the test. */
async function newRun(around: Partial<RunSurroundings> = {}) {
  const { sessionId, socketToken } = await claimedSession(partner.api);
  const { session, ...attempt } =
    (await findSocketOwner(core.db, sessionId as RunOwner["sessionId"], socketToken)) ?? assert.fail();
  const owner: RunOwner = {
    ...attempt,
    sessionId: session.id,
    organizationId: session.organizationId,
    sandbox: session.sandbox,
    expiresAt: session.expiresAt,
    requirements: session.requirements,
    triesUsed: { chip: 0, face: 0 },
    chipPassed: false,
  };
  const limits = { processBytes: 1 << 30, sandboxPercent: 100, organizationPercent: 100 };
  const budget = new ByteBudget(byteLimits(limits));
  const handedOut: Buffer[] = [];
  const run = new AttemptRun(owner, {
    core,
    examiner,
    trust: new CurrentTrust(core.db),
    judged: () => {},
    faceJudge: null,
    attestation: { judge: () => "no_app" },
    budget,
    allocate: (bytes) => {
      const buffer = Buffer.alloc(bytes);
      handedOut.push(buffer);
      return buffer;
    },
    timed: () => {},
    ...around,
  });
  const attach = async () => {
    const link = new Link();
    await run.attach(link);
    return link;
  };
  let handled = Promise.resolve();
  /** Sends through the link. The messages of the device package are copied, as a socket would. */
  const wire = (link: Link) => ({
    send: (message: DeviceMessage) => {
      handled = run.receive(link, { kind: "message", message: message as Message });
    },
    sendBytes: (bytes: Uint8Array) => {
      const frame = decodeArtifactFrame(Uint8Array.from(bytes)) ?? assert.fail();
      handled = run.receive(link, { kind: "part", frame });
    },
  });
  const say = async (link: Link, message: Message) => {
    wire(link).send(message);
    await handled;
  };
  const read = async (link: Link, document = valid): Promise<OpenedChip> => {
    const chip = await virtualPassport(document)(() => {});
    sendFiles(wire(link), await chip.readFiles());
    await handled;
    return chip;
  };
  const passChip = async (link: Link, document = valid) => {
    const judged = () => link.types().filter((type) => type === "step_result").length;
    const before = judged();
    const chip = await read(link, document);
    while (judged() === before) {
      const command = link.last("chip_command");
      const answers = await chip.answer(command);
      assert.ok(answers !== "lost");
      await say(link, { type: "chip_answer", exchange: command.exchange, answers });
    }
    assert.ok(link.last("step_result").passed);
  };
  /** Some of the bytes of a file, or all. */
  const sendBytes = (link: Link, artifact: number, all: readonly number[], from = 0, to = all.length) => {
    const bytes = Uint8Array.from(all.slice(from, to));
    return run.receive(link, { kind: "part", frame: { artifact, offset: from, total: all.length, bytes } });
  };
  const film = async (link: Link, artifact: number, ...bytes: number[]) => {
    await say(link, { type: "face_frame", artifact, size: bytes.length, at_ms: artifact });
    await sendBytes(link, artifact, bytes);
  };
  /** Waits for all earlier inputs: this one is of a socket that the run does not know, so it is dropped. */
  const settled = () => say(new Link(), { type: "face_done" });
  const startFace = (link: Link) => say(link, { type: "face_start", camera: true });
  const stored = () =>
    core.db.one<{ unanswered: number; step: string }>(sql`
      select unanswered_challenges as unanswered, step from attempt_sockets where attempt_id = ${owner.attemptId}`);
  return {
    run,
    owner,
    budget,
    handedOut,
    attach,
    settled,
    say,
    sendBytes,
    read,
    passChip,
    film,
    startFace,
    stored,
  };
}

/** A face check with the verdicts of the test. */
function watchedJudge(verdict: FaceVerdict = { kind: "failed", code: "liveness_failed", reasons: [] }) {
  const judged: JudgeInput[] = [];
  const follows: Parameters<FaceJudge["follow"]>[0][] = [];
  const sittings: FaceSitting[] = [];
  const looked: number[][] = [];
  const begun: Parameters<FaceJudge["begin"]>[0][] = [];
  const faceJudge: FaceJudge = {
    begin: (who) => {
      begun.push(who);
      return newChallenge((below) => below - 1);
    },
    close: async () => {},
    follow: (attempt) => {
      follows.push(attempt);
      const sitting = new FaceSitting(async ({ jpeg }) => {
        looked.push([...jpeg]);
        return { kind: "seen", faces: 0, width: 1, height: 1, face: null, box: null, mayFollow: 0 };
      });
      sittings.push(sitting);
      return sitting;
    },
    judge: async (input) => {
      judged.push(input);
      return verdict;
    },
  };
  return { faceJudge, judged, follows, sittings, looked, begun };
}

const logged = (text: string) => service.logLines.filter((line) => line.includes(text)).length;
const stepFailed = "a step of a verification failed";

// --- sockets -----------------------------------------------------------------------------------------------

test("two sockets at once: the first is replaced without a welcome, and its input is dropped", async () => {
  const { run, owner, budget } = await newRun();
  const [first, second] = [new Link(), new Link()];
  const attached = [run.attach(first), run.attach(second)];
  await Promise.all(attached);
  assert.deepEqual([first.types(), first.closedWith], [[], "REPLACED"]);
  assert.deepEqual([second.types(), second.closedWith], [["welcome"], null]);
  assert.deepEqual(second.last("welcome"), {
    ...{ type: "welcome", protocol: "verify.v1", session_id: owner.sessionId, attempt_id: owner.attemptId },
    ...{ sandbox: true, phase: "chip", resumed: false, tries_left: { chip: 3, face: 3 }, face: "simulated" },
    expires_at: owner.expiresAt.toISOString(),
  });
  await run.receive(first, { kind: "message", message: { type: "face_done" } });
  assert.equal(second.closedWith, null, "the mistake of the first is not the second's");
  assert.equal(run.link, second);
  run.detach(first);
  assert.equal(run.link, second, "the first is gone, not the second");
  assert.equal(budget.reserved, verifySocketLimits.chipBytes);
});

test("a device that is gone before its welcome holds nothing", async () => {
  const { run, budget, settled } = await newRun();
  const link = new Link();
  void run.attach(link);
  run.detach(link);
  await settled();
  assert.deepEqual([link.types(), budget.reserved], [[], 0]);
});

test("files that are not complete are overwritten once the device is gone, and kept for a passed chip", async () => {
  const { run, budget, handedOut, attach, settled, say, sendBytes, passChip } = await newRun();
  const link = await attach();
  await say(link, { type: "chip_file", artifact: 1, file: "SOD", size: 3 });
  await sendBytes(link, 1, [1, 2, 3]);
  run.detach(new Link());
  await settled();
  assert.deepEqual(handedOut, [Buffer.of(1, 2, 3)], "another socket of the device is gone, not this one");
  run.detach(link);
  await settled();
  assert.deepEqual([handedOut, budget.reserved], [[Buffer.alloc(3)], 0]);
  const next = await attach();
  await passChip(next);
  run.detach(next);
  await settled();
  const kept = handedOut.filter((bytes) => !isOverwritten(bytes));
  assert.equal(kept.length, 2, "portrait and signature");
  assert.equal(
    budget.reserved,
    kept.reduce((sum, { length }) => sum + length, 0),
    "and no byte more is reserved",
  );
});

test("what is kept for a device is overwritten if it stays away, and not once it is back", async () => {
  const { run, budget, handedOut, attach, passChip } = await newRun();
  const link = await attach();
  await passChip(link);
  run.detach(link);
  const back = await attach();
  await run.forget();
  assert.equal(handedOut.filter((bytes) => !isOverwritten(bytes)).length, 2, "it is back");
  assert.deepEqual([back.last("welcome").phase, back.last("welcome").resumed], ["face", true]);
  run.detach(back);
  await run.forget();
  assert.deepEqual([handedOut.every(isOverwritten), budget.reserved], [true, 0]);
  assert.equal((await attach()).last("welcome").phase, "chip");
});

test("a device would have to repeat something from the end of its reading to the end of its attempt", async () => {
  const { run, attach, say, read, passChip } = await newRun();
  const link = await attach();
  assert.equal(run.isUnderWay, false);
  await say(link, { type: "chip_file", artifact: 90, file: "COM", size: 3 });
  assert.equal(run.isUnderWay, false, "files are sent again by themselves");
  await say(link, { type: "chip_restart" });
  await read(link);
  assert.equal(run.isUnderWay, true, "the chip is being asked for its proof");
  await say(link, { type: "chip_restart" });
  assert.equal(run.isUnderWay, false);
  await passChip(link);
  assert.equal(run.isUnderWay, true);
  await run.sessionOver();
  assert.deepEqual([run.isUnderWay, run.ended, link.closedWith], [false, true, "SESSION_ENDED"]);
});

test("a run agrees with the database while both count the same tries of each step", async () => {
  const { run, attach, passChip } = await newRun();
  const agreed = (known: { chip: number; face: number }[]) => known.filter((tries) => run.agreesWith(tries));
  const all = [0, 1, 2].flatMap((chip) => [0, 1, 2].map((face) => ({ chip, face })));
  assert.deepEqual(agreed(all), [{ chip: 0, face: 0 }]);
  await passChip(await attach());
  assert.deepEqual(agreed(all), [{ chip: 1, face: 0 }]);
});

test("an internal fault closes the socket, counts nothing, and the device goes on from the same state", async () => {
  let isFull = true;
  let onAllocate = () => {};
  const { run, owner, attach, say, passChip } = await newRun({
    allocate: (bytes) => {
      onAllocate();
      if (isFull) throw new RangeError("Array buffer allocation failed");
      return Buffer.alloc(bytes);
    },
  });
  const link = await attach();
  const before = logged(stepFailed);
  await say(link, { type: "chip_file", artifact: 1, file: "SOD", size: 3 });
  assert.deepEqual([link.closedWith, run.link], ["INTERNAL", null]);
  assert.equal(logged(stepFailed), before + 1);
  const line = service.logLines.findLast((each) => each.includes(stepFailed)) ?? "";
  assert.ok(line.includes(owner.attemptId));
  // Also one that comes when the device is gone already.
  const gone = await attach();
  onAllocate = () => run.detach(gone);
  await say(gone, { type: "chip_file", artifact: 1, file: "SOD", size: 3 });
  assert.equal(gone.closedWith, null);
  isFull = false;
  const next = await attach();
  assert.deepEqual(next.last("welcome").tries_left, { chip: 3, face: 3 });
  await passChip(next);
});

test("a session that ends while its device is away gives everything back, and is no fault", async () => {
  const { run, budget, handedOut, attach, passChip } = await newRun();
  const link = await attach();
  await passChip(link);
  run.detach(link);
  const before = logged(stepFailed);
  const content = contents.at(-1) ?? assert.fail();
  assert.ok(content.length > 0 && !isOverwritten(content));
  await run.sessionOver();
  assert.deepEqual([run.ended, budget.reserved, handedOut.every(isOverwritten)], [true, 0, true]);
  assert.ok(isOverwritten(content), "what the chip says about its holder");
  assert.equal(logged(stepFailed), before);
});

test("a run that is disposed of holds nothing, and handles nothing more", async () => {
  const { run, budget, handedOut, attach, passChip, startFace, film } = await newRun({
    faceJudge: watchedJudge().faceJudge,
  });
  const link = await attach();
  await passChip(link);
  await startFace(link);
  await film(link, 50, 1, 2);
  assert.ok(budget.reserved > verifySocketLimits.faceBytes, "all frames of the capture have their memory");
  await run.dispose();
  assert.deepEqual([run.ended, budget.reserved, handedOut.every(isOverwritten)], [true, 0, true]);
  const late = new Link();
  await run.attach(late);
  assert.deepEqual([late.types(), budget.reserved], [[], 0]);
});

test("a check that ends after its run was disposed of counts nothing and reaches no device", async () => {
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const slow: ChipPool = {
    ...pool,
    run: async (task, who) => {
      begun.resolve();
      await held.promise;
      return pool.run(task, who);
    },
  };
  const { run, owner, handedOut, attach, read } = await newRun({
    examiner: new ChipExaminer({ pool: slow }),
  });
  const link = await attach();
  const reading = read(link, testDocument("passport-expired", clock.now()));
  await begun.promise;
  const heard = link.types();
  const disposed = run.dispose();
  held.resolve();
  await Promise.all([reading, disposed]);
  assert.deepEqual(link.types(), heard);
  assert.ok(handedOut.every(isOverwritten));
  const session = await partner.api.get(`/v1/sessions/${owner.sessionId}`);
  assert.equal(expectData<{ nfc_tries_used: number }>(session).nfc_tries_used, 0);
});

test("every step that is reached is announced to the person's pages, with the ids and nothing else", async (t) => {
  const { owner, attach, passChip, startFace } = await newRun({ faceJudge: watchedJudge().faceJudge });
  // A set, because the same notification is sent once if it comes twice within some milliseconds.
  const heard = new Set<string>();
  const listener = new Listener(() => service.databaseUrl, core.log);
  listener.on(verifyProgressChannel, (payload) => {
    // Those of an earlier test may come late.
    if ([owner.sessionId, null].includes(progressSession(payload))) heard.add(payload);
  });
  await listener.start();
  t.after(() => listener.stop());
  const link = await attach();
  await passChip(link);
  await startFace(link);
  // They arrive in their order.
  await until("the last step was not announced", () =>
    [...heard].some((payload) => payload.includes("face_capture")),
  );
  heard.delete("");
  const steps = ["chip", "chip_check", "chip_proof", "face", "face_capture"];
  const { sessionId, attemptId } = owner;
  assert.deepEqual(
    [...heard].map((payload) => JSON.parse(payload)),
    steps.map((step) => ({ session_id: sessionId, attempt_id: attemptId, step })),
  );
});

test("the risk of a verdict grows with every failed try before it, and not with a passed chip", async () => {
  const { owner, attach, say, read, passChip, startFace } = await newRun({
    faceJudge: watchedJudge().faceJudge,
  });
  const risk = async () => {
    const { score } = await core.db.one<{ score: number }>(
      sql`select risk_score::float8 as score from attempts where id = ${owner.attemptId}`,
    );
    return score;
  };
  const link = await attach();
  await read(link, testDocument("passport-expired", clock.now()));
  assert.equal(link.last("step_result").failure_code, "document_expired");
  await passChip(link);
  assert.equal(await risk(), 0.05, "one failed before");
  const risks: number[] = [];
  for (let times = 0; times < 2; times++) {
    await startFace(link);
    await say(link, { type: "face_done" });
    risks.push(await risk());
  }
  assert.deepEqual(risks, [0.05, 0.098], "one before the first face, two before the second");
  const audited = await core.db.rows<{ attempt: string }>(sql`
    select details->>'attempt_id' as attempt from audit_logs
    where event = 'session.face_rejected' and target_id = ${owner.sessionId}`);
  assert.deepEqual(audited, [{ attempt: owner.attemptId }, { attempt: owner.attemptId }]);
});

test("a step is stored when it is reached, and what is sent within it writes nothing", async (t) => {
  const { attach, say, sendBytes, passChip, stored } = await newRun();
  const link = await attach();
  assert.equal((await stored()).step, "chip");
  const writes = t.mock.method(core.db, "transaction");
  for (let times = 0; times < 3; times++) {
    await say(link, { type: "chip_file", artifact: 90, file: "COM", size: 2 });
    await sendBytes(link, 90, [1, 2]);
    await say(link, { type: "chip_restart" });
  }
  assert.equal(writes.mock.callCount(), 0);
  writes.mock.restore();
  await passChip(link);
  assert.equal((await stored()).step, "face");
});

// --- the chip ----------------------------------------------------------------------------------------------

test("a file of an earlier reading is no part of the next", async () => {
  const { attach, say, read, passChip } = await newRun();
  const link = await attach();
  const other = testDocument("passport-no-chip-proof", clock.now());
  assert.ok(valid.files.DG14 !== undefined && other.files.DG14 === undefined);
  await read(link);
  await say(link, { type: "chip_restart" });
  await passChip(link, other);
});

test("every document is counted with its verdict and what it was judged by, and every step with its time", async () => {
  const judged: string[][] = [];
  const times: [string, number][] = [];
  const { attach, read, passChip } = await newRun({
    judged: (...document) => judged.push(document),
    timed: (...step) => times.push(step),
  });
  const link = await attach();
  const startedAt = performance.now();
  await read(link, testDocument("passport-expired", clock.now()));
  await passChip(link);
  const seconds = (performance.now() - startedAt) / 1000;
  assert.deepEqual(judged, [
    ["document_expired", "test_country"],
    ["passed", "test_country"],
  ]);
  const steps = times.map(([step]) => step);
  assert.deepEqual(steps.slice(0, 4), ["chip_check", "count", "chip_check", "chip_proof"]);
  assert.equal(steps.at(-1), "count");
  const all = times.reduce((sum, [, time]) => sum + time, 0);
  assert.ok(all > 0 && all <= seconds, `${all} of ${seconds} seconds`);
});

test("the secrets of a proof are overwritten when it is judged, begun again or forgotten", async () => {
  const secrets = () => proofStates.flatMap(secretsOf);
  const { run, attach, say, read, passChip } = await newRun();
  const link = await attach();
  proofStates.length = 0;
  await read(link);
  assert.ok(secrets().length > 0 && !secrets().some(isOverwritten), "it is under way");
  await say(link, { type: "chip_lost" });
  assert.equal(proofStates.length, 2);
  assert.deepEqual(
    proofStates.map((state) => secretsOf(state).every(isOverwritten)),
    [true, false],
    "begun again",
  );
  run.detach(link);
  await run.forget();
  assert.ok(secrets().every(isOverwritten), "forgotten");
  proofStates.length = 0;
  await passChip(await attach());
  assert.ok(secrets().length > 0 && secrets().every(isOverwritten), "judged");
});

test("no chip is pinned that has not passed every check, nor one without its files", async () => {
  const owner = { attemptId: "", sandbox: true, selectedFieldKeys: [], requirements: [] } as never;
  const asking = () => ({ sandbox: true, organization: "", onBusy: () => {} });
  const stepOf = ({ files }: TestDocument) => {
    const needs = {
      clock,
      log: core.log,
      examiner,
      trust: new CurrentTrust(core.db),
      judged: () => {},
      asking,
    };
    const step = new ChipStep(owner, needs);
    for (const [index, [file, bytes]] of Object.entries(files).entries()) {
      step.expectFile(index, file as ChipFile, Buffer.alloc(bytes.length));
      step.keepPart(index, 0, bytes);
    }
    return step;
  };
  const refused = /has not passed/;
  const unchecked = stepOf(valid);
  assert.throws(() => unchecked.pin(), refused);
  for (const [id, failureCode, proof] of [
    ["passport-expired", "document_expired", null],
    // It has still to prove that it is no copy.
    ["passport-valid", null, "chip_authentication"],
  ] as const) {
    const step = stepOf(testDocument(id, clock.now()));
    assert.deepEqual(await step.check(), { kind: "chip_checked", verdict: { failureCode }, proof });
    assert.throws(() => step.pin(), refused, id);
    assert.equal(step.passed, null);
    step.wipe();
    assert.throws(() => step.pin(), refused, "nothing is left of it");
  }
});

// --- the face ----------------------------------------------------------------------------------------------

test("a capture that fails while its device is away uses no try, and neither does one that is over", async () => {
  const { faceJudge, follows } = watchedJudge();
  const { attach, run, settled, passChip, startFace, film, say } = await newRun({ faceJudge });
  const failNow = async (capture: number) => {
    (follows[capture] ?? assert.fail()).onFailed({
      kind: "failed",
      code: "liveness_failed",
      reasons: ["cut"],
    });
    await settled();
  };
  const link = await attach();
  await passChip(link);
  await startFace(link);
  await film(link, 50, 1);
  run.detach(link);
  await failNow(0);
  const next = await attach();
  const { phase, tries_left: left } = next.last("welcome");
  assert.deepEqual([phase, left.face], ["face_capture", 3]);
  assert.deepEqual(next.last("face_challenge"), link.last("face_challenge"), "the challenge goes on");
  await film(next, 51, 1);
  await failNow(0);
  assert.ok(!next.types().includes("step_result"), "these frames are of the socket before");
  await failNow(1);
  const { tries_left: triesLeft, failure_code: code } = next.last("step_result");
  assert.deepEqual([triesLeft.face, code], [2, "liveness_failed"]);
  await startFace(next);
  await film(next, 52, 1);
  await failNow(1);
  await say(next, { type: "face_done" });
  assert.equal(next.last("step_result").tries_left.face, 1, "one try for each capture");
});

test("a frame is looked at once it is whole and those before it are, and what was seen goes to the judge", async () => {
  const { faceJudge, judged, sittings, looked } = watchedJudge();
  const { attach, settled, sendBytes, passChip, startFace, film, say } = await newRun({ faceJudge });
  const link = await attach();
  await passChip(link);
  await startFace(link);
  await say(link, { type: "face_frame", artifact: 50, size: 2, at_ms: 50 });
  await film(link, 51, 5, 6);
  assert.deepEqual(looked, [], "the first is announced and not here");
  await sendBytes(link, 50, [3, 4], 0, 1);
  assert.deepEqual(looked, [], "half of it is missing");
  await sendBytes(link, 50, [3, 4], 1);
  await say(link, { type: "face_frame", artifact: 52, size: 1, at_ms: 52 });
  assert.deepEqual(looked, [
    [3, 4],
    [5, 6],
  ]);
  await sendBytes(link, 52, [7]);
  await settled();
  assert.deepEqual(looked.slice(2), [[7]], "each once");
  await say(link, { type: "face_done" });
  assert.equal(judged.length, 1);
  assert.equal(judged[0]?.sitting, sittings[0], "so that no frame is looked at twice");
  assert.deepEqual(
    // Their bytes are overwritten by now.
    judged[0]?.frames.map(({ atMs, jpeg }) => [atMs, jpeg.length]),
    [
      [50, 2],
      [51, 2],
      [52, 1],
    ],
  );
});

test("in the sandbox a camera without a face check is a fault of ours", async () => {
  const { attach, passChip, startFace } = await newRun();
  const link = await attach();
  await passChip(link);
  await startFace(link);
  assert.equal(link.last("fault").code, "FACE_CHECK_UNAVAILABLE");
});

test("a face check that has no time gives every challenge back", async () => {
  const { faceJudge, begun } = watchedJudge({ kind: "fault", reason: "busy" });
  const { attach, passChip, startFace, say, stored } = await newRun({ faceJudge });
  const link = await attach();
  await passChip(link);
  for (let times = 0; times <= maxFreeChallenges; times++) {
    await startFace(link);
    assert.equal((await stored()).unanswered, 1);
    await say(link, { type: "face_done" });
    assert.equal(link.last("fault").code, "FACE_CHECK_BUSY");
    assert.equal((await stored()).unanswered, 0);
  }
  await say(link, { type: "face_start", camera: true, still_head: true });
  assert.deepEqual(begun.slice(-2), [
    { sandbox: true, stillHead: false },
    { sandbox: true, stillHead: true },
  ]);
});

test("frames that crash the check again and again are not judged any more, which uses no try", async () => {
  const { faceJudge, judged } = watchedJudge({ kind: "fault", reason: "worker_died" });
  const { attach, passChip, startFace, say } = await newRun({ faceJudge });
  const link = await attach();
  await passChip(link);
  for (let times = 0; times <= maxBreakdowns; times++) {
    await startFace(link);
    await say(link, { type: "face_done" });
    assert.equal(link.last("fault").code, "CHECK_FAILED_TO_RUN");
  }
  for (let times = 0; times < 2; times++) {
    await startFace(link);
    assert.equal(link.last("fault").code, "FACE_CHECK_UNAVAILABLE");
  }
  assert.equal(judged.length, maxBreakdowns + 1);
  assert.equal(link.types().filter((type) => type === "step_result").length, 1, "of the chip");
});

test("a challenge that cannot be counted is not handed out", async (t) => {
  const { faceJudge } = watchedJudge();
  const { attach, passChip, startFace } = await newRun({ faceJudge });
  const link = await attach();
  await passChip(link);
  await core.db.run(
    sql`create function refuse() returns trigger language plpgsql as 'begin raise exception ''full''; end'`,
  );
  t.after(() => core.db.run(sql`drop function if exists refuse() cascade`));
  await core.db.run(
    sql`create trigger refuse before update on attempt_sockets for each row execute function refuse()`,
  );
  await startFace(link);
  assert.equal(link.last("fault").code, "STORE_UNAVAILABLE");
  assert.ok(!link.types().includes("face_challenge"));
  await core.db.run(sql`drop function refuse() cascade`);
  await startFace(link);
  assert.equal(link.last("face_challenge").movements.length, 4);
});

test("a success that its test document decided rests on no check of a face", async () => {
  const { owner, attach, passChip, say } = await newRun();
  const link = await attach();
  await passChip(link);
  await say(link, { type: "face_start" });
  assert.equal(link.last("outcome").status, "succeeded");
  const session = await partner.api.get(`/v1/sessions/${owner.sessionId}`);
  const { evidence } = expectData<{ evidence: { device: string; face_checks: string[] } }>(session);
  assert.deepEqual([evidence.device, evidence.face_checks], ["unattested", []]);
});

test("a test document decides no live session", async (t) => {
  const simulated = t.mock.method(examiner, "simulateFace");
  const owner = { sessionId: "vs_", attemptId: "va_", sandbox: false } as never;
  const step = new FaceStep(owner, {
    ...{
      db: core.db,
      clock,
      log: core.log,
      examiner,
      faceJudge: null,
      attestation: { judge: () => "no_app" },
    },
    asking: () => ({ sandbox: false, organization: "", onBusy: () => {} }),
    reserveMemory: () => true,
    failedEarly: () => {},
  });
  const chip = { sod: Buffer.alloc(1), dg2: Buffer.alloc(1) };
  await assert.rejects(step.judge(chip, "test_document", null), /live session/);
  assert.equal(simulated.mock.callCount(), 0);
});
