import type { ClaimPath } from "../asked.ts";
import { fromBase64Url, toBase64Url } from "../base64url.ts";
import { digest, utf8 } from "../bytes.ts";
import { malformedIn } from "../credential-error.ts";
import {
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonArray,
  type JsonObject,
  readJsonBytes,
} from "../json.ts";
import { type Refused, refuse } from "../verdict.ts";
import { type DigestName, digestNames } from "./digest-name.ts";

const malformed = malformedIn("SD-JWT");

export type AppliedDisclosures = {
  kind: "applied";
  claims: JsonObject;
  /** The path of each disclosure in `claims`. */
  disclosed: readonly ClaimPath[];
};

type Disclosure = { text: string; isUsed: boolean };

const maxDisclosures = 1000;
const maxDepth = 32;

/**
 * RFC 9901, 7.1: replaces digests by the disclosed values. Every disclosure belongs to exactly one digest,
 * and each digest occurs once.
 */
export async function applyDisclosures(
  payload: JsonObject,
  disclosures: readonly string[],
  digestName: DigestName,
): Promise<AppliedDisclosures | Refused> {
  if (disclosures.length > maxDisclosures) return refuse("malformed");
  if (new Set(disclosures).size !== disclosures.length) return refuse("repeated_element");
  const byDigest = new Map<string, Disclosure>();
  for (const text of disclosures) {
    const hash = await digest(digestNames[digestName], utf8(text));
    byDigest.set(toBase64Url(hash), { text, isUsed: false });
  }
  const walk = new Walk(byDigest);
  const { _sd_alg: _, ...top } = payload;
  try {
    const claims = walk.object(top, [], 0);
    if ([...byDigest.values()].some(({ isUsed }) => !isUsed)) return refuse("digest_mismatch");
    return { kind: "applied", claims, disclosed: walk.disclosed };
  } catch (error) {
    if (error instanceof Repeated) return refuse("repeated_element");
    throw error;
  }
}

/** `[salt, name, value]` of a member, `[salt, value]` of an element of an array. */
function contentsOf(text: string): JsonArray {
  const contents = readJsonBytes(fromBase64Url(text));
  const isDisclosure =
    isJsonArray(contents) &&
    typeof contents[0] === "string" &&
    (contents.length === 2 || (contents.length === 3 && typeof contents[1] === "string"));
  if (!isDisclosure) throw malformed("disclosure of another form");
  return contents;
}

class Repeated extends Error {}

class Walk {
  readonly disclosed: ClaimPath[] = [];
  readonly #byDigest: ReadonlyMap<string, Disclosure>;
  readonly #seen = new Set<string>();

  constructor(byDigest: ReadonlyMap<string, Disclosure>) {
    this.#byDigest = byDigest;
  }

  object(value: JsonObject, path: ClaimPath, depth: number): JsonObject {
    const members = new Map<string, Json>();
    for (const [name, member] of Object.entries(value)) {
      if (name === "...") throw malformed("digest of an array outside of one");
      if (name !== "_sd") members.set(name, this.#value(member, [...path, name], depth + 1));
    }
    for (const hash of digestsOf(value)) {
      const contents = this.#find(hash);
      if (contents === null) continue;
      const [, name, disclosed = null] = contents;
      if (contents.length !== 3 || typeof name !== "string" || name === "_sd" || name === "...")
        throw malformed("disclosure that is no member");
      if (members.has(name)) throw new Repeated();
      this.disclosed.push([...path, name]);
      members.set(name, this.#value(disclosed, [...path, name], depth + 1));
    }
    return Object.fromEntries(members);
  }

  #array(value: JsonArray, path: ClaimPath, depth: number): JsonArray {
    const elements: Json[] = [];
    for (const element of value) {
      const hash = isJsonObject(element) && Object.keys(element).length === 1 ? element["..."] : undefined;
      const place = [...path, elements.length];
      if (hash === undefined) {
        elements.push(this.#value(element, place, depth + 1));
        continue;
      }
      if (typeof hash !== "string") throw malformed("digest that is no text");
      const contents = this.#find(hash);
      if (contents === null) continue;
      if (contents.length !== 2) throw malformed("disclosure that is no element of an array");
      this.disclosed.push(place);
      elements.push(this.#value(contents[1] ?? null, place, depth + 1));
    }
    return elements;
  }

  #value(value: Json, path: ClaimPath, depth: number): Json {
    if (depth > maxDepth) throw malformed("nested too deeply");
    if (isJsonArray(value)) return this.#array(value, path, depth);
    return isJsonObject(value) ? this.object(value, path, depth) : value;
  }

  /** Null for the digest of a withheld claim, or a decoy. */
  #find(hash: string): JsonArray | null {
    if (this.#seen.has(hash)) throw new Repeated();
    this.#seen.add(hash);
    const disclosure = this.#byDigest.get(hash);
    if (disclosure === undefined) return null;
    disclosure.isUsed = true;
    return contentsOf(disclosure.text);
  }
}

function digestsOf({ _sd: digests }: JsonObject): readonly string[] {
  if (digests === undefined) return [];
  if (!isJsonArray(digests) || !digests.every((hash) => typeof hash === "string"))
    throw malformed("_sd is no list of texts");
  return digests;
}
