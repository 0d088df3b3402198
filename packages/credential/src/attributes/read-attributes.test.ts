import assert from "node:assert/strict";
import { test } from "node:test";
import type { AskedCredential } from "../asked.ts";
import { CborFloat, CborTag, type CborValue } from "../cbor/value.ts";
import type { JsonObject } from "../json.ts";
import { hasExpired, readMdocAttributes, readSdJwtAttributes } from "./read-attributes.ts";

const now = new Date("2026-11-18T12:00:00Z");
const nameSpace = "eu.europa.ec.eudi.pid.1";
const fullDate = (text: string) => new CborTag(1004, text);

/** Asks for exactly these elements, and presents them. */
function mdoc(elements: Record<string, CborValue>, names = Object.keys(elements)) {
  const asked: AskedCredential = {
    id: "pid_mdoc",
    purpose: "pid",
    format: "mso_mdoc",
    claimSets: [names.map((name) => [nameSpace, name])],
  };
  return readMdocAttributes(asked, new Map([[nameSpace, new Map(Object.entries(elements))]]), now);
}
const attributesOf = (elements: Record<string, CborValue>) => {
  const read = mdoc(elements);
  return read.kind === "read" ? read.attributes : read.reason;
};

test("an mdoc's elements become attributes", () => {
  assert.deepEqual(
    attributesOf({
      family_name: "'t Hart",
      given_name: "Jan Wijnand",
      birth_date: fullDate("1978-02-12"),
      nationality: ["NL", "BE"],
      sex: 1,
      document_number: "A01234567",
      issuing_country: "NL",
      expiry_date: new CborTag(0, "2035-12-19T23:30:00-02:00"),
      age_over_18: true,
      age_over_65: false,
    }),
    {
      familyName: "'t Hart",
      givenName: "Jan Wijnand",
      birthDate: "1978-02-12",
      nationalities: ["NL", "BE"],
      sex: 1,
      documentNumber: "A01234567",
      issuingCountry: "NL",
      expiryDate: "2035-12-20",
      ageOver: { 18: true, 65: false },
    },
  );
  assert.deepEqual(
    attributesOf({ nationality: "DE" }),
    { nationalities: ["DE"] },
    "a driving licence has one",
  );
  assert.deepEqual(
    attributesOf({ birth_date: "1978-02-12" }),
    { birthDate: "1978-02-12" },
    "without its tag",
  );
});

test("an element of another form is unreadable, never guessed", () => {
  const elements: Record<string, readonly CborValue[]> = {
    family_name: ["", 1, Uint8Array.of(65), ["A"], "a\nb", "\ud800", "x".repeat(1001), fullDate("A")],
    birth_date: [
      fullDate("1978-02-30"),
      fullDate("1978-02"),
      fullDate("12-02-1978"),
      19780212,
      new CborTag(0, "1978-02-12T00:00:00Z"),
      new CborTag(1005, "1978-02-12"),
      "1978-13-01",
    ],
    expiry_date: [
      new CborTag(0, "2035-12-19"),
      new CborTag(0, "2035-02-30T00:00:00Z"),
      fullDate("2035-12-19T00:00:00Z"),
      new CborTag(0, "2035-12-19T25:00:00Z"),
    ],
    sex: [7, 8, 10, -1, "1", true, new CborFloat(1)],
    nationality: ["D", "DEU", "de", [], [1], Array.from({ length: 21 }, () => "DE")],
    issuing_country: ["D<<", ["DE"]],
    age_over_18: [1, "true", 18],
    age_over_x: [true],
    portrait: [Uint8Array.of(1)],
  };
  for (const [name, values] of Object.entries(elements)) {
    for (const value of values)
      assert.equal(attributesOf({ [name]: value }), "claim_unreadable", `${name} ${String(value)}`);
  }
  for (const sex of [0, 1, 2, 3, 4, 5, 6, 9]) assert.deepEqual(attributesOf({ sex }), { sex });
});

test("what is missing refuses, what is more is dropped unread", () => {
  const missing = mdoc({ family_name: "A" }, ["family_name", "given_name"]);
  assert.deepEqual(missing, { kind: "refused", cause: "data", reason: "claim_missing" });
  const more = mdoc({ family_name: "A", portrait: Uint8Array.of(1), sex: "unreadable" }, ["family_name"]);
  assert.deepEqual(more, { kind: "read", attributes: { familyName: "A" }, disclosedMore: true });
  assert.deepEqual(mdoc({ family_name: "A" }), {
    kind: "read",
    attributes: { familyName: "A" },
    disclosedMore: false,
  });
});

test("an age is answered by a higher one that was reached or a lower one that was not", () => {
  const over21 = (elements: Record<string, CborValue>) => {
    const read = mdoc(elements, ["age_over_21"]);
    return read.kind === "read" ? [read.attributes.ageOver?.[21], read.disclosedMore] : read.reason;
  };
  assert.deepEqual(over21({ age_over_21: true }), [true, false]);
  assert.deepEqual(over21({ age_over_25: true }), [true, false]);
  assert.deepEqual(over21({ age_over_18: false }), [false, false]);
  assert.deepEqual(over21({ age_over_18: false, age_over_25: false }), [false, true]);
  assert.deepEqual(
    over21({ age_over_21: false, age_over_25: true }),
    [false, true],
    "what was asked for comes first",
  );
  assert.equal(over21({ age_over_18: true }), "claim_missing");
  assert.equal(over21({ age_over_25: false }), "claim_missing");
  assert.equal(over21({ age_over_25: 1 }), "claim_missing");
});

test("an element of another namespace does not stand in", () => {
  const asked: AskedCredential = {
    id: "m",
    purpose: "mdl",
    format: "mso_mdoc",
    claimSets: [[["org.iso.18013.5.1", "family_name"]]],
  };
  const elsewhere = new Map([["org.iso.18013.5.1.aamva", new Map([["family_name", "A"]])]]);
  const read = readMdocAttributes(asked, elsewhere, now);
  assert.equal(read.kind === "refused" && read.reason, "claim_missing");
});

test("the day of expiry is the last valid one, wherever the holder is", () => {
  assert.equal(hasExpired("2026-11-18", new Date("2026-11-19T11:59:59Z")), false);
  assert.equal(hasExpired("2026-11-18", new Date("2026-11-19T12:00:00Z")), true);
  const read = mdoc({ expiry_date: fullDate("2026-11-17") });
  assert.equal(read.kind === "refused" && read.reason, "document_expired");
});

test("claims of an SD-JWT VC are found by their path, and inherited names are none", () => {
  const read = (claims: JsonObject, ...claimSet: AskedCredential["claimSets"][number]) => {
    const asked: AskedCredential = { id: "s", purpose: "pid", format: "dc+sd-jwt", claimSets: [claimSet] };
    const result = readSdJwtAttributes(asked, claims, [], now);
    return result.kind === "read" ? result.attributes : result.reason;
  };
  assert.deepEqual(read({ nationalities: ["DE", "FR"] }, ["nationalities", 0]), {
    nationalities: ["DE", "FR"],
  });
  assert.deepEqual(read({ nationalities: ["DE"] }, ["nationalities", null]), { nationalities: ["DE"] });
  assert.deepEqual(read({ birthdate: "1990-01-01", sex: 2 }, ["birthdate"], ["sex"]), {
    birthDate: "1990-01-01",
    sex: 2,
  });
  assert.equal(read({ nationalities: [] }, ["nationalities", 0]), "claim_missing");
  assert.equal(read({ nationalities: "DE" }, ["nationalities", 0]), "claim_missing");
  assert.equal(read({}, ["constructor"]), "claim_missing");
  assert.equal(read({ family_name: null }, ["family_name"]), "claim_unreadable");
});
