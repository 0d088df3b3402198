import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { sql } from "../../../src/platform/db/sql.ts";
import { expectData, expectError } from "../../support/api.ts";
import { latestToken, mailsTo } from "../../support/mailed-links.ts";
import { startTestService } from "../../support/service.ts";

const service = await startTestService();
const { api, core } = service;
const password = "correct horse battery";

async function signUp(name: string, email: string, language: string) {
  const answer = await api.post(
    "/v1/auth/sign-up/email",
    { name, email, password },
    { "accept-language": language },
  );
  return api.as(expectData<{ token: string }>(answer, 201).token);
}

const lastTo = async (email: string) => (await mailsTo(service, email)).at(-1) ?? assert.fail("no mail");

test("mails are in the language of the browser that signed up; the name is used once the address is proven", async () => {
  const ada = await signUp("Ada Lovelace", "ada@example.com", "de-AT,de;q=0.9,en;q=0.5");
  expectData(await api.post("/v1/auth/sign-in/magic-link", { email: "ada@example.com" }), 202);
  const unproven = await lastTo("ada@example.com");
  assert.equal(unproven.subject, "Ihr Anmeldelink");
  assert.match(unproven.text, /^Guten Tag,$/m);
  assert.ok(
    !unproven.text.includes("Lovelace"),
    "a stranger may sign up with another's address and any name",
  );

  const token = await latestToken(service, "ada@example.com", "magic-link");
  expectData(await api.post("/v1/auth/sign-in/magic-link/verify", { token }));
  expectData(
    await ada.post("/v1/auth/account/password", { current_password: password, new_password: `${password}!` }),
    204,
  );
  const proven = await lastTo("ada@example.com");
  assert.match(proven.text, /^Guten Tag Ada Lovelace,$/m);
  assert.match(proven.text, /weil sie die Sicherheit Ihres Kontos auf 127\.0\.0\.1:\d+ betrifft/);
});

test("a mail to an address without an account is in the language of the user who caused it", async () => {
  const owner = await signUp("Léa", "lea@example.com", "fr");
  expectData(await owner.post("/v1/auth/orgs", { name: "Acme", slug: "acme" }), 201);
  const invite = (email: string) => owner.post("/v1/auth/orgs/invitations", { email, role: "admin" });
  expectData(await invite("guest@example.com"), 201);
  const guest = await lastTo("guest@example.com");
  assert.match(
    guest.text,
    /^"Léa" \(lea@example\.com\) vous invite à rejoindre "Acme"\. Votre rôle : administrateur\.$/m,
  );
  assert.match(guest.text, /"Acme" utilise Assay pour vérifier/);

  await signUp("Olena", "olena@example.com", "uk");
  expectData(await invite("olena@example.com"), 201);
  assert.match((await lastTo("olena@example.com")).text, /запрошує вас до "Acme"/);
});

test("an account of before gets its language with the next sign-in, keeps one that it has, and takes it along when it is deleted", async () => {
  const languages = async (email: string) =>
    (
      await core.db.rows<{ language: string | null }>(sql`select language from users where email = ${email}`)
    ).map(({ language }) => language);
  const user = await signUp("Kim", "kim@example.com", "sv");
  assert.deepEqual(await languages("kim@example.com"), [null], "a language that no mail has");
  const signIn = (language: string) =>
    api.post(
      "/v1/auth/sign-in/email",
      { email: "kim@example.com", password },
      { "accept-language": language },
    );
  expectData(await signIn("it-CH"));
  expectData(await signIn("pl"));
  expectData(await user.patch("/v1/auth/account", { name: "Kim" }));
  expectError(
    await user.patch("/v1/auth/account", { name: "Kim", language: "sv" }),
    400,
    "BAD_REQUEST",
    /`language`/,
  );
  assert.deepEqual(await languages("kim@example.com"), ["it"]);
  const changed = expectData(await user.patch("/v1/auth/account", { name: "Kim", language: "nl" }));
  assert.equal(changed.language, "nl");
  expectData(await user.post("/v1/auth/account/delete", { password }), 204);
  assert.match((await lastTo("kim@example.com")).text, /Uw account en alles wat er alleen bij hoorde/);
  assert.deepEqual(await languages("kim@example.com"), []);
});

test("a mail has what mail programs look for: preheader, both schemes, a language, a sender's id, and nothing to fetch", async () => {
  const folders = service.dataDirs.map((dataDir) => join(dataDir, "mail"));
  for (const path of folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))) {
    const file = readFileSync(path, "utf8");
    const page = /<!doctype html>.*<\/html>/s.exec(file)?.[0] ?? assert.fail("no HTML");
    assert.match(file, /^Message-ID: <[0-9a-f-]{36}@localhost>$/m);
    assert.match(file, /^Auto-Submitted: auto-generated$/m);
    const language = /^Content-Language: ([a-z]{2})$/m.exec(file)?.[1];
    assert.ok(page.includes(`<html lang="${language}"`));
    assert.match(page, /<meta name="color-scheme" content="light dark">/);
    assert.match(page, /@media \(prefers-color-scheme:dark\)/);
    assert.match(page, /<div style="display:none[^>]*>[^<]{20,}/);
    assert.doesNotMatch(page, /<(img|script|link|iframe|object)\b|url\(|@import|\ssrc=/i);
    const link = /<a href="([^"]+)"/.exec(page)?.[1];
    if (link !== undefined) assert.equal(page.split(link).length - 1, 3, "as a button, and readable as text");
  }
});
