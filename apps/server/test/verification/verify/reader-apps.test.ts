import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { createPartner, expectData } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";
import { startVerification } from "../../support/verify.ts";

const digest = `${"AB:".repeat(31)}CD`;
const install = "https://verify.example.org/app";
const store = "https://apps.apple.com/app/id1234567890";
const assetLinks = "/.well-known/assetlinks.json";
const association = "/.well-known/apple-app-site-association";

const plain = await startTestService({ role: "api" });
const { url, api } = await startTestService({
  role: "api",
  databaseUrl: plain.databaseUrl,
  env: {
    READER_APP_ANDROID: `package=org.example.verify,sha256=${digest},install=${install}`,
    READER_APP_IOS: `app=ABCDE12345.org.example.verify,clip=ABCDE12345.org.example.verify.Clip,install=${store}`,
  },
});

test("phones learn at the well-known paths which apps the links of verifications belong to", async () => {
  const documents: Record<string, unknown> = {
    [assetLinks]: [
      {
        relation: ["delegate_permission/common.handle_all_urls"],
        target: {
          namespace: "android_app",
          package_name: "org.example.verify",
          sha256_cert_fingerprints: [digest],
        },
      },
    ],
    [association]: {
      applinks: {
        details: [{ appIDs: ["ABCDE12345.org.example.verify"], components: [{ "/": "/verify/*" }] }],
      },
      appclips: { apps: ["ABCDE12345.org.example.verify.Clip"] },
    },
  };
  for (const [path, document] of Object.entries(documents)) {
    const answer = await fetch(url + path, { redirect: "error" });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("content-type"), "application/json");
    assert.deepEqual(await answer.json(), document);
    assert.equal((await fetch(url + path, { method: "HEAD" })).status, 200);
    assert.equal((await fetch(url + path, { method: "POST" })).status, 405);
  }
});

test("without an app the paths do not exist, and the page gets none", async () => {
  for (const path of [assetLinks, association]) {
    const answer = await fetch(plain.url + path);
    assert.equal(answer.status, 404);
    assert.equal(((await answer.json()) as { error: { code: string } }).error.code, "NOT_FOUND");
  }
  const partner = await createPartner(plain.api);
  const { path } = await startVerification(partner.api);
  const details = expectData(await plain.api.get(`${path}/details`));
  assert.deepEqual(details.reader_apps, { android: null, ios: null });
  const elsewhere = expectData(await api.get(`${path}/details`));
  assert.deepEqual(elsewhere.reader_apps, {
    android: { package_name: "org.example.verify", install_url: install },
    ios: { app_clip: true, install_url: store },
  });
});

test("Safari is offered the app on the person's page alone", async () => {
  const textOf = async (address: string) => (await fetch(address)).text();
  const banner = /<meta name="apple-itunes-app" content="app-id=1234567890, app-clip-bundle-id=org\.example/;
  assert.match(await textOf(`${url}/verify/vs_any`), banner);
  assert.doesNotMatch(await textOf(`${url}/dashboard`), /apple-itunes-app/);
  assert.doesNotMatch(await textOf(`${plain.url}/verify/vs_any`), /apple-itunes-app/);
});

test("the operator's Android app is given out at /app.apk, and people are led to the page that says how to install it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "assay-app-"));
  after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "verify.apk");
  const first = Buffer.from("PK first version");
  writeFileSync(file, first);
  const giving = await startTestService({
    role: "api",
    databaseUrl: plain.databaseUrl,
    env: {
      READER_APP_ANDROID: `package=org.example.verify,sha256=${digest}`,
      READER_APP_ANDROID_FILE: file,
    },
  });
  const partner = await createPartner(plain.api);
  const { path } = await startVerification(partner.api);
  const details = expectData(await giving.api.get(`${path}/details`));
  const address = details.reader_apps.android?.install_url ?? "";
  assert.equal(address, `${giving.url}/app`);
  const page = await fetch(address, { headers: { "accept-language": "de-AT,en;q=0.5" } });
  assert.equal(page.status, 200);
  assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
  const text = await page.text();
  assert.match(text, /<html lang="de" dir="ltr">/);
  assert.match(text, /<a class="action main" href="\/app\.apk">/);
  assert.match(text, /30\. September 2026/, "and what Android refuses since");
  assert.match(text, /iPhone ist in Vorbereitung/);

  const fileUrl = `${giving.url}/app.apk`;
  const answer = await fetch(fileUrl);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "application/vnd.android.package-archive");
  assert.equal(answer.headers.get("content-disposition"), 'attachment; filename="app.apk"');
  assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), first);
  const head = await fetch(fileUrl, { method: "HEAD" });
  assert.equal(head.status, 200);
  assert.equal(head.headers.get("content-length"), String(first.length));
  const etag = answer.headers.get("etag") ?? "";
  assert.equal((await fetch(fileUrl, { headers: { "if-none-match": etag } })).status, 304);

  writeFileSync(file, "PK second version, longer");
  const second = await fetch(fileUrl, { headers: { "if-none-match": etag } });
  assert.equal(await second.text(), "PK second version, longer", "a new version is there at once");
  rmSync(file);
  assert.equal((await fetch(fileUrl)).status, 404);
});

test("where the apps are in stores, the page at /app leads there and offers no file", async () => {
  const answer = await fetch(`${url}/app`, { headers: { "accept-language": "ar" } });
  const text = await answer.text();
  assert.match(text, /<html lang="ar" dir="rtl">/);
  assert.ok(text.includes(`href="${install}"`) && text.includes(`href="${store}"`));
  assert.doesNotMatch(text, /app\.apk|2026/);
  assert.equal((await fetch(`${url}/app.apk`)).status, 404);
});

test("every installation says that it is one, so that the app for all of them opens its links and no others", async () => {
  const answer = await fetch(`${plain.url}/.well-known/assay-reader.json`, { redirect: "error" });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "application/json");
  assert.equal(answer.headers.get("cache-control"), "public, max-age=3600");
  const text = await answer.text();
  assert.deepEqual(JSON.parse(text), { service: "Assay", protocol: 1, session_page: "/verify/{session}" });
  assert.ok(text.length < 4096, "the app reads no more");

  // The app takes the partner's name from here, before anything is opened.
  const partner = await createPartner(plain.api);
  const { path } = await startVerification(partner.api);
  const details = await fetch(`${plain.url}${path}/details`, { redirect: "error" });
  assert.match(details.headers.get("content-type") ?? "", /^application\/json\b/);
  const body = (await details.json()) as { data: { organization: { name: string } } };
  assert.ok(body.data.organization.name.length > 0);
});

test("without an app, /app is a page that is not there", async () => {
  const asBrowser = await fetch(`${plain.url}/app`, { headers: { accept: "text/html" } });
  assert.equal(asBrowser.status, 404);
  assert.match(asBrowser.headers.get("content-type") ?? "", /^text\/html/);
  const asProgram = await fetch(`${plain.url}/app`);
  assert.equal(((await asProgram.json()) as { error: { code: string } }).error.code, "NOT_FOUND");
});
