import { closedMap } from "../cbor/closed-map.ts";
import { decode, type ItemBudget, newBudget } from "../cbor/decode.ts";
import { type CborMap, CborTag, type CborValue, isArray, isMap } from "../cbor/value.ts";
import { readSingle, type Single } from "../cose/headers.ts";
import { malformedIn } from "../credential-error.ts";

const malformed = malformedIn("mdoc");

/** ISO/IEC 18013-5, 8.3.2.1.2.2. */
export type DeviceResponse = { status: number | bigint; documents: readonly MdocDocument[] };

export type MdocDocument = {
  docType: string;
  issuerAuth: Single;
  items: readonly IssuerSignedItem[];
  /** Tag 24 and its content as received. Null if the device signed nothing. */
  deviceNameSpaces: Uint8Array | null;
  /** The device adds claims to those of the issuer. */
  hasDeviceClaims: boolean;
  deviceAuth: { kind: "signature" | "mac"; cose: Single } | { kind: "none" };
};

export type IssuerSignedItem = {
  nameSpace: string;
  digestId: number;
  element: string;
  value: CborValue;
  /** Tag 24 and its content as they came: the digest covers both. */
  received: Uint8Array;
};

/** A form of 256 KiB has no room for more. */
const maxResponseBytes = 256 * 1024;
const maxItemBytes = 200 * 1024;
/** ISO/IEC 18013-5, 9.1.2.5. */
const minRandomBytes = 16;

export function readDeviceResponse(bytes: Uint8Array): DeviceResponse {
  const budget = newBudget();
  const response = closedMap(
    decode(bytes, { maxBytes: maxResponseBytes, budget }),
    ["version", "status"],
    ["documents", "documentErrors"],
  );
  // The second edition says 1.1 and adds members that are refused here.
  const version = response.get("version");
  if (version !== "1.0" && version !== "1.1") throw malformed("unknown version");
  const status = response.get("status");
  if (typeof status !== "number" && typeof status !== "bigint") throw malformed("status that is no number");
  const errors = response.get("documentErrors");
  if (errors !== undefined && !(isArray(errors) && errors.every(isErrorCodes)))
    throw malformed("document errors");
  const documents = response.get("documents") ?? [];
  if (!isArray(documents)) throw malformed("documents that are no list");
  return { status, documents: documents.map((document) => readDocument(document, budget)) };
}

function readDocument(value: CborValue, budget: ItemBudget): MdocDocument {
  const document = closedMap(value, ["docType", "issuerSigned"], ["deviceSigned", "errors"]);
  const errors = document.get("errors");
  if (errors !== undefined && !(isMap(errors) && [...errors.values()].every(isErrorCodes)))
    throw malformed("errors");
  const issuerSigned = closedMap(document.get("issuerSigned"), ["issuerAuth"], ["nameSpaces"]);
  return {
    docType: readText(document.get("docType")),
    issuerAuth: readSingle(issuerSigned.get("issuerAuth")),
    items: readNameSpaces(issuerSigned.get("nameSpaces"), budget),
    ...readDeviceSigned(document.get("deviceSigned"), budget),
  };
}

function isErrorCodes(value: CborValue): boolean {
  return isMap(value) && [...value.values()].every((code) => Number.isInteger(code));
}

function readNameSpaces(value: CborValue | undefined, budget: ItemBudget): readonly IssuerSignedItem[] {
  if (value === undefined) return [];
  if (!isMap(value)) throw malformed("namespaces that are no map");
  return [...value].flatMap(([nameSpace, items]) => {
    if (typeof nameSpace !== "string" || !isArray(items) || items.length === 0) throw malformed("namespace");
    return items.map((item) => readItem(nameSpace, item, budget));
  });
}

function readItem(nameSpace: string, value: CborValue, budget: ItemBudget): IssuerSignedItem {
  const { content: bytes, received } = readTagged(value);
  const item = closedMap(decode(bytes, { maxBytes: maxItemBytes, budget }), [
    "digestID",
    "random",
    "elementIdentifier",
    "elementValue",
  ]);
  const digestId = item.get("digestID");
  const random = item.get("random");
  const content = item.get("elementValue");
  if (typeof digestId !== "number" || digestId < 0) throw malformed("digest id");
  if (!(random instanceof Uint8Array) || random.length < minRandomBytes)
    throw malformed("random that is too short");
  if (content === undefined) throw malformed("value");
  return { nameSpace, digestId, element: readText(item.get("elementIdentifier")), value: content, received };
}

function readDeviceSigned(
  value: CborValue | undefined,
  budget: ItemBudget,
): Pick<MdocDocument, "deviceNameSpaces" | "hasDeviceClaims" | "deviceAuth"> {
  if (value === undefined) {
    return { deviceNameSpaces: null, hasDeviceClaims: false, deviceAuth: { kind: "none" } };
  }
  const signed = closedMap(value, ["nameSpaces"], ["deviceAuth"]);
  const { content, received: deviceNameSpaces } = readTagged(signed.get("nameSpaces"));
  const claims = decode(content, { maxBytes: maxItemBytes, budget });
  if (
    !isMap(claims) ||
    ![...claims].every(([name, elements]) => typeof name === "string" && isMap(elements))
  ) {
    throw malformed("namespaces of the device");
  }
  return {
    deviceNameSpaces,
    hasDeviceClaims: claims.size > 0,
    deviceAuth: readDeviceAuth(signed.get("deviceAuth")),
  };
}

function readDeviceAuth(value: CborValue | undefined): MdocDocument["deviceAuth"] {
  if (value === undefined) return { kind: "none" };
  const auth: CborMap = closedMap(value, [], ["deviceSignature", "deviceMac"]);
  const signature = auth.get("deviceSignature");
  const mac = auth.get("deviceMac");
  if (signature !== undefined && mac !== undefined) throw malformed("signature and MAC of the device");
  const found = signature ?? mac;
  if (found === undefined) return { kind: "none" };
  const cose = readSingle(found);
  if (cose.payload !== null) throw malformed("content that is not detached");
  return { kind: signature === undefined ? "mac" : "signature", cose };
}

/** The bytes inside of `#6.24(bstr)`. */
export function readEmbedded(value: CborValue | undefined): Uint8Array {
  return readTagged(value).content;
}

/** With the tag as it came, whose length may be written in more bytes than it takes. */
function readTagged(value: CborValue | undefined): { content: Uint8Array; received: Uint8Array } {
  if (
    value instanceof CborTag &&
    value.tag === 24 &&
    value.content instanceof Uint8Array &&
    value.received !== null
  )
    return { content: value.content, received: value.received };
  throw malformed("not an embedded data item");
}

function readText(value: CborValue | undefined): string {
  if (typeof value !== "string") throw malformed("not a text");
  return value;
}
