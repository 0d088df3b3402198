import type { AskedCredential, ClaimPath } from "../asked.ts";
import { CborTag, type CborValue } from "../cbor/value.ts";
import { keptClaims } from "../dcql/kept-claims.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../json.ts";
import { type Attributes, type Refused, refuse } from "../verdict.ts";

export type ReadAttributes = {
  kind: "read";
  attributes: Attributes;
  /** The wallet disclosed something that was not requested. It was dropped unread. */
  disclosedMore: boolean;
};

/** By namespace and element, as the issuer signed them. */
export type MdocElements = ReadonlyMap<string, ReadonlyMap<string, CborValue>>;

export function readMdocAttributes(
  asked: AskedCredential,
  elements: MdocElements,
  now: Date,
): ReadAttributes | Refused {
  const found = (path: ClaimPath) => elementAt(elements, path);
  const kept = keptClaims(asked, (path) => found(path) !== null);
  if (kept === null) return refuse("claim_missing");
  const claims = kept.map((path) => ({ name: nameOf(path), value: found(path)?.value ?? null }));
  const used = new Set(kept.map((path) => JSON.stringify([path[0], found(path)?.name])));
  const count = [...elements.values()].reduce((sum, names) => sum + names.size, 0);
  return judgeClaims(claims, count > used.size, now);
}

type Element = { name: string; value: CborValue };

function elementAt(elements: MdocElements, [nameSpace, name]: ClaimPath): Element | null {
  if (typeof nameSpace !== "string" || typeof name !== "string") return null;
  const names = elements.get(nameSpace);
  const value = names?.get(name) ?? null;
  return value === null ? nearestAge(names, name) : { name, value };
}

/**
 * ISO/IEC 18013-5, 7.2.5: a document without the requested age answers with a higher one that was reached, or
 * a lower one that was not.
 */
function nearestAge(names: ReadonlyMap<string, CborValue> | undefined, asked: string): Element | null {
  const years = yearsOf(asked);
  if (names === undefined || years === null) return null;
  for (const [name, value] of names) {
    const other = yearsOf(name);
    if (other === null) continue;
    if ((value === true && other > years) || (value === false && other < years)) return { name, value };
  }
  return null;
}

/**
 * `disclosed` has the path of every disclosure that the wallet added. Claims that the issuer wrote in the
 * clear do not count, because the wallet cannot withhold them.
 */
export function readSdJwtAttributes(
  asked: AskedCredential,
  claims: JsonObject,
  disclosed: readonly ClaimPath[],
  now: Date,
): ReadAttributes | Refused {
  const kept = keptClaims(asked, (path) => selected(claims, path).length > 0);
  if (kept === null) return refuse("claim_missing");
  const extra = disclosed.filter((path) => !kept.some((wanted) => isOnPath(path, wanted)));
  const values = kept.map((path) => ({ name: nameOf(path), value: wholeClaim(claims, path, extra) }));
  return judgeClaims(values, extra.length > 0, now);
}

/** OpenID4VP 1.0, 7.1.1. */
function selected(claims: JsonObject, path: ClaimPath): readonly Json[] {
  let values: readonly Json[] = [claims];
  for (const part of path) {
    values = values.flatMap((value) => {
      if (typeof part === "string") {
        const member = isJsonObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
        return member === undefined ? [] : [member];
      }
      if (!isJsonArray(value)) return [];
      return part === null ? value : value.slice(part, part + 1);
    });
  }
  return values;
}

/** One path is a prefix of the other. */
function isOnPath(path: ClaimPath, wanted: ClaimPath): boolean {
  const length = Math.min(path.length, wanted.length);
  for (let index = 0; index < length; index++) {
    const isEvery = wanted[index] === null && typeof path[index] === "number";
    if (!isEvery && wanted[index] !== path[index]) return false;
  }
  return true;
}

/** For a request of one array element: the array without the extra elements that the wallet disclosed. */
function wholeClaim(claims: JsonObject, path: ClaimPath, extra: readonly ClaimPath[]): Json {
  const last = path[path.length - 1];
  if (typeof last === "string") return selected(claims, path)[0] ?? null;
  const parent = path.slice(0, -1);
  const array = selected(claims, parent)[0];
  if (!isJsonArray(array)) return null;
  const dropped = new Set(
    extra
      .filter(
        (other) =>
          other.length === path.length && JSON.stringify(other.slice(0, -1)) === JSON.stringify(parent),
      )
      .map((other) => other[other.length - 1]),
  );
  return array.filter((_, index) => !dropped.has(index));
}

/** The last name on a path: an element of an mdoc, a claim of an SD-JWT VC. */
function nameOf(path: ClaimPath): string {
  return path.findLast((part) => typeof part === "string") ?? "";
}

type ClaimValue = Json | CborValue;
type Claim = { name: string; value: ClaimValue };

function judgeClaims(claims: readonly Claim[], disclosedMore: boolean, now: Date): ReadAttributes | Refused {
  let attributes: Attributes = {};
  for (const { name, value } of claims) {
    const read = attributeOf(name, value);
    if (read === null) return refuse("claim_unreadable");
    const ageOver = { ...attributes.ageOver, ...read.ageOver };
    attributes = { ...attributes, ...read };
    if (Object.keys(ageOver).length > 0) attributes.ageOver = ageOver;
  }
  if (attributes.expiryDate !== undefined && hasExpired(attributes.expiryDate, now)) {
    return refuse("document_expired");
  }
  return { kind: "read", attributes, disclosedMore };
}

/** The day of expiry is the last valid one, and it ends last twelve hours west of Greenwich. */
const graceMilliseconds = 12 * 3600 * 1000;

export function hasExpired(expiryDate: string, now: Date): boolean {
  return expiryDate < new Date(now.getTime() - graceMilliseconds).toISOString().slice(0, 10);
}

function attributeOf(name: string, value: ClaimValue): Attributes | null {
  switch (name) {
    case "family_name":
      return present("familyName", text(value));
    case "given_name":
      return present("givenName", text(value));
    case "document_number":
      return present("documentNumber", text(value));
    case "birth_date":
    case "birthdate":
      return present("birthDate", day(value));
    case "expiry_date":
    case "date_of_expiry":
      return present("expiryDate", day(value) ?? dayOfTime(value));
    case "issuing_country":
      return present("issuingCountry", country(value));
    case "nationality":
    case "nationalities":
      return present("nationalities", countries(value));
    case "sex":
      return present("sex", typeof value === "number" && sexes.has(value) ? value : null);
    default:
      return ageOf(name, value);
  }
}

function present<K extends keyof Attributes>(
  key: K,
  value: NonNullable<Attributes[K]> | null,
): Attributes | null {
  return value === null ? null : { [key]: value };
}

const sexes = new Set([0, 1, 2, 3, 4, 5, 6, 9]);
const maxTextCharacters = 1000;

/** The issuer's text, without characters that could break a line or an encoding later. */
function text(value: ClaimValue): string | null {
  if (typeof value !== "string" || value === "" || value.length > maxTextCharacters) return null;
  return value.isWellFormed() && !/\p{Cc}/u.test(value) ? value : null;
}

/** An mdoc has `full-date`, tag 1004 on a text. Issuers that leave the tag out mean the same. */
function day(value: ClaimValue): string | null {
  const written = value instanceof CborTag && value.tag === 1004 ? value.content : value;
  if (typeof written !== "string" || !/^\d{4}-\d{2}-\d{2}$/.test(written)) return null;
  const read = new Date(`${written}T00:00:00Z`);
  // Engines roll a 30 February over instead of refusing it.
  return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(written) ? written : null;
}

/** The expiry of a document may be a time, `tdate` in an mdoc. Its day in UTC counts. */
function dayOfTime(value: ClaimValue): string | null {
  const written = value instanceof CborTag && value.tag === 0 ? value.content : value;
  if (typeof written !== "string") return null;
  const match = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/.exec(written);
  if (match?.[1] === undefined || day(match[1]) === null) return null;
  const time = new Date(written);
  return Number.isNaN(time.getTime()) ? null : time.toISOString().slice(0, 10);
}

function country(value: ClaimValue): string | null {
  return typeof value === "string" && /^[A-Z]{2}$/.test(value) ? value : null;
}

const maxNationalities = 20;

/** A PID has a list, a driving licence one code. */
function countries(value: ClaimValue): readonly string[] | null {
  const codes: readonly ClaimValue[] = Array.isArray(value) ? value : [value];
  if (codes.length === 0 || codes.length > maxNationalities) return null;
  const read = codes.map(country).filter((code) => code !== null);
  return read.length === codes.length ? read : null;
}

function ageOf(name: string, value: ClaimValue): Attributes | null {
  const years = yearsOf(name);
  return years === null || typeof value !== "boolean" ? null : { ageOver: { [years]: value } };
}

function yearsOf(name: string): number | null {
  const years = /^age_over_(\d{2,3})$/.exec(name)?.[1];
  return years === undefined ? null : Number(years);
}
