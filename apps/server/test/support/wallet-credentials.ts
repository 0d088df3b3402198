import { fromBase64Url } from "@assay/credential/base64url";
import { CborTag, type CborValue } from "@assay/credential/cbor/value";
import type { HolderBinding } from "@assay/credential/holder-binding";
import type { JsonObject } from "@assay/credential/json";
import { issueMdoc } from "@assay/credential/mdoc/issue-mdoc";
import { presentMdoc } from "@assay/credential/mdoc/present-mdoc";
import { sessionTranscript } from "@assay/credential/mdoc/session-transcript";
import { issueSdJwt } from "@assay/credential/sd-jwt/issue-sd-jwt";
import { presentSdJwt } from "@assay/credential/sd-jwt/present-sd-jwt";
import { testIssuer } from "@assay/credential/test-country/test-signer";
import { type CryptoKey, calculateJwkThumbprint, exportJWK, type JWK } from "jose";

const dayMs = 86_400_000;

/** A credential of the test country with the values that a test chooses, made by our own encoders. */

async function newHolder(): Promise<{ privateKey: CryptoKey; publicKey: CryptoKey }> {
  return crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
}

/** A PID as SD-JWT VC. With `lifeMs` of a day or less it needs no status list. */
export async function pidSdJwt(of: {
  claims: JsonObject;
  discloses: readonly string[];
  status?: { uri: string; idx: number };
  lifeMs?: number;
  audience: string;
  nonce: string;
  now: Date;
}): Promise<{ presentation: string; holderKey: JWK }> {
  const holder = await newHolder();
  const holderKey = await exportJWK(holder.publicKey);
  const seconds = (at: number) => Math.floor(at / 1000);
  const from = of.now.getTime() - 60_000;
  const issued = await issueSdJwt(
    {
      claims: of.claims,
      open: {
        iss: "https://pid.test-country.example",
        vct: "urn:eudi:pid:1",
        iat: seconds(from),
        nbf: seconds(from),
        exp: seconds(from + (of.lifeMs ?? 14 * dayMs)),
        ...(of.status === undefined ? {} : { status: { status_list: of.status } }),
      },
      holderKey,
    },
    await testIssuer("pid"),
  );
  const binding = {
    privateKey: holder.privateKey,
    audience: of.audience,
    nonce: of.nonce,
    issuedAt: of.now,
  };
  const paths = of.discloses.map((name) => [name]);
  return { presentation: await presentSdJwt(issued, paths, binding), holderKey };
}

/** A driving licence, presented for this binding. */
export async function mdlMdoc(of: { binding: HolderBinding; now: Date }): Promise<Uint8Array> {
  const holder = await newHolder();
  const nameSpace = "org.iso.18013.5.1";
  const elements: Record<string, CborValue> = {
    family_name: "Lindqvist",
    expiry_date: new CborTag(1004, "2031-06-30"),
  };
  const issued = await issueMdoc({
    docType: "org.iso.18013.5.1.mDL",
    nameSpaces: { [nameSpace]: elements },
    signer: await testIssuer("mdl"),
    deviceKey: holder.publicKey,
    signed: of.now,
    validFrom: of.now,
    validUntil: new Date(of.now.getTime() + dayMs),
  });
  return presentMdoc(issued, {
    transcript: await sessionTranscript(of.binding),
    disclose: Object.keys(elements).map((name) => [nameSpace, name] as const),
    proof: { kind: "signature", privateKey: holder.privateKey, algorithm: "ES256" },
  });
}

export async function thumbprintOf(key: JWK): Promise<Uint8Array> {
  return fromBase64Url(await calculateJwkThumbprint(key));
}
