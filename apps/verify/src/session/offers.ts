import type { Method } from "@assay/contract/facts";
import type { DeviceKind } from "../device/device-kind.ts";
import type { Way } from "../device/ways.ts";
import type { Details } from "./api.ts";

/**
 * What a person chooses from.
 * Identity and driving licence are one choice: the wallet is asked for both at once.
 */
export type Offer = "chip" | "wallet" | "age";

const offerOf: Readonly<Record<Method, Offer>> = {
  document_chip: "chip",
  wallet_pid: "wallet",
  wallet_mdl: "wallet",
  wallet_age: "age",
};

/** In the fragment of an address that another device opens: what was chosen already. */
export const offerMark = "way";

export function isOffer(text: string | null): text is Offer {
  return text === "chip" || text === "wallet" || text === "age";
}

/** The ways of a session. During an update, a process of the previous release does not send them. */
function waysOf({ ways }: Pick<Details, "ways">): Details["ways"] {
  return (ways as typeof ways | undefined) ?? [];
}

/** In the partner's order. A chip that nothing can read is left out while there is something else. */
export function offersOf(details: Pick<Details, "ways" | "desk_readers">, chip: Way): readonly Offer[] {
  const offers = [...new Set(waysOf(details).flatMap(({ method }) => offerOf[method] ?? []))];
  const possible = offers.filter(
    (offer) => offer !== "chip" || chip.by !== "counter" || details.desk_readers,
  );
  return possible.length > 0 ? possible : ["chip"];
}

/** The chosen offer: the only one, the chip on a device that can read it, or the person's choice. */
export function chosenOf(offers: readonly Offer[], kind: DeviceKind, chosen: Offer | null): Offer | null {
  const [only, ...others] = offers;
  if (only !== undefined && others.length === 0) return only;
  if ((kind === "shell" || kind === "desk") && offers.includes("chip")) return "chip";
  return chosen !== null && offers.includes(chosen) ? chosen : null;
}

/** The ways behind a choice. */
export function waysBehind(details: Pick<Details, "ways">, offer: Offer): Details["ways"] {
  return waysOf(details).filter(({ method }) => offerOf[method] === offer);
}

/** Whether a wallet can answer the session, here or elsewhere. */
export function takesWallets(details: Pick<Details, "ways">): boolean {
  return waysOf(details).some(({ method }) => method !== "document_chip");
}
