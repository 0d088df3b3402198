import { type CryptoKey, exportJWK, type JWK } from "jose";
import type { AskedCredential, ClaimPath } from "../../src/asked.ts";
import { askedFor } from "../../src/dcql/ask.ts";
import type { HolderBinding } from "../../src/holder-binding.ts";
import type { JsonObject } from "../../src/json.ts";
import type { JudgeContext } from "../../src/judge-context.ts";
import { issueSdJwt, type SdJwtIssuer, type SdJwtOrder } from "../../src/sd-jwt/issue-sd-jwt.ts";
import { type KeyBinding, presentSdJwt } from "../../src/sd-jwt/present-sd-jwt.ts";
import type { Purpose, TrustAnchor } from "../../src/trust-anchor.ts";
import { type Identity, makeCertificate } from "./make-certificate.ts";

export const now = new Date("2026-11-18T12:00:00Z");
export const seconds = (date: Date, later = 0): number => Math.floor(date.getTime() / 1000) + later;
export const day = 86_400;

const valid = { notBefore: new Date("2026-01-01T00:00:00Z"), notAfter: new Date("2028-01-01T00:00:00Z") };

export function newAuthority(subject = "C=UT, CN=PID authority"): Promise<Identity> {
  return makeCertificate({ subject, ...valid, isAuthority: true });
}

export function newSigner(
  issuer: Identity,
  more: Partial<Parameters<typeof makeCertificate>[0]> = {},
): Promise<Identity> {
  return makeCertificate({ subject: "C=UT, CN=PID signer", ...valid, issuer, ...more });
}

export function anchorOf(authority: Identity, purpose: Purpose = "pid"): TrustAnchor {
  return { purpose, certificate: authority.certificate, list: "eu_list", stale: false };
}

export function issuerOf(signer: Identity): SdJwtIssuer {
  return { chain: [signer.certificate], privateKey: signer.privateKey, algorithm: signer.algorithm };
}

export type Holder = { privateKey: CryptoKey; jwk: JWK };

export async function newHolder(): Promise<Holder> {
  const keys = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
    "sign",
    "verify",
  ]);
  return { privateKey: keys.privateKey, jwk: await exportJWK(keys.publicKey) };
}

export const person = {
  family_name: "Čapek",
  given_name: "Ærø",
  birthdate: "1990-02-28",
  nationalities: ["DE", "FR"],
  sex: 5,
  issuing_country: "DE",
  issuing_authority: "DE",
  date_of_expiry: "2031-05-01",
  document_number: "T220001293",
} satisfies JsonObject;

export const openMembers = {
  vct: "urn:eudi:pid:1",
  iss: "https://pid.example",
  iat: seconds(now, -day),
  exp: seconds(now, day),
  status: { status_list: { idx: 412, uri: "https://pid.example/status/1" } },
} satisfies JsonObject;

export const binding: Extract<HolderBinding, { kind: "redirect" }> = {
  kind: "redirect",
  clientId: "x509_hash:Uvo3HtuIxuhC92rShpgqcT3YXwrqRxWEviRiA0OZszk",
  nonce: "n-0S6_WzA2Mj-exact",
  responseUri: "https://verifier.example/oid4vp/response/1",
  keyThumbprint: null,
};

/** Name and age are required; the number of the document is not. */
export const asked = askedFor(
  ["pid"],
  [
    { key: "family_name", required: true },
    { key: "given_names", required: true },
    { key: "age_over_18", required: true },
    { key: "nationality_code", required: true },
    { key: "document_number", required: false },
  ],
).find(({ id }) => id === "pid_sd") as AskedCredential;

export const everything: readonly ClaimPath[] = asked.claimSets[0] ?? [];

export type PidFaults = {
  claims?: JsonObject;
  open?: JsonObject;
  paths?: readonly ClaimPath[];
  order?: Partial<SdJwtOrder>;
  proof?: Partial<KeyBinding>;
  issuer?: SdJwtIssuer;
};

/** A country with one PID issuer, and a holder. All presentations are valid except for the given `faults`. */
export class PidWorld {
  readonly authority: Identity;
  readonly signer: Identity;
  readonly holder: Holder;

  private constructor(authority: Identity, signer: Identity, holder: Holder) {
    this.authority = authority;
    this.signer = signer;
    this.holder = holder;
  }

  static async create(): Promise<PidWorld> {
    const authority = await newAuthority();
    return new PidWorld(authority, await newSigner(authority), await newHolder());
  }

  context(more: Partial<JudgeContext> = {}): JudgeContext {
    return { asked, binding, anchors: [anchorOf(this.authority)], now, holderProof: "required", ...more };
  }

  issue(faults: PidFaults = {}): Promise<string> {
    return issueSdJwt(
      {
        claims: faults.claims ?? person,
        open: faults.open ?? openMembers,
        holderKey: this.holder.jwk,
        ...faults.order,
      },
      faults.issuer ?? issuerOf(this.signer),
    );
  }

  async present(faults: PidFaults = {}): Promise<string> {
    return presentSdJwt(await this.issue(faults), faults.paths ?? everything, this.proof(faults.proof));
  }

  proof(more: Partial<KeyBinding> = {}): KeyBinding {
    return {
      privateKey: this.holder.privateKey,
      audience: binding.clientId,
      nonce: binding.nonce,
      issuedAt: now,
      ...more,
    };
  }
}
