import { oidFromBytes, oids } from "../src/ber/oid.ts";
import { readTlv, type Tlv } from "../src/ber/read.ts";
import {
  bitString,
  boolean,
  contextTag,
  generalizedTime,
  integer,
  nullValue,
  octetString,
  oid,
  printableString,
  sequence,
  setOf,
  tlv,
  utcTime,
  utf8String,
} from "../src/ber/write.ts";
import { concat, fromHex, fromLatin1, latin1 } from "../src/bytes.ts";
import { isEmrtdError } from "../src/emrtd-error.ts";
import {
  buildCardAccess,
  readAtrInfo,
  readCardAccess,
  readCardSecurityContent,
} from "../src/lds/card-files.ts";
import { buildDg1, readDg1 } from "../src/lds/dg1.ts";
import { buildDg2, readDg2 } from "../src/lds/dg2.ts";
import { buildDg11, readFullDateOfBirth } from "../src/lds/dg11.ts";
import { buildDg14, readDg14 } from "../src/lds/dg14.ts";
import { buildDg15, readDg15 } from "../src/lds/dg15.ts";
import { readImageInfo } from "../src/lds/image.ts";
import { buildLdsSecurityObject, readLdsSecurityObject } from "../src/lds/lds-security-object.ts";
import { parseSecurityInfos, type SecurityInfoContent } from "../src/lds/security-infos.ts";
import { buildSod, readSodContent } from "../src/lds/sod.ts";
import { keyFieldsFromTyped, mrzInformation } from "../src/mrz/mrz-key.ts";
import { keyFieldsOf, parseMrz } from "../src/mrz/parse-mrz.ts";
import { repairMrz } from "../src/mrz/repair-mrz.ts";
import { codestreamOf, jp2Of, jpegOf } from "../test/support/images.ts";
import type { ChipReader } from "./mutate.ts";

const today = new Date("2026-11-15T12:00:00Z");

const zones = [
  "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\nL898902C36UTO7408122F1204159ZE184226B<<<<<10",
  "I<UTOD231458907<<<<<<<<<<<<<<<\n7408122F1204159UTO<<<<<<<<<<<6\nERIKSSON<<ANNA<MARIA<<<<<<<<<<",
  "I<UTOD23145890<7349<<<<<<<<<<<\n3407127M9507122UTO<<<<<<<<<<<2\nSTEVENSON<<PETER<JOHN<<<<<<<<<",
  "I<UTOSTEVENSON<<PETER<JOHN<<<<<<<<<<\nD23145890<UTO3407127M95071227349<<<8",
];

const publicKeyInfo = sequence(
  sequence(oid(oids.rsaEncryption), nullValue()),
  bitString(sequence(integer(1n << 1023n), integer(65_537))),
);

const securityInfos: readonly SecurityInfoContent[] = [
  { kind: "chipAuthentication", protocol: oids.chipAuthenticationEcdhAes128, version: 1, keyId: 7n },
  {
    kind: "chipAuthenticationPublicKey",
    protocol: oids.publicKeyEcdh,
    subjectPublicKeyInfo: publicKeyInfo,
    keyId: 7n,
  },
  { kind: "activeAuthentication", signatureAlgorithm: "0.4.0.127.0.7.1.1.4.1.3" },
  { kind: "pace", protocol: `${oids.paceEcdhGm}.2`, parameterId: 13n },
  {
    kind: "paceDomainParameters",
    protocol: oids.paceDhGm,
    domainParameter: sequence(oid(oids.dhPublicNumber)),
  },
  { kind: "terminalAuthentication", version: 1 },
];

/** Every type that the BER reader knows, once in DER and once with indefinite lengths. */
const everyType = [
  sequence(
    integer(-5n),
    boolean(true),
    oid("2.5.29.15"),
    octetString(sequence(integer(1))),
    bitString(fromHex("A0"), 5),
    utf8String("text"),
    printableString("text"),
    tlv(0x1e, fromHex("00410042")),
    tlv(0x1c, fromHex("00000041")),
    utcTime(today),
    generalizedTime(today),
    setOf(nullValue(), integer(3)),
    contextTag(0, octetString(latin1("piece"))),
  ),
  fromHex("30 80 24 80 04 02 AABB 04 01 CC 00 00 A0 80 02 01 05 00 00 06 03 2A 03 04 00 00"),
];

/** Calls every accessor on every element. Only the package's errors do not end the walk. */
function walk(node: Tlv): void {
  const accessors = [
    () => node.oid(),
    () => node.integer(),
    () => node.smallInteger(),
    () => node.unsignedBytes(),
    () => node.boolean(),
    () => node.octetString(),
    () => node.implicitOctetString(),
    () => node.bitString(),
    () => node.text(),
    () => node.time(),
  ];
  for (const accessor of accessors) {
    try {
      accessor();
    } catch (error) {
      if (!isEmrtdError(error)) throw error;
    }
  }
  if (!node.constructed) return;
  for (const child of node.iterate()) walk(child);
}

const images = () => [jpegOf(413, 531), jp2Of(413, 531), codestreamOf(413, 531)];
const dg2Seeds = () =>
  images().flatMap((image) =>
    (["ISO_19794_5", "ISO_39794_5"] as const).map((encoding) => buildDg2({ image, encoding })),
  );

export const dataReaders: readonly ChipReader[] = [
  { name: "ber", read: (bytes) => walk(readTlv(bytes, 0, { maxNodes: 5000 })), seeds: () => everyType },
  { name: "oid", read: oidFromBytes, seeds: () => [fromHex("2A864886F70D010702"), fromHex("8837")] },
  {
    name: "mrz",
    isText: true,
    read: (bytes) => mrzInformation(keyFieldsOf(parseMrz(bytes, today))),
    seeds: () => zones.map((zone) => latin1(zone.replaceAll("\n", ""))),
  },
  {
    name: "mrz-repair",
    isText: true,
    // Every character may also be a filler, a zero or an O.
    read: (bytes) => {
      const lines = fromLatin1(bytes).split("\n");
      const others = [..."<0O"].map((character, cost) => ({ character, cost }));
      const doubts = lines.map((line) => [...line].map(() => others));
      const format = lines.length === 3 ? "TD1" : lines[0]?.length === 36 ? "TD2" : "TD3";
      return repairMrz(lines, format, doubts, today);
    },
    seeds: () => zones.map(latin1),
  },
  {
    name: "mrz-typed",
    isText: true,
    read: (bytes) => {
      const [documentNumber = "", dateOfBirth = "", dateOfExpiry = ""] = fromLatin1(bytes).split("|");
      return mrzInformation(keyFieldsFromTyped({ documentNumber, dateOfBirth, dateOfExpiry }));
    },
    seeds: () => ["L898902C3|1974-08-12|2012-04-15", "D23145890734|340712|950712"].map(latin1),
  },
  {
    name: "dg1",
    read: (bytes) => readDg1(bytes, today),
    seeds: () => zones.map((zone) => buildDg1(zone.split("\n"))),
  },
  { name: "dg2", read: readDg2, seeds: dg2Seeds },
  {
    name: "dg11-birth",
    read: readFullDateOfBirth,
    seeds: () => [buildDg11({ fullDateOfBirth: "19740812" }), buildDg11({ fullDateOfBirth: "20150301" })],
  },
  { name: "dg14", read: readDg14, seeds: () => [buildDg14(securityInfos)] },
  { name: "dg15", read: readDg15, seeds: () => [buildDg15(publicKeyInfo)] },
  { name: "card-access", read: readCardAccess, seeds: () => [buildCardAccess(securityInfos)] },
  { name: "security-infos", read: parseSecurityInfos, seeds: () => [buildCardAccess(securityInfos)] },
  {
    name: "card-security",
    read: readCardSecurityContent,
    seeds: () => [concat(sequence(oid(oids.signedData)), new Uint8Array(4))],
  },
  {
    name: "atr-info",
    read: readAtrInfo,
    seeds: () => [
      fromHex("43 01 B8 47 03 B4 C5 C0 7F66 08 02 02 0400 02 02 0200 00 00"),
      fromHex("43 01 B8 47 03 B4 C5 80 00 00"),
      fromHex("7F66 0A 02 03 01 00 00 02 03 01 00 00 FF FF"),
    ],
  },
  {
    name: "sod",
    read: readSodContent,
    seeds: () => [buildSod(sequence(oid(oids.signedData), contextTag(0)))],
  },
  {
    name: "lds-security-object",
    read: readLdsSecurityObject,
    seeds: () => [
      buildLdsSecurityObject({
        digest: "SHA-256",
        hashes: new Map([1, 2, 14].map((group) => [group as 1 | 2 | 14, new Uint8Array(32)])),
        versions: { ldsVersion: "0108", unicodeVersion: "040000" },
      }),
    ],
  },
  { name: "image", read: readImageInfo, seeds: images },
];
