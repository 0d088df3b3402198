import assert from "node:assert/strict";
import test from "node:test";
import { errorTable } from "@assay/contract/errors";
import { loadWords } from "../i18n/words.ts";
import { plainWords } from "./plain-words.ts";

await loadWords("en");

test("a field is called what it is called on the page", () => {
  const labelOf = (name: string) => (name === "redirect_url" ? "Return URL" : null);
  assert.equal(
    plainWords("`redirect_url` must start with https://, not `client_reference_id`.", labelOf),
    "“Return URL” must start with https://, not “client reference id”.",
  );
});

test("no message or hint of the contract tells a person to send a request", () => {
  for (const [code, { message, hint }] of Object.entries(errorTable))
    for (const text of [message, hint]) {
      const shown = plainWords(text);
      assert.doesNotMatch(shown, /\b(GET|POST|PUT|PATCH|DELETE)\b|`|\/v1\/|\/reference/, `${code}: ${shown}`);
      // A hint that only names the reference is left out.
      if (shown !== "" || text !== hint) assert.match(shown, /^[A-Z“].*[.!?]$/, `${code}: ${shown}`);
      assert.doesNotMatch(shown, / {2}| [.,;]/, `${code}: ${shown}`);
    }
});

test("what hints of single routes say reads as a sentence", () => {
  for (const [given, expected] of [
    ["Set one with POST /v1/auth/password/forgot.", "Set one."],
    ["Enable it with PATCH, then send the test event.", "Enable it, then send the test event."],
    [
      "Begin again with POST /v1/auth/passkeys/options; a challenge works once.",
      "Begin again; a challenge works once.",
    ],
    ["Read GET /v1/auth/orgs/rp-terms/text again and accept it.", "Read again and accept it."],
    [
      "Show the current texts (GET /v1/verify/consent-texts) and ask again.",
      "Show the current texts and ask again.",
    ],
  ] as const)
    assert.equal(plainWords(given), expected);
});
