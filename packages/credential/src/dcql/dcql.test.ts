import assert from "node:assert/strict";
import { test } from "node:test";
import { type DcqlCredential, DcqlQuery } from "dcql";
import { anchorOf, newAuthority, newSigner } from "../../test/support/pid.ts";
import type { AskedCredential, ClaimPath } from "../asked.ts";
import type { Purpose, TrustAnchor } from "../trust-anchor.ts";
import { askedFor } from "./ask.ts";
import { keptClaims } from "./kept-claims.ts";
import { dcqlQuery } from "./query.ts";

type Fields = Readonly<Record<string, boolean>>;
const askWith = (ways: readonly Purpose[], fields: Fields) =>
  askedFor(
    ways,
    Object.entries(fields).map(([key, required]) => ({ key, required })),
  );
const names = (set: readonly ClaimPath[]) =>
  set.map((path) =>
    path
      .filter(
        (part) =>
          part !== "eu.europa.ec.eudi.pid.1" && part !== "org.iso.18013.5.1" && part !== "eu.europa.ec.av.1",
      )
      .join("."),
  );
const setsOf = (ways: readonly Purpose[], fields: Fields, id: string) =>
  askWith(ways, fields)
    .find((asked) => asked.id === id)
    ?.claimSets.map(names);

/** What the foreign library finds in a wallet with these credentials. */
function found(asked: readonly AskedCredential[], credentials: readonly DcqlCredential[]) {
  const query = DcqlQuery.parse(dcqlQuery(asked, []) as unknown as DcqlQuery.Input);
  DcqlQuery.validate(query);
  return DcqlQuery.query(query, [...credentials]);
}
const pidMdoc = (elements: Record<string, unknown>): DcqlCredential =>
  ({
    credential_format: "mso_mdoc",
    doctype: "eu.europa.ec.eudi.pid.1",
    namespaces: { "eu.europa.ec.eudi.pid.1": elements },
    cryptographic_holder_binding: true,
  }) as DcqlCredential;
const pidSdJwt = (claims: Record<string, unknown>): DcqlCredential =>
  ({
    credential_format: "dc+sd-jwt",
    vct: "urn:eudi:pid:1",
    claims,
    cryptographic_holder_binding: true,
  }) as DcqlCredential;
const mdl = (elements: Record<string, unknown>): DcqlCredential =>
  ({
    credential_format: "mso_mdoc",
    doctype: "org.iso.18013.5.1.mDL",
    namespaces: { "org.iso.18013.5.1": elements },
    cryptographic_holder_binding: true,
  }) as DcqlCredential;

test("every share field has its source in each kind of credential", () => {
  const all = {
    document_type_code: true,
    issuing_country_code: true,
    family_name: true,
    given_names: true,
    document_number: true,
    nationality_code: true,
    date_of_birth: true,
    sex_marker: true,
    document_expiry_date: true,
    mrz_optional_data: false,
    age_over_18: true,
    service_document_id: true,
  };
  const mdoc = [
    "issuing_country",
    "family_name",
    "given_name",
    "document_number",
    "nationality",
    "birth_date",
    "sex",
    "expiry_date",
  ];
  assert.deepEqual(setsOf(["pid"], all, "pid_mdoc"), [mdoc]);
  assert.deepEqual(setsOf(["mdl"], all, "mdl"), [mdoc]);
  assert.deepEqual(setsOf(["pid"], all, "pid_sd"), [
    [
      "issuing_country",
      "family_name",
      "given_name",
      "document_number",
      "nationalities.0",
      "birthdate",
      "sex",
      "date_of_expiry",
    ],
  ]);
  assert.deepEqual(setsOf(["age"], { age_over_18: true, service_document_id: false }, "age"), [
    ["age_over_18"],
  ]);
});

test("the document's expiry is always looked at, and may be missing from a PID only", () => {
  assert.deepEqual(setsOf(["pid"], { family_name: true }, "pid_mdoc"), [
    ["family_name", "expiry_date"],
    ["family_name"],
  ]);
  assert.deepEqual(setsOf(["mdl"], { family_name: true }, "mdl"), [["family_name", "expiry_date"]]);
  assert.deepEqual(setsOf(["pid"], { document_expiry_date: true }, "pid_sd"), [["date_of_expiry"]]);
  assert.deepEqual(setsOf(["mdl"], { document_expiry_date: false }, "mdl"), [["expiry_date"]]);
});

test("an age comes from the birth date of a PID, and from a driving licence without it where possible", () => {
  assert.deepEqual(setsOf(["pid"], { age_over_18: true, document_expiry_date: true }, "pid_mdoc"), [
    ["expiry_date", "birth_date"],
  ]);
  assert.deepEqual(setsOf(["mdl"], { age_over_18: true }, "mdl"), [
    ["expiry_date", "age_over_18"],
    ["expiry_date", "birth_date"],
  ]);
  assert.deepEqual(setsOf(["mdl"], { age_over_18: true, date_of_birth: true }, "mdl"), [
    ["birth_date", "expiry_date"],
  ]);
});

test("the number of a document is never asked for to make an identifier of it", () => {
  for (const asked of askWith(["pid", "mdl"], { family_name: true, service_document_id: true })) {
    assert.ok(!JSON.stringify(asked.claimSets).includes("document_number"), asked.id);
  }
});

test("what an issuer may leave out is given up alone, before everything that is optional is", () => {
  const sets = setsOf(
    ["pid"],
    {
      family_name: true,
      given_names: false,
      document_number: false,
      sex_marker: false,
      document_expiry_date: true,
    },
    "pid_mdoc",
  );
  assert.deepEqual(sets, [
    ["family_name", "given_name", "document_number", "sex", "expiry_date"],
    ["family_name", "given_name", "document_number", "expiry_date"],
    ["family_name", "given_name", "sex", "expiry_date"],
    ["family_name", "given_name", "expiry_date"],
    ["family_name", "expiry_date"],
  ]);
});

test("one credential of several is asked for, in the order of the ways", () => {
  const query = dcqlQuery(askWith(["mdl", "pid"], { family_name: true }), []);
  assert.deepEqual(query.credential_sets, [{ options: [["mdl"], ["pid_sd"], ["pid_mdoc"]], required: true }]);
  assert.equal("credential_sets" in dcqlQuery(askWith(["mdl"], { family_name: true }), []), false);
});

test("up to twenty authorities are named by the identifier of their key, all or none", async () => {
  const authority = await newAuthority();
  const signer = await newSigner(authority);
  const [asked] = [askWith(["mdl"], { family_name: true })];
  const authorities = (anchors: Parameters<typeof dcqlQuery>[1]) =>
    dcqlQuery(asked, anchors).credentials[0]?.trusted_authorities;
  const [named] = authorities([anchorOf(authority, "mdl"), anchorOf(authority, "pid")]) ?? [];
  assert.equal(named?.type, "aki");
  assert.equal(named.values.length, 1);
  assert.match(named.values[0] ?? "", /^[\w-]{27}$/);
  assert.equal(authorities([anchorOf(authority, "pid")]), undefined);
  assert.equal(
    authorities([anchorOf(authority, "mdl"), anchorOf(signer, "mdl")]),
    undefined,
    "the signer itself is the anchor",
  );
  const rsa: TrustAnchor = { ...anchorOf(authority, "mdl"), certificate: Uint8Array.of(48, 0) };
  assert.deepEqual(
    authorities([anchorOf(authority, "mdl"), rsa]),
    [named],
    "a certificate that counts for nothing",
  );
  assert.equal(authorities([rsa]), undefined);
  assert.equal(authorities(Array.from({ length: 21 }, () => anchorOf(authority, "mdl"))), undefined);
});

test("another implementation finds the credential that has the required claims", () => {
  const asked = askWith(["pid", "mdl"], {
    family_name: true,
    nationality_code: true,
    document_number: false,
  });
  const person = { family_name: "A", nationality: ["DE"], birth_date: "1990-01-01" };
  const cases: readonly [DcqlCredential, string, readonly string[]][] = [
    [
      pidMdoc({ ...person, expiry_date: "2031-01-01", document_number: "1" }),
      "pid_mdoc",
      ["family_name", "nationality", "document_number", "expiry_date"],
    ],
    [
      pidMdoc({ ...person, expiry_date: "2031-01-01" }),
      "pid_mdoc",
      ["family_name", "nationality", "expiry_date"],
    ],
    [pidMdoc(person), "pid_mdoc", ["family_name", "nationality"]],
    [pidSdJwt({ family_name: "A", nationalities: ["DE", "FR"] }), "pid_sd", ["family_name", "nationalities"]],
    [
      mdl({ family_name: "A", nationality: "DE", expiry_date: "2031-01-01", document_number: "1" }),
      "mdl",
      ["family_name", "nationality", "document_number", "expiry_date"],
    ],
  ];
  for (const [credential, id, claims] of cases) {
    const result = found(asked, [credential]);
    assert.equal(result.can_be_satisfied, true, id);
    const match = result.credential_matches[id];
    assert.equal(match?.success, true, id);
    const [valid] = (match as { valid_credentials: { claims: { valid_claim_sets: { output: object }[] } }[] })
      .valid_credentials;
    const output = valid?.claims.valid_claim_sets[0]?.output ?? {};
    const given = Object.values(output).some((value) => typeof value === "object" && !Array.isArray(value))
      ? Object.values(output)[0]
      : output;
    assert.deepEqual(Object.keys(given).sort(), [...claims].sort(), id);
  }
  assert.equal(found(asked, [pidMdoc({ family_name: "A" })]).can_be_satisfied, false);
});

test("a proof of age beside a birth date is enough, and a query of every field is valid", () => {
  const asked = askWith(["mdl"], { age_over_18: true });
  const result = found(asked, [mdl({ birth_date: "1990-01-01", expiry_date: "2031-01-01" })]);
  assert.equal(result.can_be_satisfied, true);
  found(
    askWith(["pid", "mdl", "age"], {
      age_over_21: true,
      sex_marker: false,
      nationality_code: false,
      document_number: false,
      family_name: false,
    }),
    [],
  );
});

test("of an answer counts the first set that is whole, and what else was agreed to", () => {
  const asked: AskedCredential = {
    id: "mdl",
    purpose: "mdl",
    format: "mso_mdoc",
    claimSets: [
      [
        ["n", "name"],
        ["n", "number"],
        ["n", "age_over_18"],
      ],
      [
        ["n", "name"],
        ["n", "number"],
        ["n", "birth_date"],
      ],
      [
        ["n", "name"],
        ["n", "birth_date"],
      ],
    ],
  };
  const kept = (...disclosed: readonly string[]) =>
    keptClaims(asked, ([, name]) => typeof name === "string" && disclosed.includes(name))?.map(
      ([, name]) => name,
    ) ?? null;
  assert.deepEqual(kept("name", "number", "age_over_18", "birth_date"), ["name", "number", "age_over_18"]);
  assert.deepEqual(kept("name", "number", "birth_date"), ["name", "number", "birth_date"]);
  assert.deepEqual(kept("name", "age_over_18", "birth_date"), ["name", "birth_date", "age_over_18"]);
  assert.equal(kept("name", "number"), null);
  assert.equal(kept(), null);
});

test("where an age is all that is asked for, a credential that states it is preferred to one with the birth date", () => {
  const options = (...keys: string[]) => {
    const asked = askedFor(
      ["pid", "mdl"],
      keys.map((key) => ({ key, required: true })),
    );
    return dcqlQuery(asked, []).credential_sets?.[0]?.options.flat();
  };
  assert.deepEqual(options("age_over_18", "service_document_id"), ["mdl", "pid_sd", "pid_mdoc"]);
  assert.deepEqual(options("age_over_18", "family_name"), ["pid_sd", "pid_mdoc", "mdl"]);
  assert.deepEqual(options("date_of_birth"), ["pid_sd", "pid_mdoc", "mdl"]);
});
