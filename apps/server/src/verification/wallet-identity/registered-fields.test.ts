import assert from "node:assert/strict";
import { test } from "node:test";
import { askedFor } from "@assay/credential/dcql/ask";
import type { Purpose } from "@assay/credential/trust-anchor";
import { isRegistered, onlyRegistered } from "./registered-fields.ts";

const unregisteredField = (registration: readonly string[], purpose: Purpose, keys: readonly string[]) =>
  keys.find((key) => !isRegistered(registration, purpose, key)) ?? null;

const certificate = (claims: object) =>
  [{ typ: "rc-wrp+jwt" }, claims, ""]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
const pid = { format: "dc+sd-jwt", meta: { vct_values: ["urn:eudi:pid:1"] } };
const mdl = { format: "mso_mdoc", meta: { doctype_value: "org.iso.18013.5.1.mDL" } };

test("a registration covers the fields whose claims it lists for a credential of the method", () => {
  const registration = [
    certificate({
      credentials: [
        { ...pid, claim: [{ path: ["family_name"] }, { path: ["nationalities"] }, { path: ["birthdate"] }] },
        { ...mdl, claims: [{ path: ["org.iso.18013.5.1", "age_over_18"] }] },
      ],
    }),
  ];
  const missing = (purpose: "pid" | "mdl", ...keys: string[]) =>
    unregisteredField(registration, purpose, keys);
  assert.equal(missing("pid", "family_name", "nationality_code", "age_over_18", "service_document_id"), null);
  assert.equal(missing("pid", "family_name", "given_names"), "given_names");
  assert.equal(missing("mdl", "age_over_18"), null);
  assert.equal(missing("mdl", "age_over_21"), "age_over_21");
  assert.equal(missing("mdl", "family_name"), "family_name");
});

test("a type without a list of claims is registered as a whole, and what lists no credentials restricts nothing", () => {
  assert.equal(unregisteredField([certificate({ credentials: [pid] })], "pid", ["family_name"]), null);
  assert.equal(
    unregisteredField([certificate({ credentials: [pid] })], "mdl", ["family_name"]),
    "family_name",
  );
  const both = [certificate({ credentials: [pid] }), certificate({ credentials: [mdl] })];
  assert.equal(unregisteredField(both, "mdl", ["family_name"]), null);
  for (const registration of [[], [certificate({})], ["no token"]])
    assert.equal(unregisteredField(registration, "pid", ["family_name"]), null);
});

test("a request asks for what is registered, in the formats and by the claims that are", () => {
  const fields = [{ key: "age_over_18", required: true }];
  const age = { path: ["org.iso.18013.5.1", "age_over_18"] };
  const registration = [certificate({ credentials: [pid, { ...mdl, claim: [age] }] })];
  const asked = onlyRegistered(registration, askedFor(["pid", "mdl"], fields));
  assert.deepEqual(
    asked.map(({ id }) => id),
    ["pid_sd", "mdl"],
  );
  const claims = asked[1]?.claimSets.flat().map((path) => path.at(-1));
  assert.deepEqual(claims, ["expiry_date", "age_over_18"], "the birth date is not registered");
});
