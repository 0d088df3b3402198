import assert from "node:assert/strict";
import { test } from "node:test";
import { serialize } from "node:v8";
import type { OrganizationId } from "@assay/contract/ids";
import { claimKeys } from "@assay/contract/sessions";
import { isAtLeast } from "@assay/emrtd/mrz/age";
import { buildMrz } from "@assay/emrtd/mrz/build-mrz";
import { parseMrzLines } from "@assay/emrtd/mrz/parse-mrz";
import fc from "fast-check";
import { specimen } from "../../../../test/support/specimen-mrz.ts";
import { knownId } from "../../../platform/kernel/ids.ts";
import { buildClaims, claimRefusal, serviceDocumentId } from "./claims.ts";
import type { ChipContent } from "./proof.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
const content = { ...specimen, secondaryName: "Anna Maria", optionalData: "ZE184226B" };
const mrz = parseMrzLines(buildMrz(content), now);
const date = (
  raw: string,
  year: number | null = null,
  month: number | null = null,
  day: number | null = null,
) => ({
  raw,
  year,
  month,
  day,
  otherYears: [],
});

test("every field of the allowlist has its claim, and only chosen ones are there", () => {
  const all = buildClaims(mrz, {
    fieldKeys: [...claimKeys, "age_over_51", "age_over_52"],
    documentId: () => "id",
    now,
  });
  assert.deepEqual(all, {
    document_type_code: "P",
    issuing_country_code: "UTO",
    family_name: "ERIKSSON",
    given_names: "ANNA MARIA",
    document_number: "L898902C3",
    nationality_code: "UTO",
    date_of_birth: "1974-08-12",
    sex_marker: "F",
    document_expiry_date: "2031-04-15",
    mrz_optional_data: "ZE184226B",
    service_document_id: "id",
    age_over_51: true,
    age_over_52: false,
  });
  fc.assert(
    fc.property(fc.uniqueArray(fc.constantFrom(...claimKeys, "age_over_18")), (fieldKeys) => {
      const claims = buildClaims(mrz, { fieldKeys, documentId: () => "id", now });
      assert.deepEqual(Object.keys(claims).sort(), [...fieldKeys].sort());
    }),
  );
  assert.throws(() => buildClaims(mrz, { fieldKeys: ["portrait"], documentId: () => "id", now }));
});

test("what the document leaves blank is null, and a date keeps what is known of it", () => {
  const claimsOf = (dateOfBirth: string) =>
    buildClaims(parseMrzLines(buildMrz({ ...content, optionalData: "", dateOfBirth }), now), {
      fieldKeys: ["mrz_optional_data", "date_of_birth"],
      documentId: () => "",
      now,
    });
  for (const [written, known] of [
    ["740812", "1974-08-12"],
    ["7408<<", "1974-08"],
    ["74<<<<", "1974"],
    ["<<<<<<", null],
  ] as const)
    assert.deepEqual(claimsOf(written), { mrz_optional_data: null, date_of_birth: known });
});

test("an age counts from the birthday on, and in doubt the person is younger", () => {
  const at = (text: string) => new Date(text);
  const born = date("080301", 2008, 3, 1);
  assert.equal(isAtLeast(born, 18, at("2026-02-28T23:59:59.999Z")), false);
  assert.equal(isAtLeast(born, 18, at("2026-03-01T00:00:00.000Z")), true);
  const leap = date("080229", 2008, 2, 29);
  assert.equal(isAtLeast(leap, 18, at("2026-02-28T12:00:00.000Z")), false);
  assert.equal(isAtLeast(leap, 18, at("2026-03-01T00:00:00.000Z")), true);
  assert.equal(isAtLeast(leap, 20, at("2028-02-29T00:00:00.000Z")), true);
  const month = date("0802<<", 2008, 2);
  assert.equal(isAtLeast(month, 18, at("2026-02-28T12:00:00.000Z")), false);
  assert.equal(isAtLeast(month, 18, at("2026-03-01T00:00:00.000Z")), true);
  const year = date("08<<<<", 2008);
  assert.equal(isAtLeast(year, 18, at("2026-12-30T12:00:00.000Z")), false);
  assert.equal(isAtLeast(year, 18, at("2026-12-31T00:00:00.000Z")), true);
  assert.equal(isAtLeast(date("<<<<<<"), 12, at("2026-03-01T00:00:00.000Z")), false);
});

test("a date of birth whose century is open is refused, and an age only where it hangs on the century", () => {
  const refused = (dateOfBirth: string, fieldKeys: readonly string[]) => {
    const open = parseMrzLines(buildMrz({ ...content, dateOfBirth }), now);
    const refusal = claimRefusal(serialize({ mrz: open } satisfies ChipContent), fieldKeys, now);
    const build = () => buildClaims(open, { fieldKeys, documentId: () => "", now });
    if (refusal === null) build();
    else assert.throws(build, /leaves open/);
    return refusal;
  };
  const century = "century_of_birth_unknown";
  // Born in 1925 or in 2025.
  assert.deepEqual(refused("250301", ["family_name", "date_of_birth"]), {
    key: "date_of_birth",
    reason: century,
  });
  assert.deepEqual(refused("250301", ["age_over_18"]), { key: "age_over_18", reason: century });
  assert.equal(refused("250301", ["family_name", "document_expiry_date"]), null);
  assert.equal(refused("740812", ["date_of_birth", "age_over_18"]), null);
  // Born in 1910 or in 2010: over 12 in both cases, over 18 in one.
  assert.equal(refused("100101", ["age_over_12"]), null);
  assert.deepEqual(refused("100101", ["age_over_18"]), { key: "age_over_18", reason: century });
});

test("a person over a hundred whose century is known is as old as that", () => {
  const open = parseMrzLines(buildMrz({ ...content, dateOfBirth: "250301" }), now);
  const old = { ...open, dateOfBirth: { ...open.dateOfBirth, year: 1925, otherYears: [] } };
  const fieldKeys = ["date_of_birth", "age_over_99"];
  assert.deepEqual(buildClaims(old, { fieldKeys, documentId: () => "", now }), {
    date_of_birth: "1925-03-01",
    age_over_99: true,
  });
});

const organizationId = knownId<OrganizationId>("org-1");

test("the identifier follows from key, organization and document, and from nothing else", () => {
  const key = Buffer.alloc(32, 1);
  const document = { issuingState: "UTO", documentCode: "P", documentNumber: "L898902C3" };
  const id = serviceDocumentId(key, organizationId, document);
  assert.match(id, /^[A-Za-z0-9_-]{43}$/);
  assert.equal(serviceDocumentId(key, organizationId, { ...document }), id);
  const others = [
    serviceDocumentId(Buffer.alloc(32, 2), organizationId, document),
    serviceDocumentId(key, knownId("org-2"), document),
    serviceDocumentId(key, organizationId, { ...document, documentNumber: "L898902C4" }),
    serviceDocumentId(key, organizationId, { ...document, documentCode: "PO" }),
    serviceDocumentId(key, organizationId, { ...document, issuingState: "UTP" }),
    serviceDocumentId(key, organizationId, {
      issuingState: "UTOP",
      documentCode: "",
      documentNumber: "L898902C3",
    }),
  ];
  assert.equal(new Set([id, ...others]).size, 7);
});
