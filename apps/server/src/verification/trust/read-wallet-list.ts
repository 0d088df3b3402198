import { createHash, X509Certificate } from "node:crypto";
import { CredentialError } from "@assay/credential/credential-error";
import { readLote } from "@assay/credential/lote/read-lote";
import type { Purpose } from "@assay/credential/trust-anchor";
import type { TrustedList } from "@assay/credential/trusted-list";
import { readVical } from "@assay/credential/vical/read-vical";
import { parseCertificate } from "@assay/credential/x509/certificate";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import { readPem } from "@assay/emrtd/trust/pem";

/** A list of trusted entities (ETSI TS 119 602), a VICAL (ISO/IEC 18013-5), or unsigned certificates. */
export type WalletListType = "lote" | "vical" | "certificates";

type WalletList = {
  type: WalletListType;
  certificates: readonly Uint8Array[];
  statusCertificates: readonly Uint8Array[];
  /** When it was issued, to recognize an older edition. */
  at: Date;
  nextUpdate: Date | null;
  signedBy: { signer: string; signerSha256: string; signedAt: string } | null;
};

export type WalletListAnswer =
  | { kind: "usable"; list: WalletList; leftOut: readonly string[] }
  | { kind: "refused"; reason: string };

type Reading = {
  purpose: Purpose;
  /** SHA-256 of certificates: the signer of a list, or the authority of that signer. */
  pins: readonly string[];
  /** The operator vouches for certificates in a file. A source may bring only pinned certificates. */
  broughtBy: "command" | "source";
  now: Date;
};

export async function readWalletList(bytes: Uint8Array, reading: Reading): Promise<WalletListAnswer> {
  try {
    const first = bytes[0];
    if (first === 0x30) return readCertificates([bytes], reading);
    // COSE_Sign1, tagged or not: an array of four.
    if (first === 0xd2 || first === 0x84) return await readList("vical", bytes, reading);
    const text = new TextDecoder("latin1").decode(bytes).trim();
    if (/^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)) return await readList("lote", text, reading);
    const blocks = readPem(text).filter(({ label }) => label === "CERTIFICATE");
    if (blocks.length > 0)
      return readCertificates(
        blocks.map((block) => block.bytes),
        reading,
      );
    return refuse("It is neither a list of trusted entities, nor a VICAL, nor a file with certificates");
  } catch (error) {
    if (!(error instanceof CredentialError) && !isEmrtdError(error)) throw error;
    return refuse(error.message);
  }
}

async function readList(
  type: "lote" | "vical",
  content: string | Uint8Array,
  { purpose, pins, now }: Reading,
): Promise<WalletListAnswer> {
  if (pins.length === 0) return refuse("The signer of a list must be pinned by its fingerprint");
  const list: TrustedList =
    typeof content === "string"
      ? await readLote(content, { signers: pins, now })
      : await readVical(content, { signers: pins, now });
  const ofPurpose = (anchors: TrustedList["anchors"]) =>
    anchors.filter((anchor) => anchor.purpose === purpose).map(({ certificate }) => certificate);
  const certificates = ofPurpose(list.anchors);
  const statusCertificates = ofPurpose(list.statusAnchors ?? []);
  if (certificates.length === 0) return refuse(`It names no issuer for the purpose ${purpose}`);
  const signer = new X509Certificate(list.signer);
  const signedBy = {
    signer: signer.subject.replaceAll("\n", ", "),
    signerSha256: fingerprintOf(list.signer),
    signedAt: list.issuedAt.toISOString(),
  };
  const { issuedAt: at, nextUpdate } = list;
  return {
    kind: "usable",
    list: { type, certificates, statusCertificates, at, nextUpdate, signedBy },
    leftOut: [],
  };
}

function readCertificates(
  found: readonly Uint8Array[],
  { purpose, pins, broughtBy }: Reading,
): WalletListAnswer {
  const leftOut: string[] = [];
  const certificates: Uint8Array[] = [];
  let at = new Date(0);
  for (const [index, der] of found.entries()) {
    const problem = problemOf(der, purpose, broughtBy === "source" ? pins : null);
    if (problem !== null) leftOut.push(`certificate ${index + 1}: ${problem}`);
    else {
      certificates.push(der);
      const { notBefore } = parseCertificate(der);
      if (notBefore > at) at = notBefore;
    }
  }
  if (certificates.length === 0) return refuse(leftOut[0] ?? "It contains no certificate");
  const list = {
    type: "certificates",
    certificates,
    statusCertificates: [],
    at,
    nextUpdate: null,
    signedBy: null,
  } as const;
  return { kind: "usable", list, leftOut };
}

/** Why a certificate is no anchor, as the end of a sentence; null if it is one. */
function problemOf(der: Uint8Array, purpose: Purpose, pins: readonly string[] | null): string | null {
  if (pins !== null && !pins.includes(fingerprintOf(der))) return "its fingerprint is not pinned";
  try {
    const { isAuthority, algorithm } = parseCertificate(der);
    if (!isAuthority) return "it is not an authority's";
    return purpose === "mdl" && algorithm === null ? "authorities of licences have no RSA keys" : null;
  } catch (error) {
    if (!(error instanceof CredentialError)) throw error;
    return error.message;
  }
}

function fingerprintOf(der: Uint8Array): string {
  return createHash("sha256").update(der).digest("hex");
}

function refuse(reason: string): WalletListAnswer {
  return { kind: "refused", reason };
}
