import { OID, oidToBytes } from "../ber/oid.ts";
import { readWhole, type Tlv } from "../ber/read.ts";
import { TAG } from "../ber/tag.ts";
import { CIPHER_SUITES, type CipherSuite } from "../crypto/cipher-suite.ts";
import type { KeyAgreementDomain } from "../crypto/key-agreement.ts";
import { readAgreementKey } from "../crypto/subject-public-key.ts";
import { EmrtdError, isEmrtdError } from "../emrtd-error.ts";
import { CIPHER_ARCS } from "../pace/pace-protocol.ts";

/** One way in which a chip can prove itself, as DG14 states it. */
export interface ChipAuthenticationOffer {
  readonly oid: string;
  readonly oidBytes: Uint8Array;
  readonly suite: CipherSuite;
  readonly domain: KeyAgreementDomain;
  readonly publicKey: Uint8Array;
  /** Named to the chip when it has several keys. */
  readonly keyId: number | undefined;
}

const DG14_TAG = 0x6e;
const MAX_DG14_BYTES = 65_536;
const MAX_KEYS = 8;
const AGREEMENTS = { [OID.publicKeyDh]: "DH", [OID.publicKeyEcdh]: "ECDH" } as const;

/**
 * Every usable offer in DG14, the strongest cipher first. An entry that cannot be used is passed over as long as another
 * one can; when all fail, the first reason is thrown. An empty list means that the chip offers nothing.
 */
export function chipAuthenticationOffers(dg14: Uint8Array): ChipAuthenticationOffer[] {
  const infos = readSecurityInfos(dg14);
  const keys = infos
    .filter((info) => agreementOf(info) !== undefined)
    .slice(0, MAX_KEYS)
    .map((info) => ({
      agreement: agreementOf(info),
      subjectPublicKey: info.at(1, "chip authentication public key", TAG.sequence).bytes,
      keyId: optionalInteger(info, 2),
    }));
  const protocols = infos.flatMap((info) => {
    const oid = info.at(0, "protocol", TAG.oid).oid();
    const suite = suiteOf(oid);
    return suite === undefined ? [] : [{ oid, suite, keyId: optionalInteger(info, 2) }];
  });
  const offers: ChipAuthenticationOffer[] = [];
  let firstProblem: EmrtdError | undefined;
  for (const key of keys) {
    const matching = protocols.filter(
      (protocol) =>
        protocol.oid.startsWith(
          `${key.agreement === "DH" ? OID.chipAuthenticationDh : OID.chipAuthenticationEcdh}.`,
        ) &&
        (protocol.keyId === undefined || key.keyId === undefined || protocol.keyId === key.keyId),
    );
    // Early documents hold a key without saying how to use it; version 1 with triple DES is what they mean.
    const assumed = key.agreement === "DH" ? OID.chipAuthenticationDh3Des : OID.chipAuthenticationEcdh3Des;
    const usable = matching.length > 0 ? matching : [{ oid: assumed, suite: CIPHER_SUITES["3DES"] }];
    try {
      const { domain, publicKey } = readAgreementKey(key.subjectPublicKey);
      for (const { oid, suite } of usable) {
        offers.push({ oid, oidBytes: oidToBytes(oid), suite, domain, publicKey, keyId: key.keyId });
      }
    } catch (error) {
      if (!isEmrtdError(error)) throw error;
      firstProblem ??= error;
    }
  }
  if (offers.length === 0 && firstProblem !== undefined) throw firstProblem;
  return offers.sort((a, b) => strength(b.suite) - strength(a.suite));
}

function strength(suite: CipherSuite): number {
  return suite.name === "3DES" ? 0 : suite.keyBytes;
}

function readSecurityInfos(dg14: Uint8Array): readonly Tlv[] {
  const root = readWhole(dg14, { maxBytes: MAX_DG14_BYTES, maxDepth: 12, maxNodes: 2000 });
  const infos = root.expect(DG14_TAG, "DG14").at(0, "SecurityInfos", TAG.set).children();
  for (const info of infos) info.expect(TAG.sequence, "SecurityInfo").at(0, "protocol", TAG.oid);
  return infos;
}

function agreementOf(info: Tlv): "DH" | "ECDH" | undefined {
  const oid = info.at(0, "protocol", TAG.oid).oid();
  return oid === OID.publicKeyDh || oid === OID.publicKeyEcdh ? AGREEMENTS[oid] : undefined;
}

function suiteOf(oid: string): CipherSuite | undefined {
  const dot = oid.lastIndexOf(".");
  const family = oid.slice(0, dot);
  if (family !== OID.chipAuthenticationDh && family !== OID.chipAuthenticationEcdh) return undefined;
  const name = CIPHER_ARCS[oid.slice(dot + 1)];
  return name === undefined ? undefined : CIPHER_SUITES[name];
}

function optionalInteger(info: Tlv, index: number): number | undefined {
  const node = info.children()[index];
  if (node === undefined) return undefined;
  const value = node.expect(TAG.integer, "keyId").smallInteger();
  if (value < 0) throw new EmrtdError("LDS_INVALID", "A key identifier must not be negative");
  return value;
}
