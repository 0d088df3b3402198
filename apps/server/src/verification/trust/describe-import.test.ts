import assert from "node:assert/strict";
import { test } from "node:test";
import type { TrustRecord } from "@assay/emrtd/trust/trust-record";
import { describeImport } from "./describe-import.ts";

const source = { type: "pem", label: "lists.pem", sha256: "", importedAt: "", signedBy: null } as const;
const signedBy = {
  signer: "C=UT, CN=Signer",
  signerSha256: "",
  anchorSha256: "",
  signedAt: null,
  signerCertificate: null,
};

test("an import is described by its contents and its signer", () => {
  const one = new Uint8Array(1);
  const described = (record: Partial<TrustRecord>) =>
    describeImport({ source, certificates: [one, one], revocationLists: [one], ...record });
  assert.deepEqual(described({}), {
    act: "imported",
    subject: "lists.pem",
    detail: "2 certificates and 1 revocation lists",
  });
  assert.match(described({ deviationLists: [one] }).detail, /lists, 1 deviation list$/);
  assert.match(described({ deviationLists: [one, one] }).detail, /lists, 2 deviation lists$/);
  assert.match(described({ source: { ...source, signedBy } }).detail, /lists, signed by C=UT, CN=Signer$/);
});
