import { createHash, randomBytes } from "node:crypto";
import type { TestSigner } from "@assay/credential/test-country/test-signer";
import {
  CoseKey,
  cborDecode,
  cborEncode,
  DataItem,
  DeviceKey,
  DeviceRequest,
  DocRequest,
  Holder,
  Issuer,
  IssuerSigned,
  ItemsRequest,
  type MdocContext,
  type SessionTranscript,
  SignatureAlgorithm,
} from "@owf/mdoc";
import { SDJwtInstance } from "@sd-jwt/core";
import type { CryptoKey } from "jose";

/**
 * Credentials issued and presented by other libraries. They use none of our encoders, so that a mistake
 * shared by our encoder and our judge is noticed.
 */

type PublicKey = { kty: string; crv: string; x: string; y: string };
export type HolderKey = PublicKey & { d: string };
type Status = { idx: number; uri: string };

const ecdsa = { name: "ECDSA", namedCurve: "P-256" } as const;
const encoder = new TextEncoder();

export async function newHolderKey(): Promise<HolderKey> {
  const pair = await crypto.subtle.generateKey(ecdsa, true, ["sign", "verify"]);
  if (!("privateKey" in pair)) throw new Error("this is no pair of keys");
  return await jwkOf(pair.privateKey);
}

async function jwkOf(key: CryptoKey): Promise<HolderKey> {
  const { kty = "", crv = "", x = "", y = "", d = "" } = await crypto.subtle.exportKey("jwk", key);
  return { kty, crv, x, y, d };
}

function publicOf({ kty, crv, x, y }: PublicKey): PublicKey {
  return { kty, crv, x, y };
}

async function sign(jwk: HolderKey, data: Uint8Array): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey("jwk", jwk, ecdsa, false, ["sign"]);
  const { name } = ecdsa;
  return new Uint8Array(await crypto.subtle.sign({ name, hash: "SHA-256" }, key, Uint8Array.from(data)));
}

// --- mdoc --------------------------------------------------------------------------------------------------

function notNeeded(): never {
  throw new Error("a wallet that only signs does not need this");
}

export const mdocContext: MdocContext = {
  crypto: {
    random: (length) => new Uint8Array(randomBytes(length)),
    digest: ({ bytes }) => new Uint8Array(createHash("sha256").update(bytes).digest()),
    calculateEphemeralMacKey: notNeeded,
  },
  cose: {
    sign1: {
      sign: ({ toBeSigned, key }) => sign(key.jwk as HolderKey, toBeSigned),
      verify: notNeeded,
    },
    mac0: { sign: notNeeded, verify: notNeeded },
  },
  x509: {
    getIssuerNameField: notNeeded,
    getPublicKey: notNeeded,
    verifyCertificateChain: notNeeded,
    getCertificateData: notNeeded,
  },
};

export type MdocToIssue = {
  docType: string;
  namespace: string;
  elements: Record<string, unknown>;
  holder: HolderKey;
  signer: TestSigner;
  validity: { from: Date; until: Date };
  status?: Status;
};

export async function issueMdoc(asked: MdocToIssue): Promise<IssuerSigned> {
  const signingKey = await jwkOf(asked.signer.privateKey);
  const issuer = new Issuer(asked.docType, mdocContext).addIssuerNamespace(asked.namespace, asked.elements);
  const issued = await issuer.sign({
    signingKey: coseKey(signingKey),
    algorithm: SignatureAlgorithm.ES256,
    digestAlgorithm: "SHA-256",
    validityInfo: {
      signed: asked.validity.from,
      validFrom: asked.validity.from,
      validUntil: asked.validity.until,
    },
    deviceKeyInfo: { deviceKey: DeviceKey.fromJwk(publicOf(asked.holder)) },
    certificates: [...asked.signer.chain],
  });
  return asked.status === undefined ? issued : await withStatus(issued, asked.status, signingKey);
}

/** The library has no status in a security object, so it is added and signed again. */
async function withStatus(issued: IssuerSigned, status: Status, key: HolderKey): Promise<IssuerSigned> {
  const parts = mapOf(cborDecode(issued.encode()));
  const [headers, unprotected, payload] = parts.get("issuerAuth") as [Uint8Array, unknown, Uint8Array];
  const object = mapOf((cborDecode(payload, { unwrapTopLevelDataItem: false }) as DataItem).data);
  object.set("status", new Map([["status_list", new Map<string, unknown>(Object.entries(status))]]));
  const signed = cborEncode(new DataItem({ data: object }));
  const signature = await sign(key, cborEncode(["Signature1", headers, new Uint8Array(0), signed]));
  parts.set("issuerAuth", [headers, unprotected, signed, signature]);
  return IssuerSigned.decode(cborEncode(parts));
}

export async function presentMdoc(presented: {
  issued: IssuerSigned;
  docType: string;
  namespace: string;
  elements: readonly string[];
  holder: HolderKey;
  transcript: SessionTranscript;
}): Promise<Uint8Array> {
  const elements = Object.fromEntries(presented.elements.map((name) => [name, false]));
  const itemsRequest = ItemsRequest.create({
    docType: presented.docType,
    namespaces: { [presented.namespace]: elements },
  });
  const response = await Holder.createDeviceResponseForDeviceRequest(
    {
      deviceRequest: DeviceRequest.create({ docRequests: [DocRequest.create({ itemsRequest })] }),
      sessionTranscript: presented.transcript,
      issuerSigned: [presented.issued],
      signature: { signingKey: coseKey(presented.holder) },
    },
    mdocContext,
  );
  return response.encode();
}

function coseKey(jwk: HolderKey): CoseKey {
  return CoseKey.fromJwk({ ...jwk, alg: "ES256" });
}

/** A response whose outermost map, or whose first document, was changed after it was signed. */
export function changeResponse(
  response: Uint8Array,
  change: (response: Map<string, unknown>, document: Map<string, unknown>) => void,
): Uint8Array {
  const decoded = mapOf(cborDecode(response));
  change(decoded, mapOf((decoded.get("documents") as unknown[])[0]));
  return cborEncode(decoded);
}

export function mapOf(value: unknown): Map<string, unknown> {
  if (value instanceof Map) return value;
  throw new Error("this is no map");
}

// --- SD-JWT VC ---------------------------------------------------------------------------------------------

const sha256 = (data: string | ArrayBuffer) =>
  new Uint8Array(
    createHash("sha256")
      .update(typeof data === "string" ? data : new Uint8Array(data))
      .digest(),
  );

function sdJwt(
  issuerKey: HolderKey | null,
  holder: HolderKey | null,
): SDJwtInstance<Record<string, unknown>> {
  const signerOf = (key: HolderKey | null) => async (data: string) =>
    Buffer.from(await sign(key ?? notNeeded(), encoder.encode(data))).toString("base64url");
  return new SDJwtInstance<Record<string, unknown>>({
    signer: signerOf(issuerKey),
    signAlg: "ES256",
    kbSigner: signerOf(holder),
    kbSignAlg: "ES256",
    hasher: sha256,
    hashAlg: "sha-256",
    saltGenerator: () => randomBytes(16).toString("base64url"),
  });
}

export type SdJwtToIssue = {
  vct: string;
  claims: Record<string, unknown>;
  holder: HolderKey;
  signer: TestSigner;
  validity: { from: Date; until: Date };
  status?: Status;
};

/** Every claim of the person is disclosed by itself. */
export async function issueSdJwt(asked: SdJwtToIssue): Promise<string> {
  return await sdJwt(await jwkOf(asked.signer.privateKey), null).issue(
    {
      iss: "https://issuer.test-country.example",
      vct: asked.vct,
      iat: seconds(asked.validity.from),
      exp: seconds(asked.validity.until),
      cnf: { jwk: publicOf(asked.holder) },
      ...(asked.status === undefined ? {} : { status: { status_list: asked.status } }),
      ...asked.claims,
    },
    { _sd: Object.keys(asked.claims) } as never,
    {
      header: {
        typ: "dc+sd-jwt",
        x5c: asked.signer.chain.map((certificate) => Buffer.from(certificate).toString("base64")),
      },
    },
  );
}

/** Without `proof` there is no key binding. */
export async function presentSdJwt(
  issued: string,
  claims: readonly string[],
  holder: HolderKey,
  proof: { nonce: string; audience: string; at: Date } | null,
): Promise<string> {
  const frame = Object.fromEntries(claims.map((name) => [name, true]));
  const options =
    proof === null
      ? {}
      : { kb: { payload: { iat: seconds(proof.at), aud: proof.audience, nonce: proof.nonce } } };
  return await sdJwt(null, holder).present(issued, frame as never, options);
}

function seconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
