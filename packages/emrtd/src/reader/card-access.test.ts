import assert from "node:assert/strict";
import { test } from "node:test";
import { ecKey } from "../../test/support/sample-document.ts";
import { OID } from "../ber/oid.ts";
import { setOf } from "../ber/write.ts";
import { buildCardAccess } from "../lds/card-files.ts";
import { buildDg14 } from "../lds/dg14.ts";
import type { SecurityInfoContent } from "../lds/security-infos.ts";
import { compareWithDg14, paceOffers } from "./card-access.ts";

const offer = (protocol: string, parameterId: bigint): SecurityInfoContent => ({
  kind: "pace",
  protocol,
  parameterId,
});
const STRONG = offer(`${OID.paceEcdhGm}.4`, 13n);
const WEAK = offer(`${OID.paceDhGm}.1`, 0n);
const KEY: SecurityInfoContent = {
  kind: "chipAuthenticationPublicKey",
  protocol: OID.publicKeyEcdh,
  subjectPublicKeyInfo: ecKey("prime256v1").spki,
};

test("the strongest variant comes first, and what is unknown or inconsistent is passed over", () => {
  const offers = paceOffers(
    buildCardAccess([
      WEAK,
      offer(`${OID.paceEcdhGm}.1`, 13n),
      offer(`${OID.paceEcdhIm}.4`, 13n),
      STRONG,
      offer(`${OID.paceEcdhCam}.4`, 13n),
      offer(`${OID.paceEcdhCam}.1`, 13n),
      offer(`${OID.paceEcdhGm}.9`, 13n),
      offer(`${OID.paceEcdhGm}.2`, 3n),
      offer(`${OID.paceEcdhGm}.2`, 0n),
      offer(`${OID.paceEcdhGm}.2`, 77n),
      KEY,
    ]),
  );
  assert.deepEqual(
    offers.map(({ protocol }) => `${protocol.agreement} ${protocol.mapping} ${protocol.suite.name}`),
    [
      "ECDH chip-authentication AES-256",
      "ECDH generic AES-256",
      "ECDH integrated AES-256",
      "ECDH generic 3DES",
      "DH generic 3DES",
    ],
  );
  assert.deepEqual(paceOffers(setOf()), []);
});

test("a weaker offer that the state did not sign is noticed", () => {
  const signed = buildDg14([STRONG, WEAK, KEY]);
  assert.equal(compareWithDg14(buildCardAccess([STRONG, WEAK]), signed), "agrees");
  assert.equal(compareWithDg14(buildCardAccess([WEAK]), signed), "differs");
  assert.equal(
    compareWithDg14(buildCardAccess([STRONG, WEAK, offer(`${OID.paceDhGm}.2`, 0n)]), signed),
    "differs",
  );
  assert.equal(compareWithDg14(buildCardAccess([WEAK]), buildDg14([KEY])), "not_stated");
});
