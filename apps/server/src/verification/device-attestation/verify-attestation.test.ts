import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createNodeSignatureChecker } from "@assay/emrtd/node/signature-checker";
import { readCertificate } from "@assay/emrtd/x509/certificate";
import fc from "fast-check";
import {
  app,
  attest,
  attestThroughAnAttestedKey,
  expiredFactory,
  factorySerial,
  keyDescription,
  madeAt,
  rootKey,
  type Said,
  withoutAuthority,
} from "../../../test/support/attested-phone.ts";
import { readRevokedSerials, readRootKeys } from "./attestation-files.ts";
import { readKeyDescription } from "./key-description.ts";
import { type Attestation, type AttestationDemands, attestationProblem } from "./verify-attestation.ts";

const checker = createNodeSignatureChecker();
const challenge = new Uint8Array(32).fill(7);
const message = new Uint8Array(100).fill(8);
const demands: AttestationDemands = {
  roots: [rootKey],
  revokedSerials: new Set(),
  app,
  challenge,
  message,
  now: madeAt,
};
const judge = (attestation: Attestation, more: Partial<AttestationDemands> = {}) =>
  attestationProblem(attestation, { ...demands, ...more }, checker);
const says = (said: Partial<Said>) => attest({ challenge, ...said }, message);

test("a key of the phone's secure hardware, made for this challenge in the operator's app, vouches for what it signed", () => {
  assert.equal(judge(says({})), null);
  assert.equal(judge(says({ level: 2 })), null, "StrongBox");
});

const refused: Record<string, [Partial<Said>, string]> = {
  "a key in software": [{ level: 0 }, "key_not_in_hardware"],
  "a key that was made for another challenge": [{ challenge: new Uint8Array(32) }, "challenge_differs"],
  "a key that may not sign": [{ purpose: 0 }, "key_of_another_kind"],
  "a key that was brought in from outside": [{ origin: 2 }, "key_of_another_kind"],
  "a phone whose boot loader is unlocked": [{ locked: false }, "device_not_locked"],
  "a phone with another maker's system": [{ bootState: 1 }, "device_not_locked"],
  "a phone whose software says that it is locked": [{ rootOfTrustInSoftware: true }, "device_not_locked"],
  "another app": [{ packages: ["org.evil.app"] }, "app_differs"],
  "an app that shares its identity with another one": [
    { packages: [app.packageName, "org.evil.app"] },
    "app_differs",
  ],
  "an app of that name with another signer": [{ digests: ["cd".repeat(32)] }, "app_differs"],
  "an app without a signature": [{ digests: [] }, "app_differs"],
};
for (const [what, [said, problem]] of Object.entries(refused)) {
  test(`${what} does not vouch for anything`, () => assert.equal(judge(says(said)), problem));
}

test("frames other than those that were signed are not vouched for", () => {
  assert.equal(judge(says({}), { message: new Uint8Array(100) }), "signature_invalid");
});

test("a maker who is not known, a revoked or outdated certificate and a chain with a gap do not count", () => {
  assert.equal(judge(says({}), { roots: readRootKeys(googleRoots) }), "root_unknown");
  assert.equal(judge(says({}), { revokedSerials: new Set([factorySerial]) }), "certificate_revoked");
  assert.equal(judge(expiredFactory({ challenge }, message)), "certificate_expired");
  const { certificates, signature } = says({});
  const [leaf, factory, root] = certificates;
  assert.ok(leaf && factory && root);
  assert.equal(judge({ certificates: [leaf, root], signature }), "chain_broken");
  assert.equal(judge(withoutAuthority({ challenge }, message)), "chain_broken");
  assert.equal(judge({ certificates: [leaf], signature }), "chain_too_short");
  assert.equal(judge({ certificates: [], signature }), "chain_too_short");
  assert.equal(judge({ certificates: [factory, root], signature }), "no_key_description");
});

test("a good phone's key cannot vouch for another key", () => {
  assert.equal(judge(attestThroughAnAttestedKey({ challenge }, message)), "no_key_description");
});

test("of a certificate that is vouched for, not even the count of unused bits of its signature can be another", () => {
  const good = says({});
  for (const at of [0, 1]) {
    const certificates = good.certificates.map((bytes) => bytes.slice());
    const bytes = certificates[at] ?? new Uint8Array();
    // The signature is the last field, and this count stands before it.
    const { signature } = readCertificate(bytes);
    bytes[bytes.length - signature.length - 1] = 1;
    assert.equal(judge({ certificates, signature: good.signature }), "unreadable");
  }
});

test("whatever a device sends in place of certificates is refused without a fault", () => {
  const good = says({});
  const total = good.certificates.reduce((sum, { length }) => sum + length, 0);
  fc.assert(
    fc.property(fc.nat(total - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      let before = 0;
      const certificates = good.certificates.map((bytes) => {
        const copy = bytes.slice();
        const index = at - before;
        before += bytes.length;
        if (index >= 0 && index < copy.length) copy[index] = (copy[index] ?? 0) ^ change;
        return copy;
      });
      // The signature of the root's own certificate is not looked at: its key is known.
      const verdict = judge({ certificates, signature: good.signature });
      if (verdict === null) assert.ok(at >= total - (good.certificates.at(-1)?.length ?? 0));
    }),
  );
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 12 }), (certificates) => {
      assert.notEqual(judge({ certificates, signature: good.signature }), null);
    }),
  );
});

test("a changed or cut description is read as it is or refused, never a fault of ours", () => {
  const whole = keyDescription({ challenge });
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.nat(255), fc.boolean(), (at, value, cut) => {
      const changed = cut ? whole.slice(0, at) : whole.slice();
      if (!cut) changed[at] = value;
      try {
        readKeyDescription(changed);
      } catch (error) {
        assert.equal((error as Error).name, "EmrtdError");
      }
    }),
  );
});

const googleRoots = readFileSync(new URL("./google-roots.pem", import.meta.url), "utf8");

test("Google's two roots come with the service", () => {
  assert.equal(readRootKeys(googleRoots).length, 2);
});

test("the published list of revoked keys is read whatever the form of its serial numbers", () => {
  const list = JSON.stringify({
    entries: { "0AB1": { status: "REVOKED" }, c0ffee: { status: "SUSPENDED" } },
  });
  assert.deepEqual([...readRevokedSerials(list)], ["ab1", "c0ffee"]);
  assert.throws(() => readRevokedSerials("[]"));
});
