import assert from "node:assert/strict";
import { test } from "node:test";
import { newAuthority } from "../../test/support/pid.ts";
import type { AskedCredential } from "../asked.ts";
import { toBase64Url } from "../base64url.ts";
import { parseCertificate } from "../x509/certificate.ts";
import { dcqlQuery } from "./query.ts";

const credential = (id: string): AskedCredential => ({
  id,
  purpose: "pid",
  format: "mso_mdoc",
  claimSets: [[["eu.europa.ec.eudi.pid.1", "family_name"]]],
});

test("a wallet gives one of the credentials, also where there are only two", () => {
  const setsOf = (...ids: string[]) => dcqlQuery(ids.map(credential), []).credential_sets;
  assert.equal(setsOf("a"), undefined);
  assert.deepEqual(setsOf("a", "b"), [{ options: [["a"], ["b"]], required: true }]);
  assert.deepEqual(setsOf("a", "b", "c"), [{ options: [["a"], ["b"], ["c"]], required: true }]);
});

test("a wallet is told by which keys the issuers of the purpose are known", async () => {
  const authority = await newAuthority();
  const { certificate } = authority;
  const list = { list: "eu_list", stale: false } as const;
  const query = dcqlQuery(
    [credential("a")],
    [
      { ...list, purpose: "pid", certificate },
      { ...list, purpose: "mdl", certificate: (await newAuthority("CN=Other")).certificate },
    ],
  );
  const keyId = Buffer.from(parseCertificate(certificate).keyId ?? "", "hex");
  assert.deepEqual(query.credentials[0]?.trusted_authorities, [
    { type: "aki", values: [toBase64Url(Uint8Array.from(keyId))] },
  ]);
});
