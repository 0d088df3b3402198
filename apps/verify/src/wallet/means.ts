import type { WalletChannel, WalletMethod } from "@assay/contract/wallet-facts";
import type { DeviceKind } from "../device/device-kind.ts";
import type { Details } from "../session/api.ts";

/**
 * How this page reaches a wallet.
 * - `test`: the sandbox's wallet, a page of this service.
 * - `browser`: the browser's API.
 * - `link`: a link opens the wallet on this phone.
 * - `handover`: a code with the address of this page, for the phone that has the wallet.
 * - `request`: a code with the request itself. An attacker could show such a code, so it is for a proof of
 *   age only.
 */
export type Means = "test" | "browser" | "link" | "handover" | "request";

/** In the order in which they are offered. */
export function meansOf(
  ways: Details["ways"],
  {
    kind,
    hasApi,
    sandbox,
    isBound,
  }: { kind: DeviceKind; hasApi: boolean; sandbox: boolean; isBound: boolean },
): readonly Means[] {
  const has = (channel: WalletChannel) => ways.some(({ channels }) => channels.includes(channel));
  const onPhone = kind === "android" || kind === "iphone" || kind === "shell";
  const byLink = has("redirect") || has("age_link");
  return [
    ...(sandbox && byLink ? (["test"] as const) : []),
    ...(hasApi && has("dc_api") ? (["browser"] as const) : []),
    ...(onPhone && byLink ? (["link"] as const) : []),
    ...(!onPhone && has("age_link") ? (["request"] as const) : []),
    ...(!onPhone && !isBound && !has("age_link") ? (["handover"] as const) : []),
  ];
}

/** The request to the service for these means. */
export function askedBy(
  means: Exclude<Means, "handover">,
  ways: Details["ways"],
): { channel: WalletChannel; method: WalletMethod | null } {
  const has = (channel: WalletChannel) => ways.some(({ channels }) => channels.includes(channel));
  const channel = means === "browser" ? "dc_api" : has("redirect") ? "redirect" : "age_link";
  const [first, ...others] = ways.map(({ method }) => method as WalletMethod);
  return { channel, method: first !== undefined && others.length === 0 ? first : null };
}
