import { type Method, methods, requirementNames } from "@assay/contract/facts";
import type { Kind, Requirements } from "../evidence/kind.ts";
import { kinds } from "../evidence/kinds.ts";

/** What a session asks for. */
export type Asked = {
  shareFields: Readonly<Record<string, { required: boolean }>>;
  requirements: Requirements;
};

type GivingKinds = Readonly<Record<string, Pick<Kind<never, never>, "methods" | "gives" | "meets">>>;

function kindOf(method: Method, among: GivingKinds) {
  return Object.values(among).find((kind) => kind.methods.includes(method));
}

/** The methods that this service carries out. */
export function enabledMethods(among: GivingKinds = kinds): readonly Method[] {
  return methods.filter((method) => kindOf(method, among) !== undefined);
}

/** What a method cannot give, or cannot meet, although it is required: by the name that the request has for it. Null where there is nothing. */
export function obstacleTo(method: Method, asked: Asked, among: GivingKinds = kinds): string | null {
  const kind = kindOf(method, among);
  if (kind === undefined) return "methods";
  const field = Object.keys(asked.shareFields).find(
    (key) => asked.shareFields[key]?.required && !kind.gives(method, key),
  );
  if (field !== undefined) return `share_fields.${field}`;
  const requirement = requirementNames.find(
    (name) => asked.requirements[name] === "required" && !kind.meets(method, name),
  );
  return requirement === undefined ? null : `requirements.${requirement}`;
}

/** The listed methods by which a person can give every required field and meet every requirement, in the partner's order. */
export function waysToSatisfy(
  asked: Asked,
  allowed: readonly Method[],
  among: GivingKinds = kinds,
): readonly Method[] {
  return allowed.filter((method) => obstacleTo(method, asked, among) === null);
}
