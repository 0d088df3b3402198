import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { dashboardLanguages, pageLanguages } from "@assay/contract/facts";
import { fontSlices } from "../../../../../packages/ui/src/font-slices.ts";
import { createPartner, expectData, signUpOwner } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";
import { startVerification } from "../../support/verify.ts";

const { api, url } = await startTestService();
const partner = await createPartner(api);

const verifyDist = new URL("../../../../verify/dist/", import.meta.url);

/** What the person's page loads between consent and camera: screens, QR code and connection. */
const lateParts = [
  "src/screens/later.tsx",
  "../../node_modules/qrcode-generator/dist/qrcode.mjs",
  "src/reading/page-device.ts",
];
/** For a session that a wallet can answer: its screens and the code for a phone. */
const walletParts = [
  "src/screens/later.tsx",
  "../../node_modules/qrcode-generator/dist/qrcode.mjs",
  "src/wallet/wallet-screens.tsx",
  "src/wallet/wallet-words.ts",
];
/** Inside of an app it also opens the chip itself, which takes the cryptography of travel documents. */
const chipParts = ["src/reading/shell-document.ts", "src/reading/typed-from-zone.ts"];

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
function filesOf(html: string): Promise<Set<string>> {
  const named = [...html.matchAll(/(?:src|href)="(\/(?:dashboard|verify)\/assets\/[^"]+)"/g)];
  return withImports(["/assets/icon.svg", ...named.map(([, file = ""]) => file)]);
}

async function withImports(begin: readonly string[]): Promise<Set<string>> {
  const files = new Set<string>();
  const waiting = [...begin];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    if (!file.endsWith(".js")) continue;
    const script = await load(file);
    for (const [, name = ""] of script.text.matchAll(/(?:import|from)\s*"\.\/([^"]+\.js)"/g))
      waiting.push(new URL(name, new URL(file, url)).pathname);
  }
  return files;
}

const weighed = new Map<string, number>();

async function bytesOf(files: Iterable<string>): Promise<number> {
  let bytes = 0;
  for (const file of files) {
    const known = weighed.get(file) ?? (await load(file)).bytes;
    weighed.set(file, known);
    bytes += known;
  }
  return bytes;
}

/** The goal is 150 kB to the first screen, of which API answers and the browser's headers take a tenth. */
const screens = [
  { path: "/dashboard/sign-in", budget: 104_000, scripts: [] },
  { path: "/dashboard", budget: 130_000, scripts: ["frame-", "overview-page-"] },
  { path: "/dashboard/sessions", budget: 128_000, scripts: ["frame-", "sessions-page-"] },
] as const;

const dashboardFiles: Record<string, { file: string }> = JSON.parse(
  readFileSync(new URL("../../../../dashboard/dist/.vite/manifest.json", import.meta.url), "utf8"),
);
const inEveryLanguage = screens.flatMap((screen) =>
  dashboardLanguages.map((language) => ({ ...screen, language })),
);

test("the first screens of the dashboard stay within what they may weigh, and name all of their scripts at once", async () => {
  for (const { path, budget, scripts, language } of inEveryLanguage) {
    const page = await load(path, { ...signedIn, "accept-language": language });
    const words = dashboardFiles[`texts/${language}.json?first`]?.file ?? assert.fail(language);
    assert.ok(page.text.includes(`/dashboard/${words}`), `${path} does not name the words of ${language}`);
    // Parts that load after the start would not be counted otherwise.
    for (const script of scripts)
      assert.ok(page.text.includes(`/dashboard/assets/${script}`), `${path} does not name ${script}`);
    const files = await filesOf(page.text);
    // Named in the page, not loaded by another script.
    for (const file of files) assert.ok(page.text.includes(file), `${path} does not name ${file}`);
    const bytes = page.bytes + (await bytesOf(files));
    assert.ok(bytes <= budget, `${path}: ${bytes} bytes in ${language}`);
    assert.ok(bytes > 60_000, `${path}: ${bytes} bytes cannot be all`);
  }
});

test("the person's page is light up to the camera, in every language that it speaks", async () => {
  const { id } = await startVerification(partner.api);
  const manifest: Record<string, { file: string }> = JSON.parse(
    readFileSync(new URL(".vite/manifest.json", verifyDist), "utf8"),
  );
  const built = (source: string) => `/verify/${manifest[source]?.file ?? assert.fail(source)}`;
  const later = await withImports(lateParts.map(built));
  const wallet = await withImports(walletParts.map(built));
  /** The letters of other scripts, of which the texts of a language need at most one. */
  const sliceOf = async (language: string) => {
    const { text } = await load(built(`texts/${language}.json`));
    const needed = fontSlices.slice(1).filter(({ ranges }) =>
      [...text].some((letter) => {
        const code = letter.codePointAt(0) ?? 0;
        return ranges.some(([from, to]) => code >= from && code <= to);
      }),
    );
    const files = needed.map(
      ({ file }) => Object.keys(manifest).find((source) => source.endsWith(file)) ?? "",
    );
    return Math.max(0, ...(await Promise.all(files.map((source) => bytesOf([built(source)])))));
  };
  for (const language of pageLanguages) {
    const page = await load(`/verify/${id}`, { "accept-language": language });
    const head = await filesOf(page.text);
    assert.ok(head.has(built(`texts/${language}.json`)), `the page does not name the texts of ${language}`);
    const first = page.bytes + (await bytesOf(head));
    assert.ok(first > 50_000, `${language}: ${first} bytes cannot be all`);
    const rest = await bytesOf([...later].filter((file) => !head.has(file)));
    const upToCamera = first + rest + (await sliceOf(language));
    assert.ok(upToCamera <= 120_000, `${language}: ${upToCamera} bytes`);
    // A wallet needs neither the chip nor the camera, so only these sessions load its part.
    const withWallet = new Set([...wallet, built(`wallet-texts/${language}.json`)]);
    assert.ok(!head.has(built("src/wallet/wallet-screens.tsx")), "a chip needs no wallet");
    const forWallet = await bytesOf([...withWallet].filter((file) => !head.has(file)));
    const upToWallet = first + forWallet + (await sliceOf(language));
    assert.ok(upToWallet <= 120_000, `${language}: ${upToWallet} bytes up to the wallet`);
  }
  const chip = await withImports(chipParts.map(built));
  const opened = await bytesOf([...chip].filter((file) => !later.has(file)));
  assert.ok(opened <= 55_000, `opening a chip takes ${opened} bytes`);
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
  for (const cookie of [{}, { cookie: "assay_session=nobody" }]) {
    const { text } = await load("/dashboard", cookie);
    assert.deepEqual(givenIn(text), { account: null }, "no account, and nothing more");
    assert.equal(text.includes("overview-page-"), false, "the page leads to the sign-in at once");
  }
});

test("a name that looks like markup stays a text in the page, and no cache keeps the page", async () => {
  const owner = await signUpOwner(api);
  const name = "</script><script>alert(1)</script>";
  expectData(await owner.api.patch("/v1/auth/account", { name }));
  const { text, answer } = await load("/dashboard", { cookie: `assay_session=${owner.token}` });
  assert.equal(text.includes("alert(1)</script>"), false);
  assert.equal(givenIn(text).account.data.name, name);
  assert.equal(answer.headers.get("cache-control"), "no-store");
});
