import type { AskedCredential, ClaimPath } from "@assay/credential/asked";
import { askedFor, documentTypes } from "@assay/credential/dcql/ask";
import type { Purpose } from "@assay/credential/trust-anchor";
import { readJwtClaims } from "./wallet-identity.ts";

/** What a registration certificate lists (ETSI TS 119 475). Null claims: every claim of the type. */
type Registered = { types: readonly string[]; claims: readonly ClaimPath[] | null };

/**
 * Whether the operator is registered to ask for a field. A certificate without credentials restricts nothing,
 * nor does a missing one: the wallet's state decides whether one is needed.
 */
export function isRegistered(registration: readonly string[], purpose: Purpose, key: string): boolean {
  return onlyRegistered(registration, askedFor([purpose], [{ key, required: true }])).length > 0;
}

/** The part of a request that the operator is registered to ask for. */
export function onlyRegistered(
  registration: readonly string[],
  asked: readonly AskedCredential[],
): readonly AskedCredential[] {
  const lists = registration.map(registeredOf).filter((list) => list !== null);
  if (lists.length === 0) return asked;
  return asked.flatMap((credential) => {
    const types: Readonly<Partial<Record<string, string>>> = documentTypes[credential.purpose];
    const ofType = lists.flat().filter((list) => list.types.includes(types[credential.format] ?? ""));
    const claimSets = credential.claimSets.filter((set) =>
      ofType.some(({ claims }) => claims === null || set.every((path) => isListed(claims, path))),
    );
    return claimSets.length === 0 ? [] : [{ ...credential, claimSets }];
  });
}

/** A claim is listed with all of its parts. The expiry is needed to check the credential itself. */
function isListed(claims: readonly ClaimPath[], path: ClaimPath): boolean {
  const isExpiry = path.at(-1) === "expiry_date" || path.at(-1) === "date_of_expiry";
  return isExpiry || claims.some((listed) => listed.every((part, at) => part === path[at] || part === null));
}

function registeredOf(jwt: string): readonly Registered[] | null {
  const credentials = readJwtClaims(jwt)?.["credentials"];
  if (!Array.isArray(credentials)) return null;
  return credentials.filter(isObject).map(({ meta, claim, claims = claim }) => ({
    types: isObject(meta) ? [meta["doctype_value"], meta["vct_values"]].flat().filter(isText) : [],
    claims: Array.isArray(claims)
      ? claims.filter(isObject).flatMap(({ path }) => (Array.isArray(path) ? [path as ClaimPath] : []))
      : null,
  }));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
