import type { AskedCredential, ClaimPath, CredentialFormat } from "../asked.ts";
import type { Purpose } from "../trust-anchor.ts";

/** The document types per format. A PID as SD-JWT VC may also have a type that extends this one. */
export const documentTypes = {
  pid: { mso_mdoc: "eu.europa.ec.eudi.pid.1", "dc+sd-jwt": "urn:eudi:pid:1" },
  mdl: { mso_mdoc: "org.iso.18013.5.1.mDL" },
  age: { mso_mdoc: "eu.europa.ec.av.1" },
} as const;

const nameSpaces = { pid: "eu.europa.ec.eudi.pid.1", mdl: "org.iso.18013.5.1", age: "eu.europa.ec.av.1" };

/** A claim, and whether a valid credential of this type may be without it. */
type Source = { path: ClaimPath; mayLack: boolean };
type Offer = {
  id: string;
  purpose: Purpose;
  format: CredentialFormat;
  sources: Readonly<Record<string, Source>>;
  /** Sources of an age, the preferred one first. */
  ages(years: number): readonly ClaimPath[];
};
type Field = { readonly key: string; readonly required: boolean };

const pidMdoc = (element: string, mayLack = false): Source => ({ path: [nameSpaces.pid, element], mayLack });
const mdl = (element: string, mayLack = false): Source => ({ path: [nameSpaces.mdl, element], mayLack });
const pidSdJwt = (path: ClaimPath, mayLack = false): Source => ({ path, mayLack });

/** PID rulebook 1.7 and ISO/IEC 18013-5 say which claims are optional. In order of preference. */
const offers: readonly Offer[] = [
  {
    id: "pid_sd",
    purpose: "pid",
    format: "dc+sd-jwt",
    sources: {
      family_name: pidSdJwt(["family_name"]),
      given_names: pidSdJwt(["given_name"]),
      date_of_birth: pidSdJwt(["birthdate"]),
      nationality_code: pidSdJwt(["nationalities", 0]),
      issuing_country_code: pidSdJwt(["issuing_country"]),
      document_expiry_date: pidSdJwt(["date_of_expiry"], true),
      document_number: pidSdJwt(["document_number"], true),
      sex_marker: pidSdJwt(["sex"], true),
    },
    ages: () => [["birthdate"]],
  },
  {
    id: "pid_mdoc",
    purpose: "pid",
    format: "mso_mdoc",
    sources: {
      family_name: pidMdoc("family_name"),
      given_names: pidMdoc("given_name"),
      date_of_birth: pidMdoc("birth_date"),
      nationality_code: pidMdoc("nationality"),
      issuing_country_code: pidMdoc("issuing_country"),
      document_expiry_date: pidMdoc("expiry_date", true),
      document_number: pidMdoc("document_number", true),
      sex_marker: pidMdoc("sex", true),
    },
    ages: () => [[nameSpaces.pid, "birth_date"]],
  },
  {
    id: "mdl",
    purpose: "mdl",
    format: "mso_mdoc",
    sources: {
      family_name: mdl("family_name"),
      given_names: mdl("given_name"),
      date_of_birth: mdl("birth_date"),
      issuing_country_code: mdl("issuing_country"),
      document_expiry_date: mdl("expiry_date"),
      document_number: mdl("document_number"),
      nationality_code: mdl("nationality", true),
      sex_marker: mdl("sex", true),
    },
    ages: (years) => [
      [nameSpaces.mdl, `age_over_${years}`],
      [nameSpaces.mdl, "birth_date"],
    ],
  },
  {
    id: "age",
    purpose: "age",
    format: "mso_mdoc",
    sources: {},
    ages: (years) => [[nameSpaces.age, `age_over_${years}`]],
  },
];

/**
 * Credentials to request for the fields that the person agreed to share. Fields without a claim
 * (`document_type_code`, `service_document_id`) request nothing.
 */
export function askedFor(ways: readonly Purpose[], fields: readonly Field[]): readonly AskedCredential[] {
  return ways.flatMap((way) =>
    offers
      .filter(({ purpose }) => purpose === way)
      .map((offer) => ({
        id: offer.id,
        purpose: offer.purpose,
        format: offer.format,
        claimSets: claimSetsOf(offer, fields),
      })),
  );
}

/**
 * A wallet returns nothing if a credential lacks a claim of every set. So the sets drop optional claims that
 * the issuer may have left out, in every combination. The last set has only the required claims.
 */
function claimSetsOf(offer: Offer, fields: readonly Field[]): readonly (readonly ClaimPath[])[] {
  const wanted = withExpiry(offer, fields);
  const mayGo = wanted.filter(({ key, required }) => !required && offer.sources[key]?.mayLack === true);
  const choices = combinations(mayGo.length).map((gone) => {
    const left = new Set(mayGo.filter((_, index) => (gone >> index) & 1).map(({ key }) => key));
    return wanted.filter(({ key }) => !left.has(key));
  });
  choices.push(wanted.filter(({ required }) => required));
  const sets = choices.flatMap((chosen) => alternatives(offer, chosen));
  const distinct = [...new Map(sets.map((set) => [JSON.stringify(set), set])).values()];
  const filled = distinct.filter((set) => set.length > 0);
  return filled.length > 0 ? filled : [[]];
}

/** The document's expiry is always looked at, shared or not. */
function withExpiry(offer: Offer, fields: readonly Field[]): readonly Field[] {
  const key = "document_expiry_date";
  const source = offer.sources[key];
  if (source === undefined) return fields;
  if (fields.some((field) => field.key === key)) {
    return fields.map((field) => (field.key === key && !source.mayLack ? { key, required: true } : field));
  }
  return [...fields, { key, required: !source.mayLack }];
}

/** 0 to 2^count - 1, fewest bits first. A bit means that a claim is dropped. */
function combinations(count: number): readonly number[] {
  const bits = (value: number) => value.toString(2).replaceAll("0", "").length;
  return Array.from({ length: 2 ** count }, (_, value) => value).sort((a, b) => bits(a) - bits(b) || b - a);
}

/** The claims of some fields, once for each way in which their ages can be had. */
function alternatives(offer: Offer, fields: readonly Field[]): readonly (readonly ClaimPath[])[] {
  const paths = fields.flatMap(({ key }) => {
    const source = offer.sources[key];
    return source === undefined ? [] : [source.path];
  });
  const years = fields.flatMap(({ key }) => {
    const match = /^age_over_([0-9]{1,3})$/.exec(key);
    return match?.[1] === undefined ? [] : [Number(match[1])];
  });
  if (years.length === 0) return [distinctPaths(paths)];
  const ways = years.map((age) => offer.ages(age));
  const count = Math.max(...ways.map((way) => way.length));
  const variants = Array.from({ length: count }, (_, index) =>
    ways.map((way) => way[index] ?? way[way.length - 1] ?? []).filter((path) => path.length > 0),
  );
  // The birth date answers every age. An age beside it would only disclose more.
  const last = variants[variants.length - 1] ?? [];
  const has = new Set(paths.map((path) => JSON.stringify(path)));
  if (last.every((path) => has.has(JSON.stringify(path)))) return [distinctPaths(paths)];
  // ISO/IEC 18013-5 7.2.5: a reader asks for at most two ages.
  const allowed = years.length > 2 && count > 1 ? variants.slice(1) : variants;
  return allowed.map((ages) => distinctPaths([...paths, ...ages]));
}

function distinctPaths(paths: readonly ClaimPath[]): readonly ClaimPath[] {
  return [...new Map(paths.map((path) => [JSON.stringify(path), path])).values()];
}
