import assert from "node:assert/strict";
import { test } from "node:test";
import { openAnnexC } from "./annex-c/annex-c.ts";
import { readMdocAttributes } from "./attributes/read-attributes.ts";
import { fromBase64 } from "./base64url.ts";
import { utf8 } from "./bytes.ts";
import { CredentialError } from "./credential-error.ts";
import { readJsonObject } from "./json.ts";

const isMalformed = (error: unknown) => error instanceof CredentialError && error.code === "malformed";

test("what has to be an object is nothing else", () => {
  assert.deepEqual(readJsonObject(utf8('{"a":1}')), { a: 1 });
  for (const other of ["[]", "[1]", "null", "1", '"x"', "true"])
    assert.throws(() => readJsonObject(utf8(other)), isMalformed, other);
});

test("padding stands at the end of base64 and nowhere else", () => {
  assert.deepEqual(fromBase64("AAE="), Uint8Array.of(0, 1));
  assert.deepEqual(fromBase64("AA=="), Uint8Array.of(0));
  for (const odd of ["=AAE", "A=AE", "AA=A", "A==A", "AAE==", "AA===", "=", "AAE=="])
    assert.throws(() => fromBase64(odd), isMalformed, odd);
});

test("a day is a day and nothing after it", () => {
  const pid = "eu.europa.ec.eudi.pid.1";
  const asked = {
    id: "a",
    purpose: "pid",
    format: "mso_mdoc",
    claimSets: [[[pid, "birth_date"]]],
  } as const;
  const now = new Date("2026-11-18T12:00:00Z");
  const read = (birthDate: string) => {
    const found = readMdocAttributes(asked, new Map([[pid, new Map([["birth_date", birthDate]])]]), now);
    return found.kind === "refused" ? found.reason : found.attributes.birthDate;
  };
  assert.equal(read("1990-02-28"), "1990-02-28");
  for (const odd of [
    "1990-02-28T00:00:00Z",
    "1990-02-28T",
    "1990-02-28 ",
    "1990-02-281",
    " 1990-02-28",
    "11990-02-28",
    "1990-02-30",
    "1990-13-01",
  ])
    assert.equal(read(odd), "claim_unreadable", odd);
});

test("an age that is not there is no other claim", () => {
  const asked = {
    id: "a",
    purpose: "age",
    format: "mso_mdoc",
    claimSets: [[["eu.europa.ec.av.1", "age_over_18"]]],
  } as const;
  const now = new Date("2026-11-18T12:00:00Z");
  for (const elements of [new Map(), new Map([["another", new Map([["age_over_21", true]])]])]) {
    const found = readMdocAttributes(asked, elements, now);
    assert.equal(found.kind === "refused" && found.reason, "claim_missing");
  }
});

test("an answer of Annex C is bounded before it is decoded", async () => {
  const binding = { kind: "annex_c", origin: "https://verifier.example", encryptionInfo: "" } as const;
  await assert.rejects(
    openAnnexC("A".repeat(2_000_000), { kty: "EC" }, binding),
    (error) => error instanceof CredentialError && error.code === "too_large",
  );
});
