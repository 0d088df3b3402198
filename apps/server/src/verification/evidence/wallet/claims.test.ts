import assert from "node:assert/strict";
import { test } from "node:test";
import { serialize } from "node:v8";
import type { OrganizationId } from "@assay/contract/ids";
import { claimKeys } from "@assay/contract/sessions";
import type { WalletMethod } from "@assay/contract/wallet-facts";
import type { Attributes } from "@assay/credential/verdict";
import { knownId } from "../../../platform/kernel/ids.ts";
import { serviceDocumentId } from "../document-chip/claims.ts";
import { claimsOf, missingClaim, walletDocumentId } from "./claims.ts";
import type { WalletContent, WalletProof } from "./proof.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
const organizationId = knownId<OrganizationId>("org-1");
const documentIdKey = Buffer.alloc(32, 1);
const attributes: Attributes = {
  familyName: "Östlund",
  givenName: "Zoë Ángela",
  birthDate: "2008-03-01",
  nationalities: ["DE", "FR"],
  sex: 5,
  documentNumber: "UT-88",
  issuingCountry: "AT",
  expiryDate: "2031-04-15",
};
const content: WalletContent = { attributes, issuedIn: "C=AT" };

function claims(
  fieldKeys: readonly string[],
  given: WalletContent = content,
  method: WalletMethod = "wallet_pid",
) {
  const proof = { kind: "wallet", content: serialize(given), method } as unknown as WalletProof;
  return claimsOf(proof, { fieldKeys, organizationId, documentIdKey, now });
}

test("every field of the contract comes from the credential, as its source writes it, with the codes of documents", () => {
  assert.deepEqual(claims([...claimKeys, "age_over_18"]), {
    document_type_code: "PID",
    issuing_country_code: "AUT",
    family_name: "Östlund",
    given_names: "Zoë Ángela",
    document_number: "UT-88",
    nationality_code: "D",
    date_of_birth: "2008-03-01",
    sex_marker: "X",
    document_expiry_date: "2031-04-15",
    mrz_optional_data: null,
    service_document_id: walletDocumentId(documentIdKey, organizationId, {
      type: "PID",
      issuedIn: "C=AT",
      documentNumber: "UT-88",
    }),
    age_over_18: true,
  });
});

test("what the credential lacks is null", () => {
  const nothing = claims([...claimKeys, "age_over_18"], { attributes: {}, issuedIn: "" }, "wallet_mdl");
  assert.deepEqual(
    Object.entries(nothing).filter(([, value]) => value !== null),
    [["document_type_code", "DL"]],
  );
  assert.equal(claims(["document_type_code"], content, "wallet_age").document_type_code, "AV");
  assert.equal(
    claims(["nationality_code"], { attributes: { nationalities: ["QQ"] }, issuedIn: "" }).nationality_code,
    null,
  );
});

test("a person without a known state has the code that passports have for it", () => {
  const nationality = (code: string) =>
    claims(["nationality_code"], { attributes: { nationalities: [code] }, issuedIn: "" }).nationality_code;
  assert.equal(nationality("QS"), "XXA");
  assert.equal(nationality("QU"), "XXX");
  assert.equal(nationality("FR"), "FRA");
});

test("an age is computed from the birth date, and taken from the issuer where there is none", () => {
  const age = (given: Attributes, key: string) => claims([key], { attributes: given, issuedIn: "" })[key];
  assert.equal(age({ birthDate: "2008-03-01" }, "age_over_18"), true);
  assert.equal(age({ birthDate: "2008-03-02" }, "age_over_18"), false);
  // An answer of an earlier day does not count against the date.
  assert.equal(age({ birthDate: "2008-03-01", ageOver: { 18: false } }, "age_over_18"), true);
  assert.equal(age({ ageOver: { 18: false, 21: true } }, "age_over_18"), false);
  assert.equal(age({ ageOver: { 21: true } }, "age_over_18"), null);
});

test("the sex is M, F or X, and null where the issuer does not say", () => {
  const marker = (sex: number) => claims(["sex_marker"], { attributes: { sex }, issuedIn: "" }).sex_marker;
  assert.deepEqual([0, 1, 2, 3, 4, 5, 6, 9].map(marker), [null, "M", "F", "X", "X", "X", "X", null]);
});

test("a document has an identifier only where its number was agreed to, and no other document has the same", () => {
  const id = (given: WalletContent, method?: WalletMethod) =>
    claims(["document_number", "service_document_id"], given, method).service_document_id;
  assert.equal(claims(["service_document_id"]).service_document_id, null);
  const one = id(content);
  assert.equal(one, id({ ...content, attributes: { ...attributes, familyName: "Other" } }));
  const { documentNumber = "" } = attributes;
  const others = [
    id(content, "wallet_mdl"),
    id({ ...content, issuedIn: "C=DE" }),
    id({ ...content, attributes: { ...attributes, documentNumber: "UT-89" } }),
    serviceDocumentId(documentIdKey, organizationId, {
      issuingState: "AT",
      documentCode: "PID",
      documentNumber,
    }),
  ];
  assert.equal(new Set([one, ...others]).size, 5);
});

test("a required field that has no value is named, but for what may be null", () => {
  const missing = (keys: readonly string[], given: Attributes) =>
    missingClaim("wallet_pid", { attributes: given, issuedIn: "" }, keys, now);
  assert.equal(
    missing([...claimKeys.filter((key) => key !== "mrz_optional_data"), "age_over_18"], attributes),
    null,
  );
  assert.equal(missing(["family_name", "given_names"], { familyName: "A" }), "given_names");
  // Letters that name no country.
  assert.equal(missing(["issuing_country_code"], { issuingCountry: "QQ" }), "issuing_country_code");
  assert.equal(missing(["service_document_id", "sex_marker"], {}), null);
  assert.equal(missing(["age_over_18"], { ageOver: { 21: true } }), "age_over_18");
});
