import { readWhole } from "../ber/read.ts";
import { TAG } from "../ber/tag.ts";
import { type KeyAgreementDomain, standardizedDomain } from "../crypto/key-agreement.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import { type PaceProtocol, paceProtocol } from "../pace/pace-protocol.ts";

export interface PaceOffer {
  readonly protocol: PaceProtocol;
  readonly domain: KeyAgreementDomain;
  readonly parameterId: number;
}

const MAX_CARD_ACCESS_BYTES = 16_384;
const MAPPING_ORDER = ["chip-authentication", "generic", "integrated"] as const;

/**
 * The variants of PACE in EF.CardAccess that can be used here, best first: elliptic curves before numbers, strong ciphers
 * before weak ones. Entries that say something else, or something unknown, are passed over.
 */
export function paceOffers(cardAccess: Uint8Array): PaceOffer[] {
  const offers: PaceOffer[] = [];
  const root = readWhole(cardAccess, { maxBytes: MAX_CARD_ACCESS_BYTES, maxDepth: 12, maxNodes: 1000 });
  for (const info of root.expect(TAG.set, "SecurityInfos").children().slice(0, 64)) {
    try {
      const protocol = paceProtocol(info.at(0, "protocol", TAG.oid).oid());
      const parameterId = info.at(2, "parameterId", TAG.integer).smallInteger();
      const domain = standardizedDomain(parameterId);
      if (domain.kind === protocol.agreement) offers.push({ protocol, domain, parameterId });
    } catch (error) {
      if (!isEmrtdError(error)) throw error;
    }
  }
  return offers.sort((a, b) => rank(b) - rank(a));
}

function rank({ protocol, domain }: PaceOffer): number {
  const curve = protocol.agreement === "ECDH" ? 1000 : 0;
  const cipher = protocol.suite.name === "3DES" ? 0 : protocol.suite.keyBytes * 10;
  const mapping = MAPPING_ORDER.length - MAPPING_ORDER.indexOf(protocol.mapping);
  return curve + cipher + mapping + domain.bits / 100_000;
}
