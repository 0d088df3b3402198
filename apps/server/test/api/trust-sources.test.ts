import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { signMasterList } from "@assay/emrtd/node/test-country/sign-message";
import { createTestCountry } from "@assay/emrtd/node/test-country/test-country";
import { loadConfig } from "../../src/config.ts";
import { dayMs, hourMs } from "../../src/kernel/clock.ts";
import { readTrust } from "../../src/trust/trust.store.ts";
import { keepTrustImport, printTrustLog, printTrustStatus } from "../../src/trust/trust-command.ts";
import { createAuthority } from "../support/certificate.ts";
import { readMails } from "../support/mails.ts";
import { startReceiver } from "../support/receiver.ts";
import { startTestService, testRing } from "../support/service.ts";

const webAuthority = createAuthority();
const country = createTestCountry("sources", new Date("2026-03-01T00:00:00Z"));
const stranger = createTestCountry("stranger", new Date("2026-03-01T00:00:00Z"));
type AuthorityName = "brainpool" | "nist" | "rsa" | "rsa_pss";

function certificate(id: AuthorityName): Uint8Array {
  return country.authorityCertificates.get(id) ?? assert.fail(id);
}

/** An edition of the list, signed by the one whose fingerprint is pinned. */
function edition(day: string, ids: readonly AuthorityName[], signedBy = country): Buffer {
  return Buffer.from(
    signMasterList(ids.map(certificate), signedBy.masterListSigner(), {
      signedAt: new Date(`${day}T00:00:00Z`),
      identifySignerBy: "subject_key_id",
    }),
  );
}

const pin = createHash("sha256").update(country.masterListSigner().certificate).digest("hex");

/** A service that follows one list and one revocation list at a server that the test plays. */
async function follow() {
  const host = await startReceiver(webAuthority);
  const served = new Map<string, Buffer | number>();
  host.answerWith(({ path, headers }, response) => {
    const body = served.get(path) ?? 404;
    if (typeof body === "number") response.writeHead(body).end();
    else {
      const etag = `"${createHash("sha256").update(body).digest("hex").slice(0, 16)}"`;
      if (headers["if-none-match"] === etag) response.writeHead(304).end();
      else response.writeHead(200, { etag }).end(body);
    }
    return null;
  });
  const origin = `https://127.0.0.1:${host.port}`;
  const service = await startTestService({
    env: {
      WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
      TRUST_SOURCES: `${origin}/list.ml#sha256=${pin}, ${origin}/rsa.crl`,
      OPERATOR_EMAIL: "operator@assay.example",
    },
    webhooks: { ca: webAuthority.certificate },
  });
  const { db } = service.core;
  const lines: string[] = [];
  const print = (line: string) => lines.push(line);
  return {
    ...service,
    db,
    print,
    served,
    requests: () => host.received.length,
    closeHost: host.close,
    /** Asks every source, some hours after the last time. */
    async refresh(hours = 7) {
      service.clock.advance(hours * hourMs);
      await service.runJob("refresh-trust");
      await service.runJob("refresh-trust");
    },
    async trusted() {
      const { records } = await readTrust(db);
      const found = new Set(records.flatMap(({ certificates }) => certificates.map((der) => sha256(der))));
      return (["brainpool", "nist", "rsa", "rsa_pss"] as const).filter((id) =>
        found.has(sha256(certificate(id))),
      );
    },
    async lists() {
      return (await readTrust(db)).records.flatMap(({ revocationLists }) => revocationLists).length;
    },
    async status() {
      lines.length = 0;
      await printTrustStatus(db, service.clock.now(), print);
      return lines.join("\n");
    },
    async log() {
      lines.length = 0;
      await printTrustLog(db, print);
      return lines.join("\n");
    },
  };
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

test("a source's list and its revocation list come into force by themselves, and are fetched again only when they changed", async () => {
  const { served, refresh, trusted, lists, status, requests, db } = await follow();
  served.set("/list.ml", edition("2026-01-10", ["brainpool", "rsa"]));
  served.set("/rsa.crl", Buffer.from(country.revocationLists[0] ?? []));
  await refresh();
  assert.deepEqual(await trusted(), ["brainpool", "rsa"]);
  // The revocation list came first and had no authority yet; it is asked for again and then counts.
  await refresh();
  assert.equal(await lists(), 1);
  const { version } = await readTrust(db);
  const asked = requests();
  await refresh();
  assert.equal(requests(), asked + 2, "each source is asked");
  assert.equal((await readTrust(db)).version, version, "an answer that nothing changed changes nothing");
  assert.match(await status(), /2 authorities of 1 countries/);
  assert.match(await status(), /edition of 2026-01-10, last asked with success within the hour/);
});

test("an older edition is refused, and what counts stays", async () => {
  const { served, refresh, trusted, status, log } = await follow();
  served.set("/list.ml", edition("2026-02-10", ["brainpool", "rsa"]));
  await refresh();
  served.set("/list.ml", edition("2026-01-10", ["brainpool", "rsa", "nist"]));
  await refresh();
  assert.deepEqual(await trusted(), ["brainpool", "rsa"]);
  assert.match(await status(), /It was signed at 2026-01-10.*before the edition that counts/);
  assert.match(await log(), /source {2}refused .*signed at 2026-01-10/);
});

test("an addition counts at once; a removal is held for seven days, told by mail, and can be objected to", async () => {
  const service = await follow();
  const { served, refresh, trusted, status, log, db, clock, print } = service;
  const newestMail = async () =>
    (await readMails(service, "operator@assay.example")).at(-1)?.text ?? assert.fail("no mail came");
  served.set("/list.ml", edition("2026-01-10", ["brainpool", "rsa"]));
  await refresh();
  served.set("/list.ml", edition("2026-01-20", ["brainpool", "nist"]));
  await refresh();
  assert.deepEqual(await trusted(), ["brainpool", "nist", "rsa"]);
  const mail = await newestMail();
  assert.match(mail, /lacks 1 authorities/);
  assert.match(mail, /CSCA Utopia rsa/);
  assert.match(mail, /assay trust keep [0-9a-f]{16}/);
  assert.match(await status(), /To be removed, unless you keep it/);
  await refresh(24 * 6);
  assert.deepEqual(await trusted(), ["brainpool", "nist", "rsa"]);
  await refresh(24);
  assert.deepEqual(await trusted(), ["brainpool", "nist"]);
  assert.match(await log(), /removal_carried_out .*1 authorities/);

  served.set("/list.ml", edition("2026-02-01", ["brainpool"]));
  await refresh();
  const held = /assay trust keep ([0-9a-f]{16})/.exec(await newestMail())?.[1];
  assert.equal(await keepTrustImport(db, held ?? "", clock.now(), print), 0);
  await refresh(8 * (dayMs / hourMs));
  assert.deepEqual(await trusted(), ["brainpool", "nist"]);
});

test("a source that lies or fails changes nothing, says why, and is forgiven when it mends", async () => {
  const { served, refresh, trusted, status, closeHost } = await follow();
  served.set("/list.ml", edition("2026-01-10", ["brainpool"]));
  await refresh();
  const genuine = edition("2026-01-20", ["brainpool", "rsa"]);
  const altered = Buffer.from(genuine);
  altered[altered.length >> 1] = (altered[altered.length >> 1] ?? 0) ^ 1;
  const lies: [Buffer | number, RegExp][] = [
    [edition("2026-01-20", ["brainpool", "rsa"], stranger), /No trusted root vouches/],
    [altered, /now: /],
    [Buffer.from("<html>Sign in</html>"), /holds no master list/],
    [Buffer.from(certificate("rsa")), /Nothing in it is signed/],
    [Buffer.from(stranger.revocationLists[0] ?? []), /Nothing in it is signed/],
    [Buffer.alloc(17 * 1024 * 1024, 0x30), /larger than/],
    [Buffer.alloc(0), /now: /],
    [302, /status 302/],
    [500, /status 500/],
  ];
  for (const [answer, reason] of lies) {
    served.set("/list.ml", answer);
    await refresh(30);
    assert.deepEqual(await trusted(), ["brainpool"], String(reason));
    assert.match(await status(), reason);
  }
  served.set("/list.ml", genuine);
  await refresh(30);
  assert.deepEqual(await trusted(), ["brainpool", "rsa"]);
  await closeHost();
  await refresh(30);
  assert.match(await status(), /could not be fetched: connection_failed/);
  assert.deepEqual(await trusted(), ["brainpool", "rsa"]);
});

test("what the setting cannot mean is refused at start, entry by entry", () => {
  const problems = (value: string) => {
    try {
      loadConfig({ TRUST_SOURCES: value, SECRET_KEYS: testRing });
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.equal(problems(`https://lists.example.org/all.ml#sha256=${pin}, distribution-points`), "");
  assert.match(problems("distribution-points, http://lists.example.org/all.ml"), /entry 2 .*https/);
  assert.match(problems("https://lists.example.org/all.ml#pin"), /entry 1 has a fragment other than/);
  assert.match(problems("https://10.0.0.1/all.ml"), /private or reserved/);
});
