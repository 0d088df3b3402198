import assert from "node:assert/strict";
import test from "node:test";
import { encode } from "jpeg-js";
import { createPartner, expectData, expectError } from "../../support/api.ts";
import { startDnsServer } from "../../support/dns-server.ts";
import { verifyDomain } from "../../support/domain.ts";
import { createLivePartner } from "../../support/live.ts";
import { drawPng, tinyWebps } from "../../support/pictures.ts";
import { startTestService } from "../../support/service.ts";
import { startVerification } from "../../support/verify.ts";

const names = await startDnsServer();
const { api, url, core } = await startTestService({ role: "api", env: { DNS_RESOLVERS: names.address } });
const partner = await createPartner(api);
const { owner } = partner;
const { path: sessionPath, id: sessionId } = await startVerification(partner.api);

const path = "/v1/auth/orgs/logo";
const png = drawPng(40, 20);
const jpeg = encode({ width: 16, height: 8, data: Buffer.alloc(16 * 8 * 4, 90) }, 50).data;

async function upload(body: Buffer, contentType: string | null = "image/png", token = owner.token) {
  const answer = await fetch(`${url}${path}`, {
    method: "PUT",
    headers: {
      authorization: `Bearer ${token}`,
      ...(contentType === null ? {} : { "content-type": contentType }),
    },
    body: new Uint8Array(body),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) };
}

const look = (at = `${sessionPath}/logo`) => fetch(`${url}${at}`);
const details = async () => expectData(await api.get(`${sessionPath}/details`)).organization;

test("a colour is stored in small letters, shown in the sandbox and of who is known, and can be cleared", async () => {
  const changed = expectData(await owner.api.patch("/v1/auth/orgs", { brand_color: "#FFEE00" }));
  assert.equal(changed.brand_color, "#ffee00");
  assert.equal((await details()).brand_color, "#ffee00");
  for (const wrong of ["#ffee0", "ffee00", "#ffee00ff", "red", "#gggggg", "url(x)"])
    expectError(await owner.api.patch("/v1/auth/orgs", { brand_color: wrong }), 400, "BAD_REQUEST");
  const live = await createLivePartner(core, api);
  await live.owner.api.patch("/v1/auth/orgs", { brand_color: "#0a2540" });
  const started = await startVerification(live.api);
  const shown = async () => expectData(await api.get(`${started.path}/details`)).organization.brand_color;
  assert.equal(await shown(), null, "with real documents only of an organization that is known");
  await verifyDomain(live.owner, names, "live.example");
  assert.equal(await shown(), "#0a2540");
  expectData(await live.owner.api.patch("/v1/auth/orgs", { brand_color: null }));
  assert.equal(await shown(), null);
});

test("a logo is uploaded by its bytes, shown once a domain is proven, replaced, and removed", async () => {
  expectError(await owner.api.get(path), 404, "LOGO_NOT_FOUND");
  const uploaded = expectData(await upload(png)) as { logo_uploaded_at: string | null };
  assert.ok(uploaded.logo_uploaded_at !== null);
  assert.equal((await details()).logo_url, null);
  assert.equal((await look()).status, 404, "the domain is not verified");
  await verifyDomain(owner, names, "looks.example");
  assert.equal((await details()).logo_url, `${url}${sessionPath}/logo`);
  for (const [bytes, called, contentType] of [
    [png, "image/png", "image/png"],
    // The declared type does not count.
    [jpeg, "image/png", "image/jpeg"],
    [tinyWebps.lossy, "image/jpeg", "image/webp"],
  ] as const) {
    expectData(await upload(bytes, called));
    const shown = await look();
    assert.equal(shown.status, 200);
    assert.equal(shown.headers.get("content-type"), contentType);
    assert.equal(shown.headers.get("x-content-type-options"), "nosniff");
    assert.deepEqual(Buffer.from(await shown.arrayBuffer()), bytes);
  }
  const own = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${owner.token}` } });
  assert.deepEqual(Buffer.from(await own.arrayBuffer()), tinyWebps.lossy);

  const entry = expectData(await owner.api.get("/v1/auth/orgs/audit-logs?limit=1"))[0];
  assert.equal(entry.event, "organization.updated");
  assert.deepEqual(entry.details, {
    logo: "uploaded",
    content_type: "image/webp",
    bytes: tinyWebps.lossy.length,
  });
  assert.equal((await owner.api.delete(path)).status, 204);
  expectError(await owner.api.delete(path), 404, "LOGO_NOT_FOUND");
  assert.equal((await look()).status, 404);
});

test("what is no picture, too large or called something else is refused, and nothing is stored", async () => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
  expectError(await upload(svg), 400, "BAD_REQUEST", /PNG, JPEG or WebP/);
  expectError(await upload(svg, "image/svg+xml"), 400, "BAD_REQUEST");
  expectError(await upload(Buffer.alloc(0)), 400, "BAD_REQUEST");
  expectError(await upload(png, "application/octet-stream"), 400, "BAD_REQUEST", /picture/);
  expectError(await upload(Buffer.from("{}"), "application/json"), 400, "BAD_REQUEST", /picture/);
  expectError(await upload(drawPng(2001, 1)), 400, "BAD_REQUEST", /2000 pixels/);
  expectError(await upload(Buffer.concat([png, Buffer.alloc(256 * 1024)])), 413, "PAYLOAD_TOO_LARGE");
  expectError(await owner.api.get(path), 404, "LOGO_NOT_FOUND");
  // A picture to a route that takes none.
  const answer = await fetch(`${url}/v1/auth/orgs`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${owner.token}`, "content-type": "image/png" },
    body: new Uint8Array(png),
  });
  assert.equal(answer.status, 400);
  assert.match(await answer.text(), /must be JSON/);
});

test("the page comes with what it needs, in the language of the browser, and nothing in it can end the data", async () => {
  const own = await createPartner(api);
  await own.owner.api.patch("/v1/auth/orgs", { name: "</script><script>alert(1)</script>" });
  const started = await startVerification(own.api);
  const page = async (at: string, language: string) =>
    (await fetch(`${url}${at}`, { headers: { "accept-language": language } })).text();
  const html = await page(`/verify/${started.id}`, "is,de-AT;q=0.8,en;q=0.5");
  assert.match(html, /<html lang="de" dir="ltr">/);
  assert.match(html, /<link rel="modulepreload" href="\/verify\/assets\/de-[^"]+\.js"/);
  assert.match(html, /<link rel="preload" href="\/verify\/assets\/inter-latin-[^"]+\.woff2" as="font"/);
  const [, text = ""] = /<script type="application\/json" id="given">(.*?)<\/script>/s.exec(html) ?? [];
  const given = JSON.parse(text);
  assert.equal(given.details.organization.name, "</script><script>alert(1)</script>");
  assert.deepEqual(Object.keys(given.texts.texts), ["de"]);
  assert.deepEqual(given.status.session_id, started.id);
  const { server_time: _, ...asked } = expectData(await api.get(`${started.path}/details`));
  const { server_time: __, ...came } = given.details;
  assert.deepEqual(came, asked);
  assert.ok(!html.includes("<script>alert"));
  // Without a session the page comes as it was built, and shows the error itself.
  const nobody = `${"x".repeat(64)}`;
  for (const other of ["/verify/vs_nothing", `/verify/vs_${nobody}`, `/verify/${sessionId}x`])
    assert.ok(!(await page(other, "de")).includes('id="given"'), other);
});
