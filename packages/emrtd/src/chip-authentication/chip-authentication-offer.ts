import { oids } from "../ber/oid.ts";
import { type CipherSuite, cipherSuites } from "../crypto/cipher-suite.ts";
import type { KeyAgreementDomain } from "../crypto/key-agreement.ts";
import { readAgreementKey } from "../crypto/subject-public-key.ts";
import { EmrtdError, isEmrtdError } from "../emrtd-error.ts";
import { readDg14 } from "../lds/dg14.ts";
import type { ChipAuthenticationPublicKeyInfo, SecurityInfo } from "../lds/security-infos.ts";
import { cipherArcs } from "../pace/pace-protocol.ts";

/** One way in which a chip can prove itself, as DG14 states it. */
export type ChipAuthenticationOffer = {
  readonly oid: string;
  readonly suite: CipherSuite;
  readonly domain: KeyAgreementDomain;
  readonly publicKey: Uint8Array;
  /** Named to the chip when it has several keys. */
  readonly keyId: bigint | null;
};

const maxKeys = 8;
const dhFamily = `${oids.chipAuthenticationDh}.`;
const ecdhFamily = `${oids.chipAuthenticationEcdh}.`;

type ChipAuthenticationOffers = {
  /** Every usable offer, the strongest cipher first. */
  readonly offers: readonly ChipAuthenticationOffer[];
  /** Why the first key cannot be used, when keys are there and none of them can; null otherwise. */
  readonly problem: EmrtdError | null;
};

/** The usable offers in DG14. Throws when keys are there and none can be used; empty when there are none. */
export function chipAuthenticationOffers(dg14: Uint8Array): readonly ChipAuthenticationOffer[] {
  const { offers, problem } = chipAuthenticationOffersIn(readDg14(dg14));
  if (problem !== null) throw problem;
  return offers;
}

/** An entry that cannot be used is passed over as long as another one can. */
export function chipAuthenticationOffersIn(infos: readonly SecurityInfo[]): ChipAuthenticationOffers {
  const offers: ChipAuthenticationOffer[] = [];
  let problem: EmrtdError | null = null;
  let keys = 0;
  for (const info of infos) {
    if (info.kind !== "chipAuthenticationPublicKey" || ++keys > maxKeys) continue;
    try {
      addOffers(offers, info, infos);
    } catch (error) {
      if (!isEmrtdError(error)) throw error;
      problem ??= error;
    }
  }
  if (offers.length > 1) offers.sort((a, b) => strength(b.suite) - strength(a.suite));
  return { offers, problem: offers.length === 0 ? problem : null };
}

/** Every way in which this key can be used. */
function addOffers(
  offers: ChipAuthenticationOffer[],
  { protocol: keyProtocol, keyId, subjectPublicKeyInfo }: ChipAuthenticationPublicKeyInfo,
  infos: readonly SecurityInfo[],
): void {
  const { domain, publicKey } = readAgreementKey(subjectPublicKeyInfo);
  const overNumbers = keyProtocol === oids.publicKeyDh;
  const family = overNumbers ? dhFamily : ecdhFamily;
  const before = offers.length;
  let needsTerminalAuthentication = false;
  for (const info of infos) {
    if (info.kind !== "chipAuthentication" || !info.protocol.startsWith(family)) continue;
    if (info.keyId !== null && keyId !== null && info.keyId !== keyId) continue;
    if (info.version > 1) {
      needsTerminalAuthentication = true;
      continue;
    }
    const suite = suiteOf(info.protocol);
    if (suite !== null) offers.push({ oid: info.protocol, suite, domain, publicKey, keyId });
  }
  if (offers.length > before) return;
  // BSI TR-03110: the chip compares our ephemeral key with the one that terminal authentication committed to.
  if (needsTerminalAuthentication)
    throw new EmrtdError(
      "PROTOCOL_UNSUPPORTED",
      "Chip authentication is offered in version 2 or 3 only, which need terminal authentication",
    );
  // Early documents hold a key without saying how to use it; version 1 with triple DES is what they mean.
  const oid = overNumbers ? oids.chipAuthenticationDh3Des : oids.chipAuthenticationEcdh3Des;
  offers.push({ oid, suite: cipherSuites["3DES"], domain, publicKey, keyId });
}

function strength(suite: CipherSuite): number {
  return suite.name === "3DES" ? 0 : suite.keyBytes;
}

/** The last arc of the identifier names the cipher. */
function suiteOf(oid: string): CipherSuite | null {
  const name = cipherArcs[oid.slice(oid.lastIndexOf(".") + 1)];
  return name === undefined ? null : cipherSuites[name];
}
