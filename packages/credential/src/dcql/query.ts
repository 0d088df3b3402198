import type { AskedCredential, ClaimPath, CredentialFormat } from "../asked.ts";
import { toBase64Url } from "../base64url.ts";
import { CredentialError } from "../credential-error.ts";
import type { Purpose, TrustAnchor } from "../trust-anchor.ts";
import { type Certificate, parseCertificate } from "../x509/certificate.ts";
import { documentTypes } from "./ask.ts";

/** Digital Credentials Query Language, OpenID4VP 1.0 section 6. */
export type DcqlQuery = {
  credentials: readonly DcqlCredential[];
  credential_sets?: readonly { options: readonly (readonly string[])[]; required: true }[];
};

export type DcqlCredential = {
  id: string;
  format: CredentialFormat;
  meta: { doctype_value: string } | { vct_values: readonly string[] };
  claims?: readonly { id: string; path: ClaimPath }[];
  claim_sets?: readonly (readonly string[])[];
  trusted_authorities?: readonly { type: "aki"; values: readonly string[] }[];
};

/** More authorities than these make the request long, and help a wallet little to choose. */
const maxAuthorities = 20;

/**
 * Requests one of the credentials, in the given order.
 * If only an age is wanted, one that states it comes first.
 */
export function dcqlQuery(asked: readonly AskedCredential[], anchors: readonly TrustAnchor[]): DcqlQuery {
  const credentials = asked.map((credential) => credentialQuery(credential, anchors));
  if (credentials.length < 2) return { credentials };
  return {
    credentials,
    credential_sets: [{ options: inPreference(asked).map(({ id }) => [id]), required: true }],
  };
}

/** From the others the age has to be worked out, which takes a look at the birth date. */
function inPreference(asked: readonly AskedCredential[]): readonly AskedCredential[] {
  const isForAge = asked.every(({ claimSets }) =>
    claimSets.flat().every((path) => ageClaim.test(claimId(path))),
  );
  return isForAge
    ? [...asked.filter(statesAge), ...asked.filter((credential) => !statesAge(credential))]
    : asked;
}

function statesAge({ claimSets: [first = []] }: AskedCredential): boolean {
  return first.some((path) => claimId(path).startsWith("age_over_"));
}

const ageClaim = /^(?:age_over_\d+|birth_?date|expiry_date|date_of_expiry)$/;

function credentialQuery(asked: AskedCredential, anchors: readonly TrustAnchor[]): DcqlCredential {
  const paths = [...new Map(asked.claimSets.flat().map((path) => [claimId(path), path] as const))];
  const authorities = keyIdentifiers(asked.purpose, anchors);
  return {
    id: asked.id,
    format: asked.format,
    meta: metaOf(asked),
    ...(paths.length === 0 ? {} : { claims: paths.map(([id, path]) => ({ id, path })) }),
    ...(asked.claimSets.length < 2 ? {} : { claim_sets: asked.claimSets.map((set) => set.map(claimId)) }),
    ...(authorities.length === 0 ? {} : { trusted_authorities: [{ type: "aki", values: authorities }] }),
  };
}

function metaOf({ purpose, format }: AskedCredential): DcqlCredential["meta"] {
  const types: Partial<Record<CredentialFormat, string>> = documentTypes[purpose];
  const type = types[format];
  if (type === undefined)
    throw new CredentialError("not_supported", `No ${purpose} has the format ${format}`);
  return format === "mso_mdoc" ? { doctype_value: type } : { vct_values: [type] };
}

/** The last name of the path; no two claims of one credential share it. */
function claimId(path: ClaimPath): string {
  return path.findLast((part) => typeof part === "string") ?? "";
}

/** Empty if an authority cannot be named by its key: a wallet would then withhold its credentials. */
function keyIdentifiers(purpose: Purpose, anchors: readonly TrustAnchor[]): readonly string[] {
  const authorities = anchors.filter((anchor) => anchor.purpose === purpose);
  if (authorities.length > maxAuthorities) return [];
  const identifiers = authorities.flatMap(({ certificate }) => {
    const authority = usable(certificate);
    if (authority === null) return [];
    const { keyId, isAuthority } = authority;
    return [isAuthority && keyId !== null ? toBase64Url(fromHex(keyId)) : null];
  });
  const known = identifiers.filter((identifier) => identifier !== null);
  return known.length === identifiers.length ? [...new Set(known)] : [];
}

/** Null for a certificate with a key of another kind, by which no credential is accepted. */
function usable(certificate: Uint8Array): Certificate | null {
  try {
    return parseCertificate(certificate);
  } catch (error) {
    if (error instanceof CredentialError) return null;
    throw error;
  }
}

function fromHex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
