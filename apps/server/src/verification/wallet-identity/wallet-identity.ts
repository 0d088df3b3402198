import { createHash, createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";

/** Why a chain cannot be used, as a sentence for the operator. */
export class ChainProblem extends Error {}

export type UsableChain = {
  /** DER, leaf first, without the anchor. */
  certificates: readonly Uint8Array[];
  clientId: string;
  notBefore: Date;
  notAfter: Date;
  /** Wallets have the anchor and refuse a chain that contains it (OpenID4VC HAIP), so it was removed. */
  leftOutAnchor: boolean;
};

/** A chain in order from the leaf, prepared for requests. */
export function readChain(certificates: readonly Uint8Array[], now: Date): UsableChain {
  const read = certificates.map((der, index) => {
    try {
      return new X509Certificate(der);
    } catch {
      throw new ChainProblem(`Certificate ${index + 1} of the file cannot be read`);
    }
  });
  const leaf = read[0];
  if (leaf === undefined) throw new ChainProblem("The file has no certificate");
  if (isSelfSigned(leaf))
    throw new ChainProblem("The first certificate is self-signed: no wallet accepts it");
  if (leaf.ca) throw new ChainProblem("The first certificate is an authority's: put the leaf first");
  const { asymmetricKeyDetails } = leaf.publicKey;
  if (asymmetricKeyDetails?.namedCurve !== "prime256v1")
    throw new ChainProblem("The leaf's key is not on P-256, so it cannot sign requests with ES256");
  for (const [index, certificate] of read.slice(1).entries()) {
    const below = read[index];
    if (below !== undefined && !(below.checkIssued(certificate) && below.verify(certificate.publicKey)))
      throw new ChainProblem(`Certificate ${index + 2} did not issue certificate ${index + 1}`);
  }
  const last = read.at(-1);
  const leftOutAnchor = last !== undefined && isSelfSigned(last);
  const kept = leftOutAnchor ? read.slice(0, -1) : read;
  const notAfter = new Date(Math.min(...kept.map(({ validToDate }) => validToDate.getTime())));
  if (notAfter <= now) throw new ChainProblem(`The chain ended at ${notAfter.toISOString()}`);
  return {
    certificates: kept.map(({ raw }) => new Uint8Array(raw)),
    clientId: clientIdOf(leaf.raw),
    notBefore: new Date(Math.max(...kept.map(({ validFromDate }) => validFromDate.getTime()))),
    notAfter,
    leftOutAnchor,
  };
}

export function isSelfSigned(certificate: X509Certificate): boolean {
  return certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey);
}

/** The client id of requests that a leaf signs (OpenID4VP, prefix `x509_hash`). */
function clientIdOf(leaf: Uint8Array): string {
  return `x509_hash:${createHash("sha256").update(leaf).digest("base64url")}`;
}

export function keyFits(privateKey: Uint8Array, leaf: Uint8Array): boolean {
  const spki = { type: "spki", format: "der" } as const;
  const key = createPrivateKey({ key: Buffer.from(privateKey), format: "der", type: "pkcs8" });
  return createPublicKey(key).export(spki).equals(new X509Certificate(leaf).publicKey.export(spki));
}

/** The owner's registered identifiers: `organizationIdentifier`, or `serialNumber` of a person. */
export function identifiersOf(leaf: Uint8Array): readonly string[] {
  return new X509Certificate(leaf).subject
    .split("\n")
    .flatMap((line) => /^(?:organizationIdentifier|2\.5\.4\.97|serialNumber)=(.*)$/.exec(line)?.[1] ?? []);
}

export type Registration = {
  /** Its own subject, and that of the intermediary which acts for it. */
  subjects: readonly string[];
  expiresAt: Date | null;
};

/** A registration certificate (`rc-wrp+jwt`, ETSI TS 119 475), or null. Wallets check its signature. */
export function readRegistration(jwt: string): Registration | null {
  const claims = readJwtClaims(jwt);
  if (claims === null) return null;
  const { sub, intermediary, exp } = claims;
  const between = typeof intermediary === "object" && intermediary !== null && "sub" in intermediary;
  return {
    subjects: [sub, ...(between ? [intermediary.sub] : [])].filter((subject) => typeof subject === "string"),
    expiresAt: typeof exp === "number" ? new Date(exp * 1000) : null,
  };
}

/** What a registration certificate says; null for anything else. */
export function readJwtClaims(jwt: string): Record<string, unknown> | null {
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(jwt)) return null;
  const [header, claims] = jwt.split(".").map(readPart);
  return header?.typ === "rc-wrp+jwt" ? (claims ?? null) : null;
}

function readPart(part: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Whether a registration is that of the leaf's owner. */
export function registrationFits({ subjects }: Registration, leaf: Uint8Array): boolean {
  const identifiers = identifiersOf(leaf);
  return subjects.some((subject) => identifiers.includes(subject));
}
