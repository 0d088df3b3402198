import { defaultMethods, type Method, methods, requirementNames } from "@assay/contract/facts";
import type { LookedAt, WalletChannel } from "@assay/contract/wallet-facts";
import type { Config } from "../../config.ts";
import type { Asked, Kind, Operator, Requirements } from "../evidence/kind.ts";
import { kinds } from "../evidence/kinds.ts";
import { canReadDocuments } from "./reading-ways.ts";

type GivingKinds = Readonly<
  Record<string, Pick<Kind<never, never>, "methods" | "gives" | "meets" | "needs" | "lacks">>
>;

type ReachedKinds = Readonly<Record<string, Pick<Kind<never, never>, "methods" | "channels" | "looksAt">>>;

function kindOf<K extends { methods: readonly Method[] }>(
  method: Method,
  among: Readonly<Record<string, K>>,
) {
  return Object.values(among).find((kind) => kind.methods.includes(method));
}

/** The methods that the operator allows. The sandbox needs no setting. */
export function enabledMethods(
  { wallet }: Pick<Config, "wallet">,
  { sandbox }: { sandbox: boolean },
): readonly Method[] {
  return methods.filter(
    (method) => sandbox || defaultMethods.includes(method) || wallet.methods.some((one) => one === method),
  );
}

/** Methods that can be used now: in live, documents need an app or a desk that reads them. */
export function availableMethods(
  config: Parameters<typeof canReadDocuments>[0] & Pick<Config, "wallet">,
  { sandbox }: { sandbox: boolean },
): readonly Method[] {
  const canRead = sandbox || canReadDocuments(config);
  return enabledMethods(config, { sandbox }).filter((method) => canRead || !defaultMethods.includes(method));
}

/** The required field or requirement that a method cannot provide, as the request names it; or null. */
export function obstacleTo(method: Method, asked: Asked, among: GivingKinds = kinds): string | null {
  const kind = kindOf(method, among);
  if (kind === undefined) return "methods";
  const field = Object.entries(asked.shareFields).find(
    ([key, { required }]) => required && !kind.gives(method, key),
  );
  if (field !== undefined) return `share_fields.${field[0]}`;
  const needed = kind.needs(method, Object.keys(asked.shareFields));
  if (needed !== null) return `share_fields.${needed}`;
  const requirement = requirementNames.find(
    (name) => asked.requirements[name] === "required" && !kind.meets(method, name),
  );
  return requirement === undefined ? null : `requirements.${requirement}`;
}

/** What the operator has not set up for a method, as the request names it; null if nothing is missing. */
export function operatorLacks(
  method: Method,
  asked: Asked,
  operator: Operator,
  among: GivingKinds = kinds,
): string | null {
  if (!operator.methods.includes(method)) return "methods";
  const kind = kindOf(method, among);
  return kind === undefined ? "methods" : kind.lacks(method, asked, operator);
}

/** The listed methods that provide every required field and requirement, in the partner's order. */
export function waysToSatisfy(
  asked: Asked,
  listed: readonly Method[],
  operator: Operator,
  among: GivingKinds = kinds,
): readonly Method[] {
  return listed.filter(
    (method) =>
      obstacleTo(method, asked, among) === null && operatorLacks(method, asked, operator, among) === null,
  );
}

export type Way = { method: Method; channels: readonly WalletChannel[]; looksAt: readonly LookedAt[] };

/** What the person does for a method, after they have agreed to these fields. */
export function wayOf(
  method: Method,
  agreed: { requirements: Requirements; fieldKeys: readonly string[] },
  operator: Operator,
  among: ReachedKinds = kinds,
): Way {
  const kind = kindOf(method, among);
  return {
    method,
    channels: kind?.channels(method, agreed.requirements, operator) ?? [],
    looksAt: kind?.looksAt(method, agreed.fieldKeys) ?? [],
  };
}
