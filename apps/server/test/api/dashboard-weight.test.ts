import assert from "node:assert/strict";
import test from "node:test";
import { createPartner, expectData, signUpOwner } from "../support/api.ts";
import { startTestService } from "../support/service.ts";

const { api, url } = await startTestService();
const partner = await createPartner(api);

const signedIn = { cookie: `assay_session=${partner.owner.token}` };

/** What a browser gets, and how much of it is on the wire: the compressed body and the head of the answer. */
async function load(path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(url + path, { headers: { "accept-encoding": "br", ...headers } });
  const text = await answer.text();
  assert.equal(answer.status, 200, path);
  const head = [...answer.headers].reduce((sum, [name, value]) => sum + name.length + value.length + 4, 19);
  return { text, answer, bytes: head + Number(answer.headers.get("content-length")) };
}

function givenIn(html: string) {
  const text = /<script type="application\/json" id="given">(.*?)<\/script>/.exec(html)?.[1];
  return text === undefined ? null : JSON.parse(text);
}

/** All that a page names in its head, each script with what it imports when it starts. */
async function filesOf(html: string): Promise<Set<string>> {
  const files = new Set<string>(["/assets/icon.svg"]);
  const waiting = [...html.matchAll(/(?:src|href)="(\/dashboard\/assets\/[^"]+)"/g)].map(([, file]) => file);
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    if (!file.endsWith(".js")) continue;
    const script = await load(file);
    for (const [, name] of script.text.matchAll(/(?:import|from)\s*"\.\/([^"]+\.js)"/g))
      waiting.push(`/dashboard/assets/${name}`);
  }
  return files;
}

/** The goal is 150 kB to the first screen, of which what the screen asks for, and headers of the browser's own, take a tenth. */
const screens = [
  { path: "/dashboard/sign-in", budget: 95_000, scripts: [] },
  { path: "/dashboard", budget: 120_000, scripts: ["frame-", "overview-page-"] },
  { path: "/dashboard/sessions", budget: 120_000, scripts: ["frame-", "sessions-page-"] },
] as const;

test("the first screens of the dashboard stay within what they may weigh, and name all of their scripts at once", async () => {
  for (const { path, budget, scripts } of screens) {
    const page = await load(path, signedIn);
    let { bytes } = page;
    // What is loaded when the program has started would otherwise not be seen here.
    for (const script of scripts)
      assert.ok(page.text.includes(`/dashboard/assets/${script}`), `${path} does not name ${script}`);
    for (const file of await filesOf(page.text)) {
      bytes += (await load(file)).bytes;
      // Named in the page itself, not found out by running another.
      assert.ok(page.text.includes(file), `${path} does not name ${file}`);
    }
    assert.ok(bytes <= budget, `${path}: ${bytes} bytes`);
    assert.ok(bytes > 60_000, `${path}: ${bytes} bytes cannot be all`);
  }
});

test("a page behind the sign-in comes with who is here and where they act, and no other page does", async () => {
  const account = expectData(await partner.owner.api.get("/v1/auth/account"));
  const organizations = expectData(await partner.owner.api.get("/v1/auth/orgs"));
  for (const path of ["/dashboard", "/dashboard/sessions", "/dashboard/sessions/vs_unknown?x=1"]) {
    const given = givenIn((await load(path, signedIn)).text);
    assert.deepEqual(given.account.data, account);
    assert.deepEqual(given.organizations.data, organizations);
    assert.equal(given.active_organization_id, organizations[0].id);
  }
  for (const path of ["/dashboard/sign-in", "/dashboard/reset-password", "/invitations/x"])
    assert.equal(givenIn((await load(path, signedIn)).text), null, path);
  for (const cookie of [{}, { cookie: "assay_session=nobody" }])
    assert.equal(givenIn((await load("/dashboard", cookie)).text), null);
});

test("a name that looks like markup stays a text in the page, and the page is kept by nobody", async () => {
  const owner = await signUpOwner(api);
  const name = "</script><script>alert(1)</script>";
  expectData(await owner.api.patch("/v1/auth/account", { name }));
  const { text, answer } = await load("/dashboard", { cookie: `assay_session=${owner.token}` });
  assert.equal(text.includes("alert(1)</script>"), false);
  assert.equal(givenIn(text).account.data.name, name);
  assert.equal(answer.headers.get("cache-control"), "no-store");
});
