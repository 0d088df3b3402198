import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ChipSource } from "@assay/device/drive-device";
import { testPersonCamera } from "@assay/device/node/test-person";
import { type CameraSource, runDevice } from "@assay/device/run-device";
import { DeviceError } from "@assay/device/verification-url";
import { virtualPassport } from "@assay/device/virtual-passport";
import { buildDg1 } from "@assay/emrtd/lds/dg1";
import { buildMrz } from "@assay/emrtd/mrz/build-mrz";
import { personalise } from "@assay/emrtd/node/test-country/personalise";
import { readPortrait } from "@assay/emrtd/node/test-country/portraits";
import { signerProfile } from "@assay/emrtd/node/test-country/signer-profiles";
import { createTestCountry, defaultTestSeed } from "@assay/emrtd/node/test-country/test-country";
import { sql } from "../../../src/platform/db/sql.ts";
import { systemClock } from "../../../src/platform/kernel/clock.ts";
import { FaceWorkerPool } from "../../../src/verification/face/face-worker-pool.ts";
import { createPartner, expectData } from "../../support/api.ts";
import { createAuthority } from "../../support/certificate.ts";
import { startCollector } from "../../support/collector.ts";
import { disguisesOf } from "../../support/disguises.ts";
import { filmFace } from "../../support/film-face.ts";
import { createReceivingEndpoint, decrypt, startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { tally } from "../../support/tally.ts";
import { claimedSession, TestDevice } from "../../support/verify-device.ts";

const authority = createAuthority();
const collector = await startCollector();
const service = await startTestService({
  // The frames of a camera have to arrive as they are taken.
  clock: systemClock,
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1", OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  webhooks: { ca: authority.certificate },
});

const letters = (length: number) =>
  [...randomBytes(length)].map((byte) => String.fromCharCode(65 + (byte % 26))).join("");
const canaries = {
  familyName: `QX${letters(10)}`,
  givenNames: `ZJ${letters(10)}`,
  documentNumber: `K${letters(8)}`,
  portrait: randomBytes(24),
  frame: randomBytes(24),
};

/** A JPEG with the canary in a comment, which is part of the image's bytes and changes nothing else. */
function marked(jpeg: Uint8Array, canary: Buffer): Uint8Array {
  const comment = Buffer.concat([Buffer.from([0xff, 0xfe, 0, canary.length + 2]), canary]);
  return new Uint8Array(Buffer.concat([jpeg.subarray(0, 2), comment, jpeg.subarray(2)]));
}

const portrait = marked(readPortrait("adult.jpg"), canaries.portrait);

/** A person in front of the camera for this number of tries; every frame contains a canary. */
function markedCamera(person: "adult" | "elder", maxTries: number): CameraSource {
  const camera = testPersonCamera({ person, followsInstructions: true });
  let tries = 0;
  return async function* (challenge) {
    tries += 1;
    if (tries > maxTries) throw new DeviceError("tried often enough");
    for await (const { jpeg, atMs } of camera(challenge)) yield { jpeg: marked(jpeg, canaries.frame), atMs };
  };
}

/** The embedding of the portrait in the forms in which it might be stored. */
async function embeddingDisguises(): Promise<[string, Buffer][]> {
  const pool = new FaceWorkerPool({ log: service.core.log });
  const [frame] = filmFace(
    { movements: ["turn_left"], colours: ["red"], colourMs: 900, deadlineMs: 45_000 },
    {},
  );
  assert.ok(frame !== undefined);
  const result = await pool.run({ frames: [frame], portrait }, { sandbox: true });
  await pool.close();
  assert.ok(result.kind === "measured");
  const numbers = result.portraitEmbedding.slice(0, 8);
  assert.ok(numbers.length === 8 && new Set(numbers).size === 8);
  return [
    ...numbers.map((number): [string, Buffer] => [
      "embedding digits",
      Buffer.from(number.toFixed(8).slice(0, -2)),
    ]),
    ["embedding as float32", Buffer.from(Float32Array.from(numbers).buffer)],
    ["embedding as float64", Buffer.from(Float64Array.from(numbers).buffer)],
    [
      "embedding as float32, base64",
      Buffer.from(Buffer.from(Float32Array.from(numbers.slice(0, 6)).buffer).toString("base64")),
    ],
  ];
}

const country = createTestCountry(defaultTestSeed, service.clock.now());
const mrz = {
  format: "TD3" as const,
  documentCode: "P",
  issuingState: "UTO",
  nationality: "UTO",
  documentNumber: canaries.documentNumber,
  dateOfBirth: "920812",
  dateOfExpiry: "311231",
  sex: "F" as const,
  primaryName: canaries.familyName,
  secondaryName: canaries.givenNames,
};
const document = personalise({
  can: "100099",
  chipAuthentication: "ecdh_aes128",
  country,
  profile: signerProfile("secp256r1-sha256-explicit"),
  portrait,
  mrz,
});

const embedding = await embeddingDisguises();

/** Everything the canaries could be written as. */
function disguises(): [string, Buffer][] {
  return [
    ...embedding,
    ...Object.entries(canaries).flatMap(([name, value]) => disguisesOf(name, value as string)),
  ];
}

function assertFree(where: string, bytes: Buffer): void {
  for (const [what, disguise] of disguises())
    assert.equal(bytes.includes(disguise), false, `${what} was found in ${where}`);
  tally("bytes searched for canaries", bytes.length);
}

function* filesUnder(folder: string): Generator<string> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* filesUnder(path);
    else yield path;
  }
}

test("names, numbers, portraits, camera frames and what the models make of them are in no table, file, log line or trace after success and failure", async () => {
  const partner = await createPartner(service.api);
  const receiver = await startReceiver(authority);
  await createReceivingEndpoint(partner.api, receiver.url);
  const share = Object.fromEntries(
    ["family_name", "given_names", "document_number", "date_of_birth"].map((key) => [
      key,
      { required: true, reason: "To test." },
    ]),
  );
  const create = async () => expectData(await partner.api.post("/v1/sessions", { share_fields: share }), 201);

  // Person and service share a processor with other tests: frames that came too late are filmed again.
  const good = await create();
  const passed = await runDevice({
    verificationUrl: good.verification_url,
    chip: virtualPassport(document),
    camera: markedCamera("adult", 3),
  });
  assert.equal(passed.kind, "succeeded", JSON.stringify(passed));
  const refusals = async (): Promise<unknown[]> => {
    const entries = await partner.owner.api.get("/v1/auth/orgs/audit-logs", {
      event: "session.face_rejected",
    });
    return expectData<{ details: Record<string, unknown> }[]>(entries).map(
      ({ details }) => details.failure_code,
    );
  };
  for (let sessions = 0; sessions < 3 && !(await refusals()).includes("selfie_face_mismatch"); sessions++) {
    const unmatched = await create();
    await assert.rejects(
      runDevice({
        verificationUrl: unmatched.verification_url,
        chip: virtualPassport(document),
        camera: markedCamera("elder", 1),
      }),
      DeviceError,
    );
  }
  assert.deepEqual(
    (await refusals()).filter((code) => code !== "liveness_failed"),
    ["selfie_face_mismatch"],
  );

  // An altered copy, a malformed one, and one that says things where they do not belong.
  const altered = {
    ...document,
    files: { ...document.files, DG1: buildDg1(buildMrz({ ...mrz, dateOfBirth: "820812" })) },
  };
  const bad = await create();
  const failed = await runDevice({ verificationUrl: bad.verification_url, chip: virtualPassport(altered) });
  assert.equal(failed.kind, "failed");
  const sod = Buffer.from(JSON.stringify(canaries));
  const malformed: ChipSource = async (onStep) => ({
    ...(await virtualPassport(document)(onStep)),
    readFiles: async () => ({ SOD: sod, DG1: Buffer.from(canaries.familyName), DG2: canaries.portrait }),
  });
  const broken = await create();
  const refused = await runDevice({ verificationUrl: broken.verification_url, chip: malformed });
  assert.deepEqual(refused, {
    kind: "failed",
    sessionId: broken.id,
    failureCode: "document_data_invalid",
    unmetRequirement: null,
  });
  const hostile = await claimedSession(partner.api);
  for (const text of [
    canaries.familyName,
    JSON.stringify({ type: canaries.familyName }),
    JSON.stringify({ type: "chip_file", artifact: 1, file: canaries.documentNumber, size: 1 }),
  ]) {
    const device = await TestDevice.connect(hostile.baseUrl, hostile.sessionId, hostile.socketToken);
    await device.expect("welcome");
    device.connection.sendText(text);
    assert.equal(await device.closed(), "MESSAGE_INVALID");
  }
  await service.runJob("deliver-webhooks");

  // The partner, and only the partner, has them.
  const events = await Promise.all(receiver.received.map(async ({ body }) => (await decrypt(body)).event));
  const success = events.find(({ type }) => type === "verification.session.succeeded");
  assert.equal(success.data.claims.family_name, canaries.familyName);
  assert.equal(success.data.claims.document_number, canaries.documentNumber);
  assert.equal(events.filter(({ type }) => type === "verification.session.failed").length, 2);

  const { db } = service.core;
  const tables = await db.rows<{ name: string }>(
    sql`select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  assert.ok(tables.length > 20);
  for (const { name } of tables) {
    const rows = await db.withConnection((client) =>
      client.query(`select to_jsonb(t)::text as row from "${name}" t`),
    );
    assertFree(`table ${name}`, Buffer.from(rows.rows.map(({ row }) => row).join("\n")));
  }
  for (const path of filesUnder(service.dataDir)) assertFree(path, readFileSync(path));
  assert.ok(service.logLines.length > 10);
  assertFree("the log", Buffer.from(service.logLines.join("")));
  assertFree("the metrics", Buffer.from(service.core.metrics.render()));
  await service.close();
  assert.ok(collector.spans.some(({ name }) => name === "judge face"));
  assertFree("what a collector gets", Buffer.from(collector.bodies.join("")));

  // The search itself works: what it looks for would be found.
  for (const encoding of ["utf8", "hex", "base64"] as const)
    for (const before of ["", "x", "xy"])
      assert.throws(() =>
        assertFree(
          "a probe",
          Buffer.from(Buffer.from(`${before}${canaries.familyName}tail`).toString(encoding)),
        ),
      );
});
