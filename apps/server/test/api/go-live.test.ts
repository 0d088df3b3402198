import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../src/config.ts";
import { loadRpTerms } from "../../src/organizations/rp-terms.ts";
import { Api, expectData, expectError, signUpOwner } from "../support/api.ts";
import { startDnsServer } from "../support/dns-server.ts";
import { verifyDomain } from "../support/domain.ts";
import { startTestService } from "../support/service.ts";
import { trustTestCountry } from "../support/verify-device.ts";

const dns = await startDnsServer();
const service = await startTestService({ env: { DNS_RESOLVERS: dns.address } });
const { api } = service;

const details = {
  business_name: "Acme Bank",
  business_jurisdiction: "Austria",
  business_registration_number: "FN 1",
};

async function acceptTerms(owner: { api: Api }) {
  const { current } = expectData(await owner.api.get("/v1/auth/orgs/rp-terms"));
  return owner.api.post("/v1/auth/orgs/rp-terms", {
    terms_version: current.terms_version,
    terms_hash: current.terms_hash,
  });
}

test("business details: omitted keeps, null and blank clear, bounds name the field", async () => {
  const owner = await signUpOwner(api);
  const post = (body: unknown) => owner.api.post("/v1/auth/orgs/business-details", body);
  const empty = {
    businessType: "sole",
    businessName: null,
    businessJurisdiction: null,
    businessRegistrationNumber: null,
  };
  assert.deepEqual(expectData(await owner.api.get("/v1/auth/orgs/business-details")), empty);
  const full = {
    businessType: "business",
    businessName: "Acme Bank",
    businessJurisdiction: "Austria",
    businessRegistrationNumber: "FN 1",
  };
  assert.deepEqual(
    expectData(await post({ ...details, business_name: "  Acme Bank ", business_type: "business" })),
    full,
  );
  assert.deepEqual(expectData(await post({})), full);
  assert.deepEqual(expectData(await post({ business_name: null, business_jurisdiction: " " })), {
    ...full,
    businessName: null,
    businessJurisdiction: null,
  });
  assert.equal(expectData(await post({ business_type: null })).businessType, "sole");
  expectError(await post({ business_name: "x".repeat(201) }), 400, "BAD_REQUEST", /`business_name`/);
  expectError(
    await post({ business_jurisdiction: "x".repeat(121) }),
    400,
    "BAD_REQUEST",
    /`business_jurisdiction`/,
  );
  expectError(
    await post({ business_registration_number: "x".repeat(101) }),
    400,
    "BAD_REQUEST",
    /`business_registration_number`/,
  );
  expectError(await post({ business_name: "a\u0007b" }), 400, "BAD_REQUEST", /`business_name`/);
  expectError(await post({ business_type: "club" }), 400, "BAD_REQUEST", /`business_type`/);
  expectError(await post({ businessName: "x" }), 400, "BAD_REQUEST", /`businessName` is not a field/);
});

test("the terms are served with their fingerprint, and exactly what was shown is accepted", async () => {
  const owner = await signUpOwner(api);
  const shown = expectData(await api.get("/v1/auth/orgs/rp-terms/text"));
  assert.equal(shown.terms_hash, `sha256:${createHash("sha256").update(shown.text).digest("hex")}`);
  const before = expectData(await owner.api.get("/v1/auth/orgs/rp-terms"));
  assert.equal(before.acceptance, null);
  assert.equal(before.current_accepted, false);
  assert.deepEqual(before.current, {
    jurisdiction: shown.jurisdiction,
    terms_hash: shown.terms_hash,
    terms_version: shown.terms_version,
  });
  const accept = (version: string, hash: string) =>
    owner.api.post("/v1/auth/orgs/rp-terms", { terms_version: version, terms_hash: hash });
  expectError(await accept("1999-01-01", shown.terms_hash), 409, "CONFLICT");
  expectError(await accept(shown.terms_version, `sha256:${"0".repeat(64)}`), 409, "CONFLICT");
  expectError(await accept(shown.terms_version, "nonsense"), 400, "BAD_REQUEST", /`terms_hash`/);
  const after = expectData(await accept(shown.terms_version, shown.terms_hash));
  assert.equal(after.current_accepted, true);
  assert.equal(after.acceptance.accepted_by, owner.userId);
  service.clock.advance(1000);
  assert.deepEqual(expectData(await accept(shown.terms_version, shown.terms_hash)), after);
});

test("a new text must be accepted anew", async () => {
  const owner = await signUpOwner(api);
  expectData(await acceptTerms(owner));
  const file = join(mkdtempSync(join(tmpdir(), "assay-terms-")), "terms.txt");
  writeFileSync(file, "New terms.\r\n");
  const other = await startTestService({
    databaseUrl: service.databaseUrl,
    clock: service.clock,
    env: { RP_TERMS_FILE: file, RP_TERMS_VERSION: "2027-01-01", RP_TERMS_JURISDICTION: "Austria" },
  });
  const there = new Api(other.url).as(owner.token);
  const status = expectData(await there.get("/v1/auth/orgs/rp-terms"));
  assert.equal(status.current_accepted, false);
  assert.equal(status.current.jurisdiction, "Austria");
  assert.equal(
    status.current.terms_hash,
    `sha256:${createHash("sha256").update("New terms.\r\n").digest("hex")}`,
  );
  assert.equal(status.acceptance.jurisdiction, "European Union");
  expectError(await acceptTermsOf(there, await currentTerms(owner.api)), 409, "CONFLICT");
  assert.equal(expectData(await acceptTermsOf(there, status.current)).current_accepted, true);
});

type Terms = { terms_version: string; terms_hash: string };
const currentTerms = async (caller: Api): Promise<Terms> =>
  expectData(await caller.get("/v1/auth/orgs/rp-terms")).current;
const acceptTermsOf = (caller: Api, terms: Terms) =>
  caller.post("/v1/auth/orgs/rp-terms", { terms_version: terms.terms_version, terms_hash: terms.terms_hash });

test("a text of the operator's needs a version, and must be readable", () => {
  const env = { RP_TERMS_FILE: "/nowhere/terms.txt" };
  assert.throws(() => loadConfig(env), /RP_TERMS_VERSION must be set together/);
  assert.throws(() => loadConfig({ RP_TERMS_VERSION: "new" }), /RP_TERMS_VERSION must begin with a date/);
  assert.throws(() => loadRpTerms(loadConfig({ ...env, RP_TERMS_VERSION: "2027-01-01" })), /RP_TERMS_FILE/);
});

test("going live needs terms, details, a domain and an operator who trusts somebody, names what is missing, and happens once", async () => {
  const owner = await signUpOwner(api);
  const goLive = () => owner.api.post("/v1/auth/orgs/go-live");
  const missing = async () => {
    const answer = await goLive();
    expectError(answer, 409, "ORGANIZATION_NOT_READY");
    return answer.body.error?.hint ?? "";
  };
  assert.match(await missing(), /terms.*business details.*domain/);
  expectData(await acceptTerms(owner));
  const afterTerms = await missing();
  assert.doesNotMatch(afterTerms, /terms/);
  expectData(
    await owner.api.post("/v1/auth/orgs/business-details", {
      ...details,
      business_type: "business",
      business_registration_number: null,
    }),
  );
  assert.match(await missing(), /business details/);
  expectData(await owner.api.post("/v1/auth/orgs/business-details", details));
  assert.match(
    await missing(),
    /^Missing: verify a domain .*; the operator trusts no issuing authority yet\.$/,
  );
  await verifyDomain(owner, dns, "go-live.example");
  assert.equal(await missing(), "Missing: the operator trusts no issuing authority yet.");
  const operatorReady = async () =>
    expectData(await owner.api.get("/v1/auth/orgs/rp-terms")).operator_ready as boolean;
  assert.equal(await operatorReady(), false);
  await trustTestCountry(service);
  assert.equal(await operatorReady(), true);
  assert.equal(expectData(await goLive()).environment, "live");
  expectError(await goLive(), 409, "CONFLICT");

  // From now on people are sent to proven domains only, and where patterns are registered, to those.
  const session = (redirectUrl: string) => owner.api.post("/v1/sessions", { redirect_url: redirectUrl });
  assert.equal(expectData(await session("https://www.go-live.example/done"), 201).sandbox, false);
  expectError(await session("https://elsewhere.example/done"), 400, "INVALID_REQUEST", /verified domain/);
  expectData(
    await owner.api.post("/v1/auth/orgs/redirect-uris", { pattern: "https://www.go-live.example/cb" }),
    201,
  );
  expectError(await session("https://www.go-live.example/done"), 400, "INVALID_REQUEST", /matches none/);
  expectData(await session("https://www.go-live.example/cb?state=1"), 201);
  const [listed] = expectData<{ environment: string }[]>(await owner.api.get("/v1/auth/orgs"));
  assert.equal(listed?.environment, "live");
});
