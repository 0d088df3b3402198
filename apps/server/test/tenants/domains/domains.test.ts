import assert from "node:assert/strict";
import { test } from "node:test";
import { dayMs, hourMs } from "../../../src/platform/kernel/clock.ts";
import { liveRedirectProblem } from "../../../src/tenants/domains/check-redirect.ts";
import { findShownDomain } from "../../../src/tenants/domains/domain.store.ts";
import { Api, expectData, expectError, signUpOwner } from "../../support/api.ts";
import { startDnsServer } from "../../support/dns-server.ts";
import { readMails } from "../../support/mails.ts";
import { startTestService } from "../../support/service.ts";

const dns = await startDnsServer();
const env = { DNS_RESOLVERS: dns.address };
const service = await startTestService({ env });
const second = await startTestService({
  env: { ...env, DATA_DIR: service.dataDir },
  databaseUrl: service.databaseUrl,
  clock: service.clock,
});
const { api, core, clock } = service;

type Owner = Awaited<ReturnType<typeof signUpOwner>>;
type Started = { challenge_id: string; record_name: string; record_value: string; conflict: unknown };

let counter = 0;
function newName(): string {
  counter += 1;
  return `acme-${counter}.example`;
}

async function start(owner: Owner, name: string): Promise<Started> {
  return expectData(
    await owner.api.post<Started>("/v1/auth/orgs/domains/challenges/dns", { apex_domain: name }),
    201,
  );
}

const verify = (owner: Owner, challengeId: string, acknowledge?: boolean) =>
  owner.api.post("/v1/auth/orgs/domains/challenges/dns/verify", {
    challenge_id: challengeId,
    ...(acknowledge === undefined ? {} : { acknowledge_takeover: acknowledge }),
  });

async function verified(owner: Owner, name = newName()): Promise<{ name: string; domainId: string }> {
  const challenge = await start(owner, name);
  dns.set(challenge.record_name, "TXT", challenge.record_value);
  const answer = expectData(await verify(owner, challenge.challenge_id));
  return { name, domainId: answer.domain_id };
}

const listed = async (owner: Owner) =>
  expectData<{ domains: Record<string, unknown>[]; challenges: Record<string, unknown>[] }>(
    await owner.api.get("/v1/auth/orgs/domains"),
  );

test("a domain is verified by its TXT record and then listed", async () => {
  const owner = await signUpOwner(api);
  const name = newName();
  const challenge = await start(owner, `www.${name.toUpperCase()}`);
  assert.equal(challenge.record_name, `_service-verification.${name}`);
  assert.match(challenge.record_value, /^service-verification=[A-Za-z0-9]{43}$/);
  assert.equal(challenge.conflict, null);
  const before = await listed(owner);
  assert.equal(before.challenges[0]?.id, challenge.challenge_id);
  assert.equal(before.challenges[0]?.method, "dns_txt");
  assert.deepEqual(
    [before.challenges[0]?.recordName, before.challenges[0]?.recordValue],
    [challenge.record_name, challenge.record_value],
    "the record can be looked up again",
  );

  dns.set(
    challenge.record_name,
    "TXT",
    ["other"],
    [challenge.record_value.slice(0, 30), challenge.record_value.slice(30)],
  );
  const answer = expectData(await verify(owner, challenge.challenge_id));
  assert.equal(answer.apex_domain, name);
  assert.equal(answer.takeover_from, null);
  const after = await listed(owner);
  assert.deepEqual(after.challenges, []);
  assert.deepEqual(after.domains, [
    {
      id: answer.domain_id,
      apexDomain: name,
      apexDomainUnicode: name,
      verifiedAt: clock.now().toISOString(),
      verifiedVia: "dns_txt",
      recordName: challenge.record_name,
      recordValue: challenge.record_value,
      lastCheckedAt: clock.now().toISOString(),
      downgradedAt: null,
    },
  ]);
  expectError(await verify(owner, challenge.challenge_id), 404, "CHALLENGE_NOT_FOUND");
});

test("a name in its own script is shown in both forms", async () => {
  const owner = await signUpOwner(api);
  const answer = expectData(
    await owner.api.post("/v1/auth/orgs/domains/challenges/dns", { apex_domain: "Müller.example" }),
    201,
  );
  assert.equal(answer.apex_domain, "xn--mller-kva.example");
  assert.equal(answer.apex_domain_unicode, "müller.example");
  assert.equal(answer.record_name, "_service-verification.xn--mller-kva.example");
});

test("a name that reads as another one is shown in its ASCII form", async () => {
  const owner = await signUpOwner(api);
  for (const [name, ascii] of [
    ["аpple.com", "xn--pple-43d.com"],
    ["аррӏе.com", "xn--80ak6aa92e.com"],
    ["раypal.com", "xn--ypal-43d9g.com"],
  ] as const) {
    const answer = expectData(
      await owner.api.post("/v1/auth/orgs/domains/challenges/dns", { apex_domain: name }),
      201,
    );
    assert.deepEqual([answer.apex_domain, answer.apex_domain_unicode], [ascii, ascii]);
  }
});

test("what is no registrable domain is refused; bad shapes name the field", async () => {
  const owner = await signUpOwner(api);
  const post = (apex: unknown) =>
    owner.api.post("/v1/auth/orgs/domains/challenges/dns", { apex_domain: apex });
  for (const bad of [
    "co.uk",
    "localhost",
    "127.0.0.1",
    "https://acme.example",
    "*.acme.example",
    "a b.example",
  ])
    expectError(await post(bad), 422, "APEX_INVALID", /apex_domain/);
  expectError(await post("ab"), 400, "BAD_REQUEST", /`apex_domain`/);
  expectError(await post("a".repeat(254)), 400, "BAD_REQUEST", /`apex_domain`/);
  expectError(await post(7), 400, "BAD_REQUEST", /`apex_domain`/);
  expectError(
    await owner.api.post("/v1/auth/orgs/domains/challenges/dns/verify", {}),
    400,
    "BAD_REQUEST",
    /`challenge_id` is required/,
  );
});

test("without the right record the answer shows what was seen, and the challenge lives on", async () => {
  const owner = await signUpOwner(api);
  const challenge = await start(owner, newName());
  const missing = await verify(owner, challenge.challenge_id);
  expectError(missing, 409, "DNS_NOT_PROPAGATED");
  assert.match(missing.body.error?.hint ?? "", /no TXT record/);
  dns.set(challenge.record_name, "TXT", "service-verification=of-somebody-else");
  const wrong = await verify(owner, challenge.challenge_id);
  expectError(wrong, 409, "DNS_NOT_PROPAGATED");
  assert.match(wrong.body.error?.hint ?? "", /of-somebody-else/);
  dns.set(challenge.record_name, "TXT", challenge.record_value);
  expectData(await verify(owner, challenge.challenge_id));
});

test("a challenge ends after 7 days and counts for no other organization", async () => {
  const [owner, other] = [await signUpOwner(api), await signUpOwner(api)];
  const challenge = await start(owner, newName());
  dns.set(challenge.record_name, "TXT", challenge.record_value);
  expectError(await verify(other, challenge.challenge_id), 404, "CHALLENGE_NOT_FOUND");
  clock.advance(7 * dayMs);
  expectError(await verify(owner, challenge.challenge_id), 409, "CHALLENGE_EXPIRED");
  assert.deepEqual((await listed(owner)).challenges, []);
  clock.advance(20 * dayMs);
  await service.runJob("purge-domain-challenges");
  expectError(await verify(owner, challenge.challenge_id), 409, "CHALLENGE_EXPIRED");
  clock.advance(10 * dayMs);
  await service.runJob("purge-domain-challenges");
  expectError(await verify(owner, challenge.challenge_id), 404, "CHALLENGE_NOT_FOUND");
});

test("an error of the resolver is 502, its silence 503", async () => {
  const owner = await signUpOwner(api);
  const challenge = await start(owner, newName());
  try {
    dns.behaviour = "servfail";
    expectError(await verify(owner, challenge.challenge_id), 502, "UPSTREAM_ERROR");
    dns.behaviour = "silent";
    expectError(await verify(owner, challenge.challenge_id), 503, "UPSTREAM_UNAVAILABLE");
  } finally {
    dns.behaviour = "answer";
  }
});

test("taking a domain over needs the proof first, then the acknowledgement, and mails the previous owner", async () => {
  const [holder, taker] = [await signUpOwner(api), await signUpOwner(api)];
  const { name, domainId } = await verified(holder);
  expectData(await holder.api.post("/v1/auth/orgs/redirect-uris", { pattern: `https://${name}/cb` }), 201);
  const challenge = await start(taker, name);
  assert.match(JSON.stringify(challenge.conflict), /organization_name/);
  expectError(await verify(taker, challenge.challenge_id, true), 409, "DNS_NOT_PROPAGATED");
  dns.set(challenge.record_name, "TXT", challenge.record_value);
  expectError(await verify(taker, challenge.challenge_id), 409, "APEX_TAKEOVER_REQUIRED");
  expectError(await verify(taker, challenge.challenge_id, false), 409, "APEX_TAKEOVER_REQUIRED");
  assert.equal((await listed(holder)).domains.length, 1);
  const taken = expectData(await verify(taker, challenge.challenge_id, true));
  assert.equal(taken.takeover_from.organization_id, holder.organizationId);
  assert.notEqual(taken.domain_id, domainId);

  assert.deepEqual((await listed(holder)).domains, []);
  assert.deepEqual(expectData(await holder.api.get("/v1/auth/orgs/redirect-uris")), []);
  const [mail] = await readMails([service, second], holder.email);
  assert.match(mail?.subject ?? "", new RegExp(name));
  const logs = expectData<{ event: string; actor_id: string | null }[]>(
    await holder.api.get("/v1/auth/orgs/audit-logs", { event: "domain.lost" }),
  );
  assert.equal(logs.length, 1);
  assert.equal(logs[0]?.actor_id, null, "the loser does not learn who");
});

test("organizations that race for a domain in two processes: exactly one holds it", async () => {
  for (const acknowledge of [false, true]) {
    const name = newName();
    const owners: Owner[] = [];
    while (owners.length < 6) owners.push(await signUpOwner(api));
    const challenges = await Promise.all(owners.map((owner) => start(owner, name)));
    dns.set(`_service-verification.${name}`, "TXT", ...challenges.map((challenge) => challenge.record_value));
    const answers = await Promise.all(
      owners.map((owner, i) => {
        const through = new Api(i % 2 === 0 ? service.url : second.url).as(owner.token);
        return through.post("/v1/auth/orgs/domains/challenges/dns/verify", {
          challenge_id: challenges[i]?.challenge_id,
          acknowledge_takeover: acknowledge,
        });
      }),
    );
    const won = answers.filter((answer) => answer.status === 200).length;
    assert.equal(won, acknowledge ? owners.length : 1);
    for (const answer of answers)
      if (answer.status !== 200) expectError(answer, 409, "APEX_TAKEOVER_REQUIRED");
    const holders = await Promise.all(owners.map(async (owner) => (await listed(owner)).domains.length));
    assert.equal(
      holders.reduce((sum, count) => sum + count, 0),
      1,
    );
  }
});

test("proving a domain again keeps its id and its patterns", async () => {
  const owner = await signUpOwner(api);
  const { name, domainId } = await verified(owner);
  expectData(await owner.api.post("/v1/auth/orgs/redirect-uris", { pattern: `https://${name}` }), 201);
  const record = `_service-verification.${name}`;
  dns.clear(record);
  for (let day = 0; day < 3; day++) {
    clock.advance(dayMs);
    await service.runJob("recheck-domains");
  }
  assert.notEqual((await listed(owner)).domains[0]?.downgradedAt, null);
  const again = await verified(owner, name);
  assert.equal(again.domainId, domainId);
  const [domain] = (await listed(owner)).domains;
  const now = clock.now().toISOString();
  assert.deepEqual([domain?.downgradedAt, domain?.verifiedAt, domain?.lastCheckedAt], [null, now, now]);
  assert.ok(JSON.stringify(dns.zone.get(record)).includes(String(domain?.recordValue)));
  clock.advance(dayMs);
  await service.runJob("recheck-domains");
  assert.equal((await listed(owner)).domains[0]?.downgradedAt, null, "the new record is the one that counts");
  assert.equal(expectData<unknown[]>(await owner.api.get("/v1/auth/orgs/redirect-uris")).length, 1);
});

test("three missing days downgrade and refuse redirects, a later find restores; failures do not count", async () => {
  const owner = await signUpOwner(api);
  const { name } = await verified(owner);
  const record = `_service-verification.${name}`;
  const kept = dns.zone.get(record) ?? [];
  const url = new URL(`https://${name}/done`);
  const problem = () => liveRedirectProblem(core.db, owner.organizationId, url);
  const nextDay = async () => {
    clock.advance(dayMs);
    await Promise.all([service.runJob("recheck-domains"), second.runJob("recheck-domains")]);
    return (await listed(owner)).domains[0]?.downgradedAt;
  };
  assert.equal(await problem(), null);
  assert.equal(await nextDay(), null);

  dns.clear(record);
  assert.equal(await nextDay(), null);
  assert.equal(await nextDay(), null);
  dns.behaviour = "servfail";
  try {
    for (let day = 0; day < 4; day++) assert.equal(await nextDay(), null);
  } finally {
    dns.behaviour = "answer";
  }
  clock.advance(hourMs);
  await service.runJob("recheck-domains");
  assert.equal((await listed(owner)).domains[0]?.downgradedAt, clock.now().toISOString());
  assert.match((await problem()) ?? "", /not on a verified domain/);
  expectError(
    await owner.api.post("/v1/auth/orgs/redirect-uris", { pattern: `https://${name}/cb` }),
    422,
    "DOMAIN_NOT_VERIFIED",
  );
  assert.notEqual(await nextDay(), null);

  dns.zone.set(record, kept);
  assert.equal(await nextDay(), null);
  assert.equal(await problem(), null);
  const mails = await readMails([service, second], owner.email);
  assert.deepEqual(
    mails.map((mail) => mail.subject),
    [`The verification record of ${name} is missing`, `${name} is verified again`],
  );
});

test("two misses, a find and two more misses do not downgrade", async () => {
  const owner = await signUpOwner(api);
  const { name } = await verified(owner);
  const record = `_service-verification.${name}`;
  const kept = dns.zone.get(record) ?? [];
  for (const present of [false, false, true, false, false]) {
    if (present) dns.zone.set(record, kept);
    else dns.clear(record);
    clock.advance(dayMs);
    await service.runJob("recheck-domains");
  }
  assert.equal((await listed(owner)).domains[0]?.downgradedAt, null);
});

test("a removed domain is gone with its patterns, and only for its organization", async () => {
  const [owner, other] = [await signUpOwner(api), await signUpOwner(api)];
  const { name, domainId } = await verified(owner);
  expectData(await owner.api.post("/v1/auth/orgs/redirect-uris", { pattern: `https://${name}` }), 201);
  expectError(await other.api.delete(`/v1/auth/orgs/domains/${domainId}`), 404, "NOT_FOUND");
  assert.equal((await owner.api.delete(`/v1/auth/orgs/domains/${domainId}`)).status, 204);
  expectError(await owner.api.delete(`/v1/auth/orgs/domains/${domainId}`), 404, "NOT_FOUND");
  assert.deepEqual(expectData(await owner.api.get("/v1/auth/orgs/redirect-uris")), []);
  assert.deepEqual((await listed(owner)).domains, []);
});

test("redirect URIs: on a verified domain only, duplicates give the entry that exists", async () => {
  const [owner, other] = [await signUpOwner(api), await signUpOwner(api)];
  const { name, domainId } = await verified(owner);
  const post = (pattern: string) => owner.api.post("/v1/auth/orgs/redirect-uris", { pattern });
  const entry = expectData(await post(`https://WWW.${name}/cb/`), 201);
  assert.equal(entry.pattern, `https://www.${name}/cb`);
  assert.equal(entry.verifiedDomainId, domainId);
  assert.equal(entry.apexDomain, name);
  assert.deepEqual(expectData(await post(`https://www.${name}:443/%63b`), 200), entry);
  expectError(await post("https://acme.elsewhere.example/cb"), 422, "DOMAIN_NOT_VERIFIED");
  expectError(await post(`https://evil-${name}/cb`), 422, "DOMAIN_NOT_VERIFIED");
  expectError(await post(`http://${name}/cb`), 400, "BAD_REQUEST", /`pattern` must begin with https/);
  expectError(await other.api.delete(`/v1/auth/orgs/redirect-uris/${entry.id}`), 404, "NOT_FOUND");
  expectError(
    await other.api.post("/v1/auth/orgs/redirect-uris", { pattern: `https://${name}` }),
    422,
    "DOMAIN_NOT_VERIFIED",
  );
  const list = await owner.api.get("/v1/auth/orgs/redirect-uris");
  assert.deepEqual(expectData(list), [entry]);
  assert.equal(list.body.pagination?.has_more, false);
  assert.equal((await owner.api.delete(`/v1/auth/orgs/redirect-uris/${entry.id}`)).status, 204);
  expectError(await owner.api.delete(`/v1/auth/orgs/redirect-uris/${entry.id}`), 404, "NOT_FOUND");
});

test("live redirects: on an active domain, and where patterns exist one must match", async () => {
  const owner = await signUpOwner(api);
  const { name } = await verified(owner);
  const problem = (url: string) => liveRedirectProblem(core.db, owner.organizationId, new URL(url));
  assert.equal(await problem(`https://any.${name}/where?x=1`), null);
  assert.match((await problem("https://elsewhere.example/")) ?? "", /not on a verified domain/);
  assert.match((await problem(`https://evil-${name}/`)) ?? "", /not on a verified domain/);
  assert.match((await problem(`https://${name}.evil.example/`)) ?? "", /not on a verified domain/);
  for (const odd of [`http://${name}/`, `https://u@${name}/`, `https://${name}:8443/`, `https://${name}./`])
    assert.match((await problem(odd)) ?? "", /plain https/, odd);
  assert.match((await problem(`https://${name}/a%2fb`)) ?? "", /encoding/);
  expectData(await owner.api.post("/v1/auth/orgs/redirect-uris", { pattern: `https://*.${name}/cb` }), 201);
  assert.equal(await problem(`https://app.${name}/cb/done`), null);
  for (const unmatched of [`https://${name}/cb`, `https://app.${name}/cb-evil`, `https://a.b.${name}/cb`])
    assert.match((await problem(unmatched)) ?? "", /matches none/, unmatched);
  expectData(await owner.api.post("/v1/auth/orgs/redirect-uris", { pattern: `https://${name}/other` }), 201);
  assert.equal(await problem(`https://app.${name}/cb/done`), null, "one of several is enough");
  assert.equal(await problem(`https://${name}/other`), null);
  const other = await signUpOwner(api);
  assert.match(
    (await liveRedirectProblem(core.db, other.organizationId, new URL(`https://app.${name}/cb`))) ?? "",
    /not on a verified domain/,
  );
});

test("an organization has open challenges for twenty domains, and what is verified or asked for again makes no more", async () => {
  const owner = await signUpOwner(api);
  const names = Array.from({ length: 20 }, newName);
  for (const name of names) await start(owner, name);
  const challenge = (of: Owner, name: string) =>
    of.api.post("/v1/auth/orgs/domains/challenges/dns", { apex_domain: name });
  const refusal = await challenge(owner, newName());
  expectError(refusal, 409, "DOMAIN_CHALLENGE_LIMIT_REACHED");
  assert.match(refusal.body.error?.hint ?? "", /20 domains/);
  await verified(owner, names[0]);
  await start(owner, newName());
  clock.advance(7 * dayMs);
  await start(owner, newName());
});

test("one person tries fifty domains a day, in all their organizations together", async () => {
  const owner = await signUpOwner(api);
  const day = 24 * hourMs;
  clock.advance(day - (clock.now().getTime() % day));
  for (let made = 0; made < 50; made++) {
    if (made > 0 && made % 20 === 0) {
      const slug = `tries-${process.pid}-${made}`;
      expectData(await owner.api.post("/v1/auth/orgs", { name: "More", slug }), 201);
    }
    await start(owner, newName());
  }
  const again = () => owner.api.post("/v1/auth/orgs/domains/challenges/dns", { apex_domain: newName() });
  const refusal = await again();
  expectError(refusal, 409, "DOMAIN_CHALLENGE_LIMIT_REACHED");
  assert.match(refusal.body.error?.hint ?? "", /50 a day/);
  await start(await signUpOwner(api), newName());
  clock.advance(day);
  expectData(await again(), 201);
});

test("the answers of a challenge and of a takeover say until when, who holds the domain and who held it", async () => {
  const [holder, taker] = [await signUpOwner(api), await signUpOwner(api)];
  const { name } = await verified(holder);
  const [{ name: holderName } = assert.fail()] = expectData<{ name: string }[]>(
    await holder.api.get("/v1/auth/orgs"),
  );
  const again = expectData(
    await holder.api.post("/v1/auth/orgs/domains/challenges/dns", { apex_domain: name }),
    201,
  );
  assert.equal(again.conflict, null, "the own domain is no conflict");
  assert.equal(again.expires_at, new Date(clock.now().getTime() + 7 * dayMs).toISOString());
  const challenge = await start(taker, name);
  assert.deepEqual(challenge.conflict, { organization_name: holderName });
  dns.set(challenge.record_name, "TXT", challenge.record_value);
  const refusal = await verify(taker, challenge.challenge_id);
  expectError(refusal, 409, "APEX_TAKEOVER_REQUIRED", new RegExp(`${name} is held by .*"${holderName}"`));
  const taken = expectData(await verify(taker, challenge.challenge_id, true));
  assert.deepEqual(taken.takeover_from, {
    organization_id: holder.organizationId,
    organization_name: holderName,
  });
  const [entry] = expectData<{ details: unknown }[]>(
    await taker.api.get("/v1/auth/orgs/audit-logs", { event: "domain.verified" }),
  );
  assert.deepEqual(entry?.details, { apex_domain: name, takeover: true });
});

test("a challenge is good until its last millisecond, and proving a domain ends the others for it", async () => {
  const owner = await signUpOwner(api);
  const [name, other] = [newName(), newName()];
  const first = await start(owner, name);
  const second = await start(owner, name);
  const unrelated = await start(owner, other);
  dns.set(first.record_name, "TXT", first.record_value, second.record_value);
  clock.advance(7 * dayMs - 1);
  expectData(await verify(owner, first.challenge_id));
  expectError(await verify(owner, second.challenge_id), 404, "CHALLENGE_NOT_FOUND");
  assert.deepEqual(
    (await listed(owner)).challenges.map(({ id }) => id),
    [unrelated.challenge_id],
  );
});

test("domains and challenges are listed newest first, and patterns page by page", async () => {
  const owner = await signUpOwner(api);
  const names = [newName(), newName()];
  for (const name of names) await verified(owner, name);
  assert.deepEqual(
    (await listed(owner)).domains.map(({ apexDomain }) => apexDomain),
    names.toReversed(),
  );
  const ids: string[] = [];
  for (const path of ["a", "b", "c"]) {
    const pattern = `https://${names[0]}/${path}`;
    ids.unshift(expectData(await owner.api.post("/v1/auth/orgs/redirect-uris", { pattern }), 201).id);
  }
  const first = await owner.api.get("/v1/auth/orgs/redirect-uris", { limit: 2 });
  const idsOf = (answer: typeof first) => expectData<{ id: string }[]>(answer).map(({ id }) => id);
  assert.deepEqual(idsOf(first), ids.slice(0, 2));
  assert.equal(first.body.pagination?.has_more, true);
  const rest = await owner.api.get("/v1/auth/orgs/redirect-uris", { limit: 2, starting_after: ids[1] });
  assert.deepEqual([idsOf(rest), rest.body.pagination?.has_more], [ids.slice(2), false]);
});

test("people are shown the domain that they go on to, otherwise the one that was verified first, and none that was lost", async () => {
  const owner = await signUpOwner(api);
  const shown = (url: string | null) => findShownDomain(core.db, owner.organizationId, url);
  assert.equal(await shown(null), null);
  const first = await verified(owner);
  clock.advance(1000);
  const second = await verified(owner);
  assert.equal(await shown(null), first.name);
  assert.equal(await shown("no address"), first.name);
  assert.equal(await shown("https://elsewhere.example/"), first.name);
  assert.equal(await shown(`https://www.${second.name}/done`), second.name);
  const record = `_service-verification.${first.name}`;
  dns.clear(record);
  for (let day = 0; day < 3; day++) {
    clock.advance(dayMs);
    await service.runJob("recheck-domains");
  }
  assert.equal(await shown(`https://${first.name}/`), second.name);
});

test("a check that failed is repeated after an hour and does not count as one, and one that found the record does", async () => {
  const owner = await signUpOwner(api);
  const { name } = await verified(owner);
  const verifiedAt = clock.now().toISOString();
  const checkedAt = async () => (await listed(owner)).domains[0]?.lastCheckedAt;
  clock.advance(dayMs - 1);
  await service.runJob("recheck-domains");
  assert.equal(await checkedAt(), verifiedAt, "not before a day is over");
  clock.advance(1);
  dns.behaviour = "servfail";
  try {
    await service.runJob("recheck-domains");
  } finally {
    dns.behaviour = "answer";
  }
  assert.equal(await checkedAt(), verifiedAt);
  clock.advance(hourMs - 1);
  await service.runJob("recheck-domains");
  assert.equal(await checkedAt(), verifiedAt);
  clock.advance(1);
  await service.runJob("recheck-domains");
  assert.equal(await checkedAt(), clock.now().toISOString());
  assert.equal((await listed(owner)).domains[0]?.apexDomain, name);
});
