import { oids } from "../../ber/oid.ts";
import { buildCom } from "../../lds/com.ts";
import type { DataGroupNumber } from "../../lds/data-group.ts";
import { buildDg1 } from "../../lds/dg1.ts";
import { buildDg2 } from "../../lds/dg2.ts";
import { buildDg11, type Dg11Content } from "../../lds/dg11.ts";
import { buildDg14 } from "../../lds/dg14.ts";
import { buildDg15 } from "../../lds/dg15.ts";
import { buildSecurityInfos, type SecurityInfoContent } from "../../lds/security-infos.ts";
import { buildMrz, type MrzContent } from "../../mrz/build-mrz.ts";
import type { TestChip, TestFileName } from "../../virtual/test-document.ts";
import { type MessageOptions, signMessage, signSecurityObject } from "./sign-message.ts";
import type { SignerProfile } from "./signer-profiles.ts";
import { ecSigningKey, rsaSigningKey, type SigningKey, secp256k1PublicKey } from "./signing-key.ts";
import type { SignerVariant, TestCountry } from "./test-country.ts";

/**
 * `ecdh_unknown_curve` uses a curve that this package does not know, and `ecdh_version_2` the version that
 * needs terminal authentication: neither is supported here.
 */
type ChipAuthenticationKind = "ecdh_aes128" | "ecdh_3des" | "ecdh_unknown_curve" | "ecdh_version_2";
type ActiveAuthenticationKind = "rsa" | "ecdsa";

export type PersonalisationRequest = {
  readonly country: TestCountry;
  readonly profile: SignerProfile;
  readonly signerVariant?: SignerVariant;
  readonly mrz: MrzContent;
  readonly portrait: Uint8Array;
  readonly faceEncoding?: "ISO_19794_5" | "ISO_39794_5";
  readonly chipAuthentication?: ChipAuthenticationKind;
  readonly activeAuthentication?: ActiveAuthenticationKind;
  /** PACE with the chip authentication mapping, its key in EF.CardSecurity. */
  readonly chipMapping?: boolean;
  /** Further details of the holder, in DG11. */
  readonly details?: Dg11Content;
  readonly can: string;
  /** A copy of the chip: same files, no private keys. */
  readonly clone?: boolean;
  readonly signing?: Partial<MessageOptions>;
  /** Changes the zone before it is signed, for documents that the state itself got wrong. */
  readonly spoilMrz?: (lines: readonly string[]) => readonly string[];
};

type PersonalisedDocument = {
  readonly mrzLines: readonly string[];
  readonly files: Readonly<Partial<Record<TestFileName, Uint8Array>>>;
  readonly chip: TestChip;
};

/** AES-128 with generic mapping, on brainpoolP256r1 in the table of standardised domain parameters. */
const paceOffered = { oid: `${oids.paceEcdhGm}.2`, parameterId: 13 } as const;
const mappingOffered = { oid: `${oids.paceEcdhCam}.2`, parameterId: 13 } as const;

function paceInfo({ oid, parameterId }: typeof paceOffered | typeof mappingOffered): SecurityInfoContent {
  return { kind: "pace", protocol: oid, parameterId: BigInt(parameterId) };
}

type ChipKey = {
  readonly infos: readonly SecurityInfoContent[];
  readonly key: SigningKey;
};

type ChipAuthenticationKey = {
  readonly infos: readonly SecurityInfoContent[];
  /** Null where the software chip could not use it. */
  readonly privateKey: Uint8Array | null;
};

function chipAuthenticationKey(
  seed: string,
  label: string,
  kind: ChipAuthenticationKind,
): ChipAuthenticationKey {
  const keyLabel = `${label} chip authentication`;
  const infos = (protocol: string, subjectPublicKeyInfo: Uint8Array): readonly SecurityInfoContent[] => [
    { kind: "chipAuthentication", protocol, version: kind === "ecdh_version_2" ? 2 : 1 },
    { kind: "chipAuthenticationPublicKey", protocol: oids.publicKeyEcdh, subjectPublicKeyInfo },
  ];
  if (kind === "ecdh_unknown_curve") {
    const publicKey = secp256k1PublicKey(seed, keyLabel);
    return { infos: infos(oids.chipAuthenticationEcdhAes128, publicKey), privateKey: null };
  }
  const key = ecSigningKey(seed, keyLabel, "brainpoolP256r1", { explicitParameters: true });
  const protocol = kind === "ecdh_3des" ? oids.chipAuthenticationEcdh3Des : oids.chipAuthenticationEcdhAes128;
  return { infos: infos(protocol, key.subjectPublicKeyInfo), privateKey: key.pkcs8 };
}

function activeAuthenticationKey(seed: string, label: string, kind: ActiveAuthenticationKind): ChipKey {
  if (kind === "rsa") return { key: rsaSigningKey("chip2048"), infos: [] };
  return {
    key: ecSigningKey(seed, `${label} active authentication`, "secp256r1", { explicitParameters: false }),
    // ecdsa-plain-SHA256 of BSI TR-03111.
    infos: [{ kind: "activeAuthentication", signatureAlgorithm: "0.4.0.127.0.7.1.1.4.1.3" }],
  };
}

/** Writes a document as the state would, and signs it. */
export function personalise(request: PersonalisationRequest): PersonalisedDocument {
  const { country, profile, mrz, portrait, can, clone = false } = request;
  const label = `${mrz.documentCode} ${mrz.documentNumber}`;
  const printed = buildMrz(mrz);
  const mrzLines = request.spoilMrz?.(printed) ?? printed;
  const chipAuthentication =
    request.chipAuthentication && chipAuthenticationKey(country.seed, label, request.chipAuthentication);
  const activeAuthentication =
    request.activeAuthentication &&
    activeAuthenticationKey(country.seed, label, request.activeAuthentication);

  const dataGroups = new Map<DataGroupNumber, Uint8Array>([
    [1, buildDg1(mrzLines)],
    [2, buildDg2({ image: portrait, encoding: request.faceEncoding ?? "ISO_19794_5" })],
  ]);
  const pace = request.chipMapping === true ? [paceOffered, mappingOffered] : [paceOffered];
  const mappingKey =
    request.chipMapping === true
      ? ecSigningKey(country.seed, `${label} chip mapping`, "brainpoolP256r1", { explicitParameters: false })
      : null;
  const infos = [...(chipAuthentication?.infos ?? []), ...(activeAuthentication?.infos ?? [])];
  if (infos.length > 0 || mappingKey !== null)
    dataGroups.set(14, buildDg14([...infos, ...pace.map(paceInfo)]));
  if (request.details !== undefined) dataGroups.set(11, buildDg11(request.details));
  if (activeAuthentication) dataGroups.set(15, buildDg15(activeAuthentication.key.subjectPublicKeyInfo));

  const signer = country.documentSigner(profile, request.signerVariant);
  const options: MessageOptions = {
    signedAt: country.signedAt,
    identifySignerBy: "issuer_and_serial",
    ...request.signing,
  };
  const sod = signSecurityObject({ groupHash: profile.groupHash, dataGroups, signer, options });
  const files: Partial<Record<TestFileName, Uint8Array>> = {
    COM: buildCom([...dataGroups.keys()]),
    SOD: sod,
  };
  for (const [number, file] of dataGroups) files[`DG${number}`] = file;
  if (mappingKey !== null) {
    const key: SecurityInfoContent = {
      kind: "chipAuthenticationPublicKey",
      protocol: oids.publicKeyEcdh,
      subjectPublicKeyInfo: mappingKey.subjectPublicKeyInfo,
      keyId: BigInt(mappingOffered.parameterId),
    };
    const content = buildSecurityInfos([...pace.map(paceInfo), key]);
    files.CardSecurity = signMessage(oids.securityObject, content, signer, options);
  }
  const agreementKeys = [
    ...(chipAuthentication?.privateKey ? [{ privateKey: chipAuthentication.privateKey }] : []),
    ...(mappingKey === null ? [] : [{ privateKey: mappingKey.pkcs8, keyId: mappingOffered.parameterId }]),
  ];
  return {
    mrzLines,
    files,
    chip: {
      mrzKey: {
        documentNumber: mrz.documentNumber,
        dateOfBirth: mrz.dateOfBirth,
        dateOfExpiry: mrz.dateOfExpiry,
      },
      can,
      pace,
      chipAuthentication: clone ? [] : agreementKeys,
      activeAuthentication:
        activeAuthentication && !clone
          ? {
              privateKey: activeAuthentication.key.pkcs8,
              hash: request.activeAuthentication === "rsa" ? "SHA-1" : "SHA-256",
            }
          : null,
      clone,
    },
  };
}
