import type { DataGroupNumber } from "../../src/lds/data-group.ts";
import type { MrzContent } from "../../src/mrz/build-mrz.ts";
import { createNodeSignatureChecker } from "../../src/node/signature-checker.ts";
import { type PersonalisationRequest, personalise } from "../../src/node/test-country/personalise.ts";
import { readPortrait } from "../../src/node/test-country/portraits.ts";
import { signerProfile } from "../../src/node/test-country/signer-profiles.ts";
import { createTestCountry, testCountryTrust } from "../../src/node/test-country/test-country.ts";
import { TrustStore } from "../../src/trust/trust-store.ts";
import type { DocumentFiles } from "../../src/verify/document-content.ts";
import { defaultPolicy, type PolicyRulings, type VerificationPolicy } from "../../src/verify/policy.ts";
import type { Report } from "../../src/verify/report.ts";
import { verifyDocument } from "../../src/verify/verify-document.ts";
import { documentFilesOf } from "../../src/virtual/test-document.ts";

export const today = new Date("2026-05-05T12:00:00Z");
export const checker = createNodeSignatureChecker();
export const utopia = createTestCountry("tests of the package", today);
export const utopiaTrust = new TrustStore(testCountryTrust(utopia), checker);

export const specimen: MrzContent = {
  format: "TD3",
  documentCode: "P",
  issuingState: "UTO",
  nationality: "UTO",
  documentNumber: "L898902C3",
  dateOfBirth: "740812",
  dateOfExpiry: "301231",
  sex: "F",
  primaryName: "Eriksson",
  secondaryName: "Anna Maria",
};

type Options = Partial<Omit<PersonalisationRequest, "profile" | "mrz">> & {
  readonly profileId?: string;
  readonly mrz?: Partial<MrzContent>;
};

export function makeFiles(options: Options = {}): DocumentFiles {
  const { profileId = "brainpoolP256r1-sha256-explicit", mrz, ...rest } = options;
  return documentFilesOf(
    personalise({
      country: utopia,
      can: "123456",
      portrait: readPortrait("adult.jpg"),
      ...rest,
      profile: signerProfile(profileId),
      mrz: { ...specimen, ...mrz },
    }),
  );
}

export function withGroup(
  files: DocumentFiles,
  number: DataGroupNumber,
  bytes: Uint8Array | null,
): DocumentFiles {
  const dataGroups = new Map(files.dataGroups);
  if (bytes === null) dataGroups.delete(number);
  else dataGroups.set(number, bytes);
  return { ...files, dataGroups };
}

export function verify(
  files: DocumentFiles,
  options: {
    policy?: Partial<VerificationPolicy>;
    rulings?: Partial<PolicyRulings>;
    trust?: TrustStore;
    now?: Date;
  } = {},
): Report {
  const { trust = utopiaTrust, now = today } = options;
  const policy = { ...defaultPolicy, ...options.policy };
  const rulings = { ...policy.rulings, ...options.rulings };
  return verifyDocument({ files, trust, policy: { ...policy, rulings }, now, checker }).report;
}

export function flipBit(bytes: Uint8Array, bit: number): Uint8Array {
  const flipped = bytes.slice();
  flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return flipped;
}

/** Where a part, which is a view of the whole, starts in it. */
export function offsetIn(whole: Uint8Array, part: Uint8Array): number {
  if (part.buffer !== whole.buffer) throw new TypeError("The part is no window on the whole");
  return part.byteOffset - whole.byteOffset;
}
