import assert from "node:assert/strict";
import { test } from "node:test";
import { toBase64Url } from "../base64url.ts";
import { digest, utf8 } from "../bytes.ts";
import { CredentialError } from "../credential-error.ts";
import { applyDisclosures } from "./apply-disclosures.ts";

async function nested(levels: number): Promise<string> {
  let text = toBase64Url(utf8(JSON.stringify(["salt", 1])));
  const all = [text];
  for (let level = 1; level < levels; level++) {
    const hash = toBase64Url(await digest("SHA-256", utf8(text)));
    text = toBase64Url(utf8(JSON.stringify(["salt", [{ "...": hash }]])));
    all.push(text);
  }
  const outermost = toBase64Url(await digest("SHA-256", utf8(text)));
  try {
    return (await applyDisclosures({ list: [{ "...": outermost }] }, all, "sha-256")).kind;
  } catch (error) {
    assert.ok(error instanceof CredentialError, String(error));
    return error.code;
  }
}

test("arrays inside of arrays are disclosed to a depth that is bounded", async () => {
  assert.equal(await nested(10), "applied");
  assert.equal(await nested(100), "malformed");
});
