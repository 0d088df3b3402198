import { oids } from "../ber/oid.ts";
import { readSignedData, type SignedData } from "../cms/signed-data.ts";
import { EmrtdError } from "../emrtd-error.ts";
import { type DataGroupNumber, dataGroupTags } from "../lds/data-group.ts";
import { readDg1 } from "../lds/dg1.ts";
import { type Dg2, readDg2 } from "../lds/dg2.ts";
import { readDg14 } from "../lds/dg14.ts";
import { readDg15 } from "../lds/dg15.ts";
import { openFile } from "../lds/lds-file.ts";
import { type LdsSecurityObject, readLdsSecurityObject } from "../lds/lds-security-object.ts";
import type { SecurityInfo } from "../lds/security-infos.ts";
import { readSodContent } from "../lds/sod.ts";
import type { Mrz } from "../mrz/parse-mrz.ts";

/** The files of a chip, each whole as the chip holds it. */
export type DocumentFiles = {
  readonly sod: Uint8Array;
  readonly dataGroups: ReadonlyMap<DataGroupNumber, Uint8Array>;
  /** Only where the chip authentication mapping is the proof to ask for. */
  readonly cardSecurity?: Uint8Array;
};

/** Signed hashes and certificates are small; a larger object is an attempt to be expensive. */
const maxSodBytes = 64 * 1024;

/** The zone of the largest format is 90 characters. */
const maxDg1Bytes = 256;

/** Names that early documents use for the content of their security object. */
const legacyContentTypes: ReadonlySet<string> = new Set([
  "1.3.27.1.1.1", // the ICAO's own, before it had its present arc
  "1.2.528.1.1006.1.20.1", // Sdu, the Netherlands
]);

export type SecurityObjectFile = {
  readonly signedData: SignedData;
  readonly securityObject: LdsSecurityObject;
  readonly legacyContentType: boolean;
};

/** EF.SOD as read; nothing in it has been checked. */
export function readSecurityObjectFile(sod: Uint8Array): SecurityObjectFile {
  if (sod.length > maxSodBytes) throw new EmrtdError("LDS_TOO_LARGE", "EF.SOD is too large");
  const signedData = readSignedData(readSodContent(sod), { maxBytes: maxSodBytes });
  const legacyContentType = legacyContentTypes.has(signedData.contentType);
  if (signedData.contentType !== oids.ldsSecurityObject && !legacyContentType) {
    throw new EmrtdError("LDS_INVALID", "The signed content of EF.SOD is not a list of hashes");
  }
  return { signedData, securityObject: readLdsSecurityObject(signedData.content), legacyContentType };
}

/**
 * The keys with which a chip can prove that it is no copy. Present only if the security object names their
 * group: an unsigned key proves nothing about the document.
 */
export type ChipKeys = {
  readonly securityInfos: readonly SecurityInfo[] | null;
  readonly activeAuthenticationKey: Uint8Array | null;
};

export type DocumentContent = SecurityObjectFile & {
  readonly mrz: Mrz;
  readonly portraits: Dg2;
  readonly chipKeys: ChipKeys;
};

/** Reads all files, or throws the package's error. Whether any of it is true is for the checks to say. */
export function readDocumentContent(files: DocumentFiles, now: Date): DocumentContent {
  const file = readSecurityObjectFile(files.sod);
  const dg1 = requireGroup(files, 1);
  if (dg1.length > maxDg1Bytes) throw new EmrtdError("LDS_TOO_LARGE", "DG1 is too large");
  const mrz = readDg1(dg1, now);
  const portraits = readDg2(requireGroup(files, 2));
  for (const [number, bytes] of files.dataGroups) openFile(bytes, dataGroupTags[number], `DG${number}`);
  const { signedData, securityObject, legacyContentType } = file;
  const chipKeys = readChipKeys(files, securityObject);
  return { signedData, securityObject, legacyContentType, mrz, portraits, chipKeys };
}

export function readChipKeys({ dataGroups }: DocumentFiles, { hashes }: LdsSecurityObject): ChipKeys {
  const dg14 = dataGroups.get(14);
  const dg15 = dataGroups.get(15);
  // Both are always read, so that a malformed group is never ignored.
  const securityInfos = dg14 === undefined ? null : readDg14(dg14);
  const activeAuthenticationKey = dg15 === undefined ? null : readDg15(dg15);
  return {
    securityInfos: hashes.has(14) ? securityInfos : null,
    activeAuthenticationKey: hashes.has(15) ? activeAuthenticationKey : null,
  };
}

function requireGroup(files: DocumentFiles, number: DataGroupNumber): Uint8Array {
  const bytes = files.dataGroups.get(number);
  if (bytes === undefined) throw new EmrtdError("LDS_INVALID", `DG${number} is missing`);
  return bytes;
}
