import assert from "node:assert/strict";
import { test } from "node:test";
import { inFolder, openssl, pem, skipWithoutOpenssl as skip } from "../../../test/support/openssl.ts";
import { makeFiles, utopia } from "../../../test/support/test-country.ts";
import { readSodContent } from "../../lds/sod.ts";
import { signerProfiles } from "./signer-profiles.ts";

/** OpenSSL refuses chains with explicit curve parameters, so it can judge the RSA signers alone. */
for (const profile of signerProfiles.filter(({ key }) => key.kind === "rsa")) {
  test(`openssl accepts the security object of ${profile.id}, and refuses it altered`, { skip }, () => {
    inFolder((write) => {
      const authority = utopia.authorityCertificates.get(profile.authority);
      assert.ok(authority);
      const root = write("root.pem", pem("CERTIFICATE", authority));
      const cms = readSodContent(makeFiles({ profileId: profile.id }).sod);
      const verify = (message: Uint8Array) =>
        // SHA-1 is below the default security level, and documents with it exist.
        openssl(
          "cms",
          "-verify",
          "-inform",
          "DER",
          "-in",
          write("sod.der", message),
          "-CAfile",
          root,
          "-purpose",
          "any",
          "-no_check_time",
          "-auth_level",
          "0",
          "-out",
          write("content", ""),
        );
      const good = verify(cms);
      assert.equal(good.status, 0, good.stderr);
      const altered = cms.slice();
      altered[altered.length - 20] = (altered[altered.length - 20] ?? 0) ^ 1;
      assert.notEqual(verify(altered).status, 0);
    });
  });
}

test("openssl reads every certificate and accepts the revocation lists", { skip }, () => {
  inFolder((write) => {
    for (const [index, authority] of [...utopia.authorityCertificates.values()].entries()) {
      const root = write("root.pem", pem("CERTIFICATE", authority));
      const list = write("list.crl", utopia.revocationLists[index] ?? new Uint8Array());
      const read = openssl("x509", "-in", root, "-noout", "-text");
      assert.equal(read.status, 0, read.stderr);
      assert.match(read.stdout, /CA:TRUE, pathlen:0/);
      const verified = openssl("crl", "-inform", "DER", "-in", list, "-CAfile", root, "-noout");
      assert.match(verified.stderr, /verify OK/);
    }
  });
});
