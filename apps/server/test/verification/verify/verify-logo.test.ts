import assert from "node:assert/strict";
import { createServer } from "node:net";
import test, { after } from "node:test";
import { gzipSync } from "node:zlib";
import { encode } from "jpeg-js";
import { sql } from "../../../src/platform/db/sql.ts";
import { hourMs, minuteMs } from "../../../src/platform/kernel/clock.ts";
import { Api, createPartner, expectData, expectError } from "../../support/api.ts";
import { createAuthority } from "../../support/certificate.ts";
import { startDnsServer } from "../../support/dns-server.ts";
import { verifyDomain } from "../../support/domain.ts";
import { drawPng, tinyWebps } from "../../support/pictures.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { startVerification } from "../../support/verify.ts";

const authority = createAuthority();
const names = await startDnsServer();
const { api, url, core, clock, logLines, machines } = await startTestService({
  role: "api",
  env: { DNS_RESOLVERS: names.address, WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
  webhooks: { ca: authority.certificate },
});
/** The server of the partner's logo. Its answer depends on the path only, unless a test sets another one. */
const host = await startReceiver(authority);
const origin = `https://127.0.0.1:${host.port}`;

type Served = { status?: number; headers?: Record<string, string>; body: Buffer | string };
const served = new Map<string, Served>();
host.answerWith(({ path }, response) => {
  if (path.startsWith("/never-answers/")) return null;
  const { status = 200, headers = {}, body } = served.get(path) ?? { status: 404, body: "" };
  response.writeHead(status, headers).end(body);
  return null;
});
const requestsFor = (path: string) => host.received.filter((request) => request.path === path).length;

const partner = await createPartner(api);
await verifyDomain(partner.owner, names, "first.example");
const { path: sessionPath, id } = await startVerification(partner.api);

async function setLogo(logoUrl: string | null): Promise<void> {
  expectData(await partner.owner.api.patch("/v1/auth/orgs", { logo_url: logoUrl }));
}

/** The organization's logo is what the host answers at this path from now on. */
async function serveLogo(path: string, answer: Served): Promise<void> {
  served.set(path, answer);
  await setLogo(`${origin}${path}`);
}

const look = (path = sessionPath, at = url) => fetch(`${at}${path}/logo`);

async function expectPicture(contentType: string, bytes: Buffer, at = url): Promise<Response> {
  const answer = await look(sessionPath, at);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), contentType);
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), bytes);
  return answer;
}

async function expectNoLogo(at = url): Promise<void> {
  const answer = await new Api(at).get(`${sessionPath}/logo`);
  expectError(answer, 404, "LOGO_NOT_FOUND");
  assert.equal(answer.headers.get("cache-control"), "no-store");
}

const png = drawPng(40, 20);
const jpeg = encode({ width: 16, height: 8, data: Buffer.alloc(16 * 8 * 4, 90) }, 50).data;

test("the picture is served by its bytes, locked down, and without a trace of who looks", async () => {
  await serveLogo("/logo.png?token=keep-me-out-of-the-log", {
    body: png,
    // The host's content type, cookies and other headers are not passed on.
    headers: { "content-type": "text/html", "set-cookie": "seen=1", "x-evil": "1" },
  });
  assert.equal(
    expectData(await api.get(`${sessionPath}/details`)).organization.logo_url,
    `${origin}/logo.png?token=keep-me-out-of-the-log`,
  );
  const answer = await fetch(`${url}${sessionPath}/logo`, {
    headers: { cookie: "a=b", "user-agent": "Somebody", referer: url, "accept-language": "de" },
  });
  assert.equal(answer.status, 200);
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), png);
  const expected = {
    "content-type": "image/png",
    "content-length": String(png.length),
    "cache-control": "private, max-age=3600",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "set-cookie": null,
    "x-evil": null,
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(answer.headers.get(name), value, name);
  assert.match(answer.headers.get("content-security-policy") ?? "", /^default-src 'none'(;|$)/);

  const [request] = host.received;
  assert.deepEqual(request?.headers, {
    host: `127.0.0.1:${host.port}`,
    connection: "keep-alive",
    accept: "image/png, image/jpeg, image/webp",
    "user-agent": "Assay-Logos/1",
  });
  // Staff try their look with the same picture.
  const tried = await fetch(`${url}/v1/auth/orgs/logo`, {
    headers: { authorization: `Bearer ${partner.owner.token}` },
  });
  assert.equal(tried.headers.get("cache-control"), "private, max-age=0");
  assert.deepEqual([tried.status, Buffer.from(await tried.arrayBuffer())], [200, png]);
  for (const [contentType, body, path] of [
    ["image/jpeg", jpeg, "/a"],
    ["image/webp", tinyWebps.lossless, "/b"],
    ["image/webp", tinyWebps.lossy, "/c"],
  ] as const) {
    await serveLogo(path, { body });
    await expectPicture(contentType, body);
  }
});

test("a picture is kept for an hour, a failure for a minute, and many at once share one fetch", async () => {
  // Each process keeps pictures for itself, which costs a fetch for each.
  const [{ url: one }] = machines;
  const path = "/kept.png";
  await serveLogo(path, { body: "not yet a picture" });
  await expectNoLogo(one);
  served.set(path, { body: png });
  clock.advance(minuteMs - 1);
  await expectNoLogo(one);
  assert.equal(requestsFor(path), 1);
  clock.advance(1);
  const answers = await Promise.all(Array.from({ length: 8 }, () => look(sessionPath, one)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    Array(8).fill(200),
  );
  assert.equal(requestsFor(path), 2);

  const newer = drawPng(10, 10);
  served.set(path, { body: newer });
  clock.advance(hourMs - 1);
  await expectPicture("image/png", png, one);
  assert.equal(requestsFor(path), 2);
  clock.advance(1);
  await expectPicture("image/png", newer, one);
  assert.equal(requestsFor(path), 3);
});

test("what is not a plain picture of a modest size is not shown", async () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="9" height="9"/></svg>';
  const huge = Buffer.concat([png, Buffer.alloc(256 * 1024 + 1 - png.length)]);
  const wide = Buffer.from(png);
  wide.writeUInt32BE(2001, 16);
  const wrongStart = Buffer.from(png);
  wrongStart[0] = 0x88;
  const refused: Record<string, Served> = {
    svg: { body: svg, headers: { "content-type": "image/svg+xml" } },
    "svg that claims to be a PNG": { body: svg, headers: { "content-type": "image/png" } },
    html: { body: "<!doctype html>", headers: { "content-type": "text/html" } },
    empty: { body: "" },
    "too many bytes, announced": { body: huge, headers: { "content-length": String(huge.length) } },
    "too many bytes, in pieces": { body: huge, headers: { "transfer-encoding": "chunked" } },
    "too wide": { body: wide },
    "wrong first byte": { body: wrongStart },
    // Not decompressed, so that a few bytes cannot become many.
    compressed: { body: gzipSync(png), headers: { "content-encoding": "gzip" } },
    "a redirect": { status: 302, headers: { location: `${origin}/there.png` }, body: png },
    "not found, with a picture": { status: 404, body: png },
    "part of a picture": { status: 206, body: png },
  };
  served.set("/there.png", { body: png });
  for (const [name, answer] of Object.entries(refused)) {
    const path = `/refused/${name.replaceAll(/\W/g, "-")}`;
    await serveLogo(path, answer);
    await expectNoLogo();
    assert.equal(requestsFor(path), 1, name);
  }
  assert.equal(requestsFor("/there.png"), 0);
  const exactly = huge.subarray(0, 256 * 1024);
  await serveLogo("/as-large-as-allowed.png", { body: exactly });
  await expectPicture("image/png", exactly);
});

test("without a verified domain or a logo there is none, and no host is asked", async () => {
  const path = "/unproven.png";
  served.set(path, { body: png });
  const other = await createPartner(api);
  expectData(await other.owner.api.patch("/v1/auth/orgs", { logo_url: `${origin}${path}` }));
  const session = await startVerification(other.api);
  const connections = host.connections;
  expectError(await api.get(`${session.path}/logo`), 404, "LOGO_NOT_FOUND");
  assert.deepEqual([host.connections, requestsFor(path)], [connections, 0]);

  await setLogo(null);
  await expectNoLogo();
  // A picture that is at hand is held back once the domain is lost.
  await verifyDomain(other.owner, names, "second.example");
  assert.equal((await look(session.path)).status, 200);
  await core.db.run(
    sql`update verified_domains set downgraded_at = ${clock.now()} where organization_id = ${other.organizationId}`,
  );
  expectError(await api.get(`${session.path}/logo`), 404, "LOGO_NOT_FOUND");
  assert.equal(requestsFor(path), 1);
});

test("a private address is never connected to, by whatever name", async () => {
  let intrusions = 0;
  const inside = createServer((socket) => {
    intrusions += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => inside.listen(host.port, "127.0.0.2", resolve));
  after(() => inside.close());
  names.set("logo.partner-site.com", "A", "127.0.0.2");
  names.set("mixed.partner-site.com", "A", "93.184.216.34", "127.0.0.2");
  names.set("same.partner-site.com", "A", "127.0.0.1");
  const connections = host.connections;
  for (const address of [
    `127.0.0.2:${host.port}`,
    `2130706434:${host.port}`,
    `logo.partner-site.com:${host.port}`,
    `mixed.partner-site.com:${host.port}`,
    `same.partner-site.com:${host.port}`,
  ]) {
    await setLogo(`https://${address}/logo.png`);
    await expectNoLogo();
  }
  assert.deepEqual([intrusions, host.connections], [0, connections]);
  // The listener would have received a connection.
  await fetch(`http://127.0.0.2:${host.port}/`).catch(() => {});
  assert.equal(intrusions, 1);
});

test("of a failure only its kind is written down", () => {
  const metrics = machines.map(({ core }) => core.metrics.render()).join("");
  const lines = logLines.filter((line) => line.includes("logo"));
  const problems = new Set(
    lines.filter((line) => line.includes('"problem"')).map((line) => JSON.parse(line).problem),
  );
  assert.deepEqual([...problems].sort(), [
    "address_refused",
    "not_a_picture",
    "status_not_200",
    "too_many_bytes",
    "too_many_pixels",
    "url_refused",
  ]);
  for (const secret of ["keep-me-out-of-the-log", origin, "partner-site.com", "/refused/", id])
    for (const written of [logLines.join(""), metrics]) assert.ok(!written.includes(secret), secret);
  const counted = [...metrics.matchAll(/assay_logo_fetches_total\{result="too_many_bytes"\} (\d+)/g)];
  assert.equal(
    counted.reduce((sum, [, count]) => sum + Number(count), 0),
    2,
  );
});

test("an organization whose logo never comes takes no place from another one", async () => {
  const other = await createPartner(api);
  await verifyDomain(other.owner, names, "second.example");
  served.set("/theirs.png", { body: png });
  expectData(await other.owner.api.patch("/v1/auth/orgs", { logo_url: `${origin}/theirs.png` }));
  const theirs = await startVerification(other.api);

  // Slots are those of a process.
  const [{ url: one }] = machines;
  const hanging: Promise<Response>[] = [];
  for (let tried = 0; tried < 17; tried++) {
    await setLogo(`${origin}/never-answers/${tried}`);
    hanging.push(look(sessionPath, one));
    if (tried < 2) await untilAsked(`/never-answers/${tried}`);
  }
  assert.equal((await look(theirs.path, one)).status, 200);
  assert.deepEqual(new Set((await Promise.all(hanging)).map(({ status }) => status)), new Set([404]));
  const asked = host.received.filter(({ path }) => path.startsWith("/never-answers/"));
  assert.equal(asked.length, 2, "the others were not even asked for");
});

async function untilAsked(path: string): Promise<void> {
  await until(`${path} is asked for`, () => requestsFor(path) > 0);
}
