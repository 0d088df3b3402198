import assert from "node:assert/strict";
import { test } from "node:test";
import { ecKey } from "../../test/support/sample-document.ts";
import { oids } from "../ber/oid.ts";
import { setOf } from "../ber/write.ts";
import { buildCardAccess } from "../lds/card-files.ts";
import { buildDg14 } from "../lds/dg14.ts";
import type { SecurityInfoContent } from "../lds/security-infos.ts";
import { compareWithDg14, paceOffers } from "./pace-offers.ts";

const offer = (protocol: string, parameterId: bigint): SecurityInfoContent => ({
  kind: "pace",
  protocol,
  parameterId,
});
const strong = offer(`${oids.paceEcdhGm}.4`, 13n);
const weak = offer(`${oids.paceDhGm}.1`, 0n);
const publicKeyInfo: SecurityInfoContent = {
  kind: "chipAuthenticationPublicKey",
  protocol: oids.publicKeyEcdh,
  subjectPublicKeyInfo: ecKey("prime256v1").spki,
};

test("the strongest variant comes first, and what is unknown or inconsistent is passed over", () => {
  const offers = paceOffers(
    buildCardAccess([
      weak,
      offer(`${oids.paceEcdhGm}.1`, 13n),
      offer(`${oids.paceEcdhIm}.4`, 13n),
      strong,
      offer(`${oids.paceEcdhCam}.4`, 13n),
      offer(`${oids.paceEcdhCam}.1`, 13n),
      offer(`${oids.paceEcdhGm}.9`, 13n),
      offer(`${oids.paceEcdhGm}.2`, 3n),
      offer(`${oids.paceEcdhGm}.2`, 0n),
      offer(`${oids.paceEcdhGm}.2`, 77n),
      publicKeyInfo,
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
  const signed = buildDg14([strong, weak, publicKeyInfo]);
  assert.equal(compareWithDg14(buildCardAccess([strong, weak]), signed), "agrees");
  assert.equal(compareWithDg14(buildCardAccess([weak]), signed), "differs");
  assert.equal(
    compareWithDg14(buildCardAccess([strong, weak, offer(`${oids.paceDhGm}.2`, 0n)]), signed),
    "differs",
  );
  assert.equal(compareWithDg14(buildCardAccess([weak]), buildDg14([publicKeyInfo])), "not_stated");
});
