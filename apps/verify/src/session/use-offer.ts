import { useState } from "react";
import type { DeviceKind } from "../device/device-kind.ts";
import type { Way } from "../device/ways.ts";
import { chosenOf, type Offer, offersOf } from "./offers.ts";
import { isAtWallet } from "./steps.ts";
import type { Session } from "./use-session.ts";

/** How the person is verified: the offers, and the choice made here or on the device that showed a code. */
export function useOffer(
  { details, status, kept }: Session,
  { kind, way, given }: { kind: DeviceKind; way: Way | null; given: Offer | null },
): { offers: readonly Offer[]; offer: Offer | null; choose: (offer: Offer | null) => void } {
  const [chosen, setChosen] = useState(() => {
    if (given !== null) kept.offer = given;
    // A wallet may return to another tab of this browser, which has no other state.
    const asked = kept.askedWallet;
    if (asked?.onDevice) kept.onDevice = true;
    return kept.offer ?? asked?.offer ?? null;
  });
  const choose = (offer: Offer | null) => {
    kept.offer = offer;
    setChosen(offer);
  };
  if (details === null || way === null) return { offers: [], offer: null, choose };
  const offers = offersOf(details, way);
  const isReadElsewhere = status?.attempt != null && !isAtWallet(status);
  return { offers, offer: chosenOf(offers, kind, chosen ?? (isReadElsewhere ? "chip" : null)), choose };
}
