import { toHex } from "../bytes.ts";
import type { KeyAgreementDomain } from "../crypto/key-agreement.ts";
import { standardizedDomain } from "../crypto/key-agreement.ts";
import { readDomain } from "../crypto/subject-public-key.ts";
import { EmrtdError, isEmrtdError } from "../emrtd-error.ts";
import { readCardAccess } from "../lds/card-files.ts";
import { readDg14 } from "../lds/dg14.ts";
import type { PaceInfo, SecurityInfo } from "../lds/security-infos.ts";
import { type PaceProtocol, paceProtocol } from "./pace-protocol.ts";

export type PaceOffer = {
  readonly protocol: PaceProtocol;
  readonly domain: KeyAgreementDomain;
  /** The chip's number for the domain. */
  readonly parameterId: number | null;
};

const mappingOrder = ["chip-authentication", "generic", "integrated"] as const;
const lastStandardizedId = 31n;

/**
 * The supported PACE variants in EF.CardAccess, best first: elliptic curves before finite fields, strong
 * ciphers before weak ones. Other and unknown entries are skipped.
 */
export function paceOffers(cardAccess: Uint8Array): PaceOffer[] {
  return paceOffersIn(readCardAccess(cardAccess));
}

export function paceOffersIn(infos: readonly SecurityInfo[]): PaceOffer[] {
  const offers: PaceOffer[] = [];
  for (const info of infos) {
    if (info.kind !== "pace") continue;
    try {
      const protocol = paceProtocol(info.protocol);
      const domain = domainOf(info, infos);
      if (domain.kind !== protocol.agreement) continue;
      offers.push({ protocol, domain, parameterId: byteOrNothing(info.parameterId) });
    } catch (error) {
      if (!isEmrtdError(error)) throw error;
    }
  }
  return offers.sort((a, b) => rank(b) - rank(a));
}

/**
 * EF.CardAccess is unsigned, so its PACE entries are compared with DG14 once that is verified. A difference
 * means that an attacker downgraded the reader. Early documents do not repeat PACE in DG14.
 */
export function compareWithDg14(
  cardAccess: Uint8Array,
  dg14: Uint8Array,
): "agrees" | "differs" | "not_stated" {
  const stated = (infos: readonly SecurityInfo[]) =>
    new Set(
      infos.flatMap((info) =>
        info.kind === "pace" || info.kind === "paceDomainParameters" ? [toHex(info.bytes)] : [],
      ),
    );
  const offered = stated(readCardAccess(cardAccess));
  const signed = stated(readDg14(dg14));
  if (signed.size === 0) return "not_stated";
  return offered.size === signed.size && [...offered].every((info) => signed.has(info))
    ? "agrees"
    : "differs";
}

/** A number of the standard's table, or parameters in the file under a number beyond it. */
function domainOf(info: PaceInfo, infos: readonly SecurityInfo[]): KeyAgreementDomain {
  if (info.parameterId !== null && info.parameterId <= lastStandardizedId) {
    return standardizedDomain(Number(info.parameterId));
  }
  const own = infos.flatMap((candidate) =>
    candidate.kind === "paceDomainParameters" &&
    info.protocol.startsWith(`${candidate.protocol}.`) &&
    candidate.parameterId === info.parameterId
      ? [candidate]
      : [],
  )[0];
  if (own === undefined) throw new EmrtdError("PROTOCOL_UNSUPPORTED", "PACE is offered without a domain");
  return readDomain(own.domainParameter);
}

function byteOrNothing(parameterId: bigint | null): number | null {
  if (parameterId === null) return null;
  if (parameterId < 0n || parameterId > 255n)
    throw new EmrtdError("PROTOCOL_UNSUPPORTED", "A domain number is too large");
  return Number(parameterId);
}

function rank({ protocol, domain }: PaceOffer): number {
  const curve = protocol.agreement === "ECDH" ? 1000 : 0;
  const cipher = protocol.suite.name === "3DES" ? 0 : protocol.suite.keyBytes * 10;
  const mapping = mappingOrder.length - mappingOrder.indexOf(protocol.mapping);
  return curve + cipher + mapping + domain.bits / 100_000;
}
