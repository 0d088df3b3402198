import assert from "node:assert/strict";
import { test } from "node:test";
import { CommandError, runCommand } from "@assay/cli/command";
import { simulateCommand } from "../../../src/operations/cli/simulate.command.ts";
import { systemClock } from "../../../src/platform/kernel/clock.ts";
import { createPartner, expectData } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";

// The command goes by the real year, so the service must, too.
const service = await startTestService({ clock: systemClock });
const partner = await createPartner(service.api);

const optional = { required: false, reason: "To address you." };

async function newSession(shareFields: Record<string, typeof optional> = { sex_marker: optional }) {
  return expectData(await partner.api.post("/v1/sessions", { share_fields: shareFields }), 201);
}

async function simulate(...args: string[]) {
  const lines: string[] = [];
  const exitCode = await runCommand([simulateCommand], ["simulate", ...args], (line) => lines.push(line));
  return { exitCode, lines };
}

const statusOf = async (id: string) => expectData(await partner.api.get(`/v1/sessions/${id}`)).status;

test("a short name means the first document that begins with it", async () => {
  const session = await newSession();
  const { exitCode, lines } = await simulate(session.verification_url, "--passport", "cloned", "--json");
  assert.equal(exitCode, 3);
  assert.equal(JSON.parse(lines.at(-1) ?? "{}").document, "passport-cloned-chip-authentication");
});

test("a test document goes all the way, step by step, and what is declined is not shared", async () => {
  const session = await newSession({ sex_marker: optional, nationality_code: optional });
  const { exitCode, lines } = await simulate(
    session.verification_url,
    "--passport",
    "valid",
    "--decline",
    "sex_marker",
  );
  assert.equal(exitCode, 0);
  assert.deepEqual(lines, [
    "consent",
    "handoff",
    "claim",
    "chip check",
    "chip authentication",
    "chip authentication",
    "chip passed",
    "face check",
    "Succeeded.",
  ]);
  const { status, consent } = expectData(await partner.api.get(`/v1/sessions/${session.id}`));
  assert.deepEqual(
    [status, consent.selected_field_keys],
    ["succeeded", ["nationality_code", "service_document_id"]],
  );
  const judged = service.logLines.findLast((line) => line.includes("a document was judged")) ?? "";
  assert.match(judged, /"attemptId":"va_[A-Za-z0-9]{64}"/);
  assert.ok(!service.logLines.join("").includes(session.id), "the id opens the person's page");
});

test("with the camera, the face of the drawn person is judged by the real models", async () => {
  const outcomes = await Promise.all(
    ["jpeg2000", "minor"].map(async (passport) => {
      const session = await newSession();
      const { exitCode, lines } = await simulate(
        session.verification_url,
        "--passport",
        passport,
        "--camera",
      );
      assert.ok(lines.some((line) => line.startsWith("face capture (")));
      return [passport, exitCode, lines.at(-1)];
    }),
  );
  assert.deepEqual(outcomes, [
    ["jpeg2000", 0, "Succeeded."],
    ["minor", 0, "Succeeded."],
  ]);
});

test("a failure has an exit code and is printed as JSON", async () => {
  const session = await newSession();
  const { exitCode, lines } = await simulate(
    session.verification_url,
    "--passport",
    "passport-expired",
    "--json",
  );
  assert.equal(exitCode, 3);
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [
      {
        document: "passport-expired",
        result: "failed",
        sessionId: session.id,
        failureCode: "document_expired",
        unmetRequirement: null,
      },
    ],
  );
});

test("the output says what the session requires, and why a document could not meet it", async () => {
  const requirements = { clone_detection: "required" };
  const demanding = async () => expectData(await partner.api.post("/v1/sessions", { requirements }), 201);
  const session = await demanding();
  const url = session.verification_url;
  const refused = await simulate(url, "--passport", "no-chip-proof", "--require", "clone_detection");
  assert.equal(refused.exitCode, 3);
  assert.equal(refused.lines.at(0), "the document must give clone detection");
  assert.equal(
    refused.lines.at(-1),
    "Failed: document_chip_authentication_failed, because the session requires clone_detection and this document cannot give it.",
  );
  const genuine = await simulate((await demanding()).verification_url, "--passport", "valid", "--json");
  assert.equal(genuine.exitCode, 0);
});

test("--require leaves a session alone that does not require as much", async () => {
  const session = await newSession();
  await assert.rejects(
    simulate(session.verification_url, "--passport", "valid", "--require", "clone_detection,revocation"),
    (error) => error instanceof CommandError && /does not require clone_detection/.test(error.message),
  );
  assert.equal(await statusOf(session.id), "created");
});

for (const step of ["consent", "handoff", "claim", "chip"]) {
  test(`it can be left after ${step}`, async () => {
    const session = await newSession();
    const { exitCode, lines } = await simulate(
      session.verification_url,
      "--passport",
      "valid",
      "--stop-after",
      step,
      "--json",
    );
    assert.equal(exitCode, 0);
    assert.equal(JSON.parse(lines.at(-1) ?? "").after, step);
    assert.equal(await statusOf(session.id), step === "claim" || step === "chip" ? "in_progress" : "created");
  });
}

test("mistakes are explained", async () => {
  const { verification_url: url } = await newSession();
  const mistakes: [string[], RegExp][] = [
    [["https://example.com/", "--passport", "valid"], /not the verification_url/],
    [[url, "--passport", "gold"], /There is no test document gold\. There are:\s+passport-valid/],
    [[url, "--passport", "expird"], /Did you mean expired\?/],
    [[url, "--passport", "valid", "--stop-after", "lunch"], /--stop-after must be one of/],
    [[url, "--passport", "valid", "--decline", "family_name"], /does not ask for family_name/],
    [[url, "--passport", "valid", "--decline", "service_document_id"], /required and cannot be declined/],
    [
      [url, "--passport", "valid", "--require", "luck"],
      /--require takes clone_detection and revocation, not luck/,
    ],
    [[url], /--passport ID, or --wallet CREDENTIAL/],
    [[`${service.url}/verify/vs_${"0".repeat(64)}`, "--passport", "valid"], /session/],
  ];
  for (const [args, message] of mistakes)
    await assert.rejects(
      simulate(...args),
      (error) => error instanceof CommandError && message.test(error.message),
    );
});

test("the protocol is published", async () => {
  const response = await fetch(`${service.url}/asyncapi`);
  const document = (await response.json()) as Record<string, any>;
  assert.equal(document.asyncapi, "3.0.0");
  assert.equal(document.channels.verify.address, "/v1/verify/session/{session_id}");
  // Every reference leads somewhere.
  const references = JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g);
  let count = 0;
  for (const [, path = ""] of references) {
    count += 1;
    const found = path.split("/").reduce((at: any, name) => at?.[name], document);
    assert.ok(found !== undefined, path);
  }
  assert.ok(count > 30);
});

test("the test wallet goes all the way, and the outcome decides how it ends", async () => {
  const identity = { family_name: { required: true, reason: "To address you." } };
  const withWallet = async (method: string, share_fields: object, ...args: string[]) => {
    const session = expectData(
      await partner.api.post("/v1/sessions", { methods: [method], share_fields }),
      201,
    );
    return { session, ...(await simulate(session.verification_url, ...args)) };
  };
  const valid = await withWallet("wallet_pid", identity, "--wallet", "pid");
  assert.equal(valid.exitCode, 0, valid.lines.join("\n"));
  assert.deepEqual(valid.lines, ["consent", `${new URL(service.url).host} asks`, "answer", "Succeeded."]);
  assert.equal(await statusOf(valid.session.id), "succeeded");
  const revoked = await withWallet(
    "wallet_mdl",
    identity,
    "--wallet",
    "mdl",
    "--outcome",
    "revoked",
    "--json",
  );
  assert.equal(revoked.exitCode, 3);
  assert.deepEqual(JSON.parse(revoked.lines.at(-1) ?? "{}"), {
    wallet: "mdl",
    outcome: "revoked",
    result: "failed",
    sessionId: revoked.session.id,
    failureCode: "document_authenticity_failed",
  });
  const declined = await withWallet("wallet_mdl", identity, "--wallet", "mdl", "--outcome", "declines");
  assert.equal(declined.exitCode, 0);
  assert.equal(await statusOf(declined.session.id), "in_progress");
});

test("a wallet that the session does not offer, and options that do not fit, are refused in words", async () => {
  const session = await newSession();
  const url = session.verification_url;
  const refusals: [string[], RegExp][] = [
    [["--wallet", "pid"], /does not offer wallet_pid/],
    [["--wallet", "pid", "--outcome", "revokd"], /There is no outcome revokd\. Did you mean revoked/],
    [["--wallet", "pid", "--passport", "valid"], /--passport cannot be combined with --wallet/],
    [["--passport", "valid", "--outcome", "valid"], /--outcome goes with --wallet/],
  ];
  for (const [args, message] of refusals)
    await assert.rejects(
      simulate(url, ...args),
      (error) => error instanceof CommandError && message.test(error.message),
      args.join(" "),
    );
});
