import { oids } from "../ber/oid.ts";
import { readWhole, type Tlv } from "../ber/read.ts";
import { tags } from "../ber/tag.ts";
import { integer, oid, sequence, setOf } from "../ber/write.ts";
import { EmrtdError } from "../emrtd-error.ts";
import { maxFileBytes } from "./lds-file.ts";

/** The chip's declared abilities (ICAO 9303-11, 9.2; BSI TR-03110-3, A.1.1). */
export type SecurityInfo =
  | ChipAuthenticationInfo
  | ChipAuthenticationPublicKeyInfo
  | ActiveAuthenticationInfo
  | PaceInfo
  | PaceDomainParameterInfo
  | TerminalAuthenticationInfo
  | UnknownSecurityInfo;

type SecurityInfoBase = {
  readonly protocol: string;
  /** The whole SecurityInfo as encoded. */
  readonly bytes: Uint8Array;
};

type ChipAuthenticationInfo = SecurityInfoBase & {
  readonly kind: "chipAuthentication";
  readonly version: number;
  readonly keyId: bigint | null;
};

export type ChipAuthenticationPublicKeyInfo = SecurityInfoBase & {
  readonly kind: "chipAuthenticationPublicKey";
  /** DER, as key importers want it. */
  readonly subjectPublicKeyInfo: Uint8Array;
  readonly keyId: bigint | null;
};

type ActiveAuthenticationInfo = SecurityInfoBase & {
  readonly kind: "activeAuthentication";
  readonly version: number;
  readonly signatureAlgorithm: string;
};

export type PaceInfo = SecurityInfoBase & {
  readonly kind: "pace";
  readonly version: number;
  /** A standardised domain parameter, if the chip does not define parameters itself. */
  readonly parameterId: bigint | null;
};

type PaceDomainParameterInfo = SecurityInfoBase & {
  readonly kind: "paceDomainParameters";
  /** AlgorithmIdentifier, DER. */
  readonly domainParameter: Uint8Array;
  readonly parameterId: bigint | null;
};

type TerminalAuthenticationInfo = SecurityInfoBase & {
  readonly kind: "terminalAuthentication";
  readonly version: number;
};

type UnknownSecurityInfo = SecurityInfoBase & {
  readonly kind: "unknown";
};

const maxInfos = 64;
const belowChipAuthentication = [oids.chipAuthenticationDh, oids.chipAuthenticationEcdh].map(below);
const paceMappings: readonly string[] = [
  oids.paceDhGm,
  oids.paceEcdhGm,
  oids.paceDhIm,
  oids.paceEcdhIm,
  oids.paceEcdhCam,
];

const belowPaceMappings = paceMappings.map(below);

export function readSecurityInfos(set: Tlv): readonly SecurityInfo[] {
  const infos = set.expect(tags.set, "The list of security infos").children();
  if (infos.length > maxInfos) throw new EmrtdError("LDS_INVALID", "There are too many security infos");
  return infos.map(readSecurityInfo);
}

/** For the content of EF.CardSecurity, once its signature has been checked. */
export function parseSecurityInfos(bytes: Uint8Array): readonly SecurityInfo[] {
  return readSecurityInfos(readWhole(bytes, { maxBytes: maxFileBytes, maxNodes: 10_000 }));
}

function readSecurityInfo(info: Tlv): SecurityInfo {
  info.expect(tags.sequence, "A security info");
  const protocol = info.at(0, "The protocol of a security info").oid();
  const { bytes } = info;
  if (startsWithAny(protocol, belowChipAuthentication)) {
    return {
      protocol,
      bytes,
      kind: "chipAuthentication",
      version: versionOf(info),
      keyId: optionalIdOf(info),
    };
  }
  if (protocol === oids.publicKeyDh || protocol === oids.publicKeyEcdh) {
    const key = info.at(1, "The chip authentication key", tags.sequence);
    return {
      protocol,
      bytes,
      kind: "chipAuthenticationPublicKey",
      subjectPublicKeyInfo: key.bytes,
      keyId: optionalIdOf(info),
    };
  }
  if (protocol === oids.activeAuthentication) {
    const signatureAlgorithm = info.at(2, "The algorithm of active authentication").oid();
    return { protocol, bytes, kind: "activeAuthentication", version: versionOf(info), signatureAlgorithm };
  }
  if (startsWithAny(protocol, belowPaceMappings)) {
    return { protocol, bytes, kind: "pace", version: versionOf(info), parameterId: optionalIdOf(info) };
  }
  if (paceMappings.includes(protocol)) {
    const domainParameter = info.at(1, "The domain parameters of PACE", tags.sequence).bytes;
    return {
      protocol,
      bytes,
      kind: "paceDomainParameters",
      domainParameter,
      parameterId: optionalIdOf(info),
    };
  }
  if (protocol === oids.terminalAuthentication) {
    return { protocol, bytes, kind: "terminalAuthentication", version: versionOf(info) };
  }
  return { protocol, bytes, kind: "unknown" };
}

function versionOf(info: Tlv): number {
  return info.at(1, "The version of a security info").smallInteger();
}

function optionalIdOf(info: Tlv): bigint | null {
  const node = info.children()[2];
  return node?.tag === tags.integer ? node.integer() : null;
}

function below(parent: string): string {
  return `${parent}.`;
}

function startsWithAny(protocol: string, beginnings: readonly string[]): boolean {
  for (const beginning of beginnings) if (protocol.startsWith(beginning)) return true;
  return false;
}

export type SecurityInfoContent =
  | {
      readonly kind: "chipAuthentication";
      readonly protocol: string;
      readonly version: number;
      readonly keyId?: bigint;
    }
  | {
      readonly kind: "chipAuthenticationPublicKey";
      readonly protocol: string;
      readonly subjectPublicKeyInfo: Uint8Array;
      readonly keyId?: bigint;
    }
  | { readonly kind: "activeAuthentication"; readonly signatureAlgorithm: string }
  | { readonly kind: "pace"; readonly protocol: string; readonly parameterId?: bigint }
  | {
      readonly kind: "paceDomainParameters";
      readonly protocol: string;
      readonly domainParameter: Uint8Array;
      readonly parameterId?: bigint;
    }
  | { readonly kind: "terminalAuthentication"; readonly version: number }
  | { readonly kind: "encoded"; readonly bytes: Uint8Array };

export function buildSecurityInfos(contents: readonly SecurityInfoContent[]): Uint8Array {
  return setOf(...contents.map(buildSecurityInfo));
}

function buildSecurityInfo(content: SecurityInfoContent): Uint8Array {
  const optional = (id: bigint | undefined) => (id === undefined ? [] : [integer(id)]);
  switch (content.kind) {
    case "chipAuthentication":
      return sequence(oid(content.protocol), integer(content.version), ...optional(content.keyId));
    case "chipAuthenticationPublicKey":
      return sequence(oid(content.protocol), content.subjectPublicKeyInfo, ...optional(content.keyId));
    case "activeAuthentication":
      return sequence(oid(oids.activeAuthentication), integer(1), oid(content.signatureAlgorithm));
    case "pace":
      return sequence(oid(content.protocol), integer(2), ...optional(content.parameterId));
    case "paceDomainParameters":
      return sequence(oid(content.protocol), content.domainParameter, ...optional(content.parameterId));
    case "terminalAuthentication":
      return sequence(oid(oids.terminalAuthentication), integer(content.version));
    case "encoded":
      return content.bytes;
  }
}
