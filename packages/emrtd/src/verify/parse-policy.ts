import { EmrtdError } from "../emrtd-error.ts";
import {
  defaultPolicy,
  type PolicyRulings,
  type PolicySwitch,
  policySwitches,
  policySwitchNames,
  type Ruling,
  rulings,
  strictPolicy,
  type VerificationPolicy,
} from "./policy.ts";

const bases: Readonly<Record<string, VerificationPolicy>> = { default: defaultPolicy, strict: strictPolicy };
const maxPolicyCharacters = 8192;

/**
 * A policy in one of two forms: `strict, sha1=warn, revocation_list_stale=refuse`, with commas or line
 * breaks, or a JSON object `{"base": "strict", "sha1": "warn"}`. Unnamed switches follow the base, `default`
 * unless `strict` comes first. Throws POLICY_INVALID with what is wrong and what would be right.
 */
export function parsePolicy(text: string): VerificationPolicy {
  if (text.length > maxPolicyCharacters) throw invalid("The policy is too long");
  const trimmed = text.trim();
  const parts = trimmed.startsWith("{") ? partsOfJson(trimmed) : partsOfText(trimmed);
  const chosen = new Map<PolicySwitch, Ruling>();
  let base: VerificationPolicy | null = null;
  for (const { name, value } of parts) {
    if (name === "base") {
      if (base !== null) throw invalid("The policy names its base twice");
      base = baseNamed(value);
      continue;
    }
    const policySwitch = switchNamed(name);
    if (chosen.has(policySwitch)) throw invalid(`The policy names ${policySwitch} twice`);
    chosen.set(policySwitch, rulingNamed(value, policySwitch));
  }
  const { rulings: baseRulings, ...rest } = base ?? defaultPolicy;
  return { ...rest, rulings: { ...baseRulings, ...(Object.fromEntries(chosen) as Partial<PolicyRulings>) } };
}

/** Each switch with its ruling and what it is about, for documentation and audits. */
export function describePolicy({ rulings: ruled }: VerificationPolicy): readonly {
  readonly name: PolicySwitch;
  readonly ruling: Ruling;
  readonly byDefault: Ruling;
  readonly forOperators: boolean;
  readonly description: string;
}[] {
  return policySwitchNames.map((name) => {
    const { byDefault, forOperators, description } = policySwitches[name];
    return { name, ruling: ruled[name], byDefault, forOperators, description };
  });
}

type Part = { readonly name: string; readonly value: string };

function partsOfText(text: string): readonly Part[] {
  return text
    .split(/[,\r\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part, index): Part => {
      const equals = part.indexOf("=");
      if (equals >= 0) return { name: part.slice(0, equals).trim(), value: part.slice(equals + 1).trim() };
      if (index === 0) return { name: "base", value: part };
      throw invalid(`Part ${index + 1} of the policy is not of the form switch=ruling`);
    });
}

function partsOfJson(text: string): readonly Part[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid("The policy begins like JSON and is none");
  }
  return Object.entries(value as object).map(([name, entry]) => {
    if (typeof entry !== "string") throw invalid(`${shown(name)} in the policy is not a text`);
    return { name, value: entry };
  });
}

function baseNamed(value: string): VerificationPolicy {
  const base = Object.hasOwn(bases, value) ? bases[value] : undefined;
  if (base === undefined) throw invalid(`The base of a policy is "default" or "strict", not ${shown(value)}`);
  return base;
}

function switchNamed(name: string): PolicySwitch {
  const settable = policySwitchNames.filter((candidate) => policySwitches[candidate].forOperators);
  const found = settable.find((candidate) => candidate === name);
  if (found !== undefined) return found;
  const known = policySwitchNames.some((candidate) => candidate === name);
  throw invalid(
    known
      ? `${shown(name)} is always refused and cannot be set`
      : `${shown(name)} is no switch of the policy; there are ${settable.join(", ")}`,
  );
}

function rulingNamed(value: string, name: PolicySwitch): Ruling {
  const found = rulings.find((candidate) => candidate === value);
  if (found === undefined) throw invalid(`${name} must be one of ${rulings.join(", ")}, not ${shown(value)}`);
  return found;
}

/** Quotes a plain word of the operator; other text is not repeated. */
function shown(text: string): string {
  return /^[\w-]{1,40}$/.test(text) ? `"${text}"` : "what stands there";
}

function invalid(message: string): EmrtdError {
  return new EmrtdError("POLICY_INVALID", message);
}
