import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { codestreamOf, jp2Of, jpegOf } from "../../test/support/images.ts";
import { oids } from "../ber/oid.ts";
import { integer, nullValue, octetString, oid, sequence, tlv, utf8String } from "../ber/write.ts";
import { concat, fromHex, latin1, toHex, uintBytes } from "../bytes.ts";
import type { DigestName } from "../crypto/digests.ts";
import { EmrtdError, type EmrtdErrorCode } from "../emrtd-error.ts";
import { buildCardAccess, readAtrInfo, readCardAccess, readCardSecurityContent } from "./card-files.ts";
import { buildCom } from "./com.ts";
import type { DataGroupNumber } from "./data-group.ts";
import { buildDg1, readDg1 } from "./dg1.ts";
import { buildDg2, readDg2 } from "./dg2.ts";
import { buildDg11, readFullDateOfBirth } from "./dg11.ts";
import { buildDg14, readDg14 } from "./dg14.ts";
import { buildDg15, readDg15 } from "./dg15.ts";
import { readImageInfo } from "./image.ts";
import { buildLdsSecurityObject, readLdsSecurityObject } from "./lds-security-object.ts";
import type { SecurityInfoContent } from "./security-infos.ts";
import { buildSod, readSodContent } from "./sod.ts";

const today = new Date("2026-11-15T12:00:00Z");

function fails(code: EmrtdErrorCode, run: () => unknown): void {
  assert.throws(run, (error: unknown) => error instanceof EmrtdError && error.code === code);
}

const dataGroups = fc.uniqueArray(
  fc.integer({ min: 1, max: 16 }).map((number) => number as DataGroupNumber),
  { minLength: 1 },
);

test("EF.COM is built as the sample of ICAO 9303-10", () => {
  const sample = fromHex("60 16 5F01 04 30313037 5F36 06 303430303030 5C 04 61 75 76 6C");
  assert.deepEqual(buildCom([1, 2, 4, 12]), sample);
});

test("DG1 holds the zone", () => {
  const lines = [
    "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<",
    "L898902C36UTO7408122F1204159ZE184226B<<<<<10",
  ];
  assert.deepEqual(readDg1(buildDg1(lines), today).lines, lines);
  fails("BER_INVALID", () => readDg1(concat(buildDg1(lines), Uint8Array.of(0)), today));
  fails("BER_INVALID", () => readDg1(tlv(0x62, latin1(lines.join(""))), today));
  fails("MRZ_INVALID", () => readDg1(buildDg1(["P<UTO"]), today));
});

test("images are measured from their own header", () => {
  for (const [image, kind] of [
    [jpegOf(413, 531), "jpeg"],
    [jp2Of(413, 531), "jp2"],
    [codestreamOf(413, 531), "j2k"],
  ] as const) {
    const info = readImageInfo(image);
    assert.deepEqual([info.kind, info.width, info.height], [kind, 413, 531]);
  }
});

test("images that cannot be portraits are refused before anybody decodes them", () => {
  for (const make of [jpegOf, jp2Of, codestreamOf]) {
    for (const [width, height] of [
      [0, 100],
      [8193, 1],
      [8000, 8000],
    ] as const) {
      fails("IMAGE_INVALID", () => readImageInfo(make(width, height)));
    }
    const whole = make(413, 531);
    for (let length = 0; length < whole.length - 30; length++) {
      assert.throws(() => readImageInfo(whole.subarray(0, length)), EmrtdError);
    }
  }
  const manyTiles = codestreamOf(4000, 4000);
  manyTiles.set(uintBytes(1, 4), 24);
  manyTiles.set(uintBytes(1, 4), 28);
  fails("IMAGE_INVALID", () => readImageInfo(manyTiles));
  fails("IMAGE_UNSUPPORTED", () => readImageInfo(latin1("GIF89a")));
  fails("IMAGE_UNSUPPORTED", () => readImageInfo(new Uint8Array(0)));
});

test("a JP2 file is measured by its codestream, whatever its header box says", () => {
  const image = jp2Of(413, 531);
  const lying = concat(image.subarray(0, image.length));
  const box = Array.from(lying, (_, index) => index).find(
    (index) => toHex(lying.subarray(index, index + 4)) === toHex(latin1("ihdr")),
  );
  assert.ok(box !== undefined);
  lying.set(uintBytes(10, 4), box + 4);
  assert.equal(readImageInfo(lying).height, 531);
});

test("the portrait comes back from both encodings, with every kind of image", () => {
  for (const encoding of ["ISO_19794_5", "ISO_39794_5"] as const) {
    for (const image of [jpegOf(413, 531), jp2Of(300, 400), codestreamOf(449, 598)]) {
      const dg2 = readDg2(buildDg2({ image, encoding }));
      assert.equal(dg2.faces.length, 1);
      assert.equal(dg2.faces[0].encoding, encoding);
      assert.deepEqual(dg2.faces[0].image, readImageInfo(image));
    }
  }
});

test("a face image data block is laid out as ISO/IEC 39794-5 says", () => {
  const image = jpegOf(413, 531);
  const dg2 = toHex(buildDg2({ image, encoding: "ISO_39794_5" }));
  const expected = ["a00780010381", "0207e3", "a1"].join("");
  assert.ok(dg2.includes(expected), "version block of generation 3, year 2019");
  assert.ok(dg2.includes(`a003800102a7088002019d81020213`), "JPEG, 413 by 531");
});

test("a bare face image data block is read as well as a wrapped one", () => {
  const wrapped = buildDg2({ image: jpegOf(413, 531), encoding: "ISO_39794_5" });
  const at = toHex(wrapped).indexOf("65", toHex(wrapped).indexOf("7f2e")) / 2;
  const bare = wrapped.subarray(at);
  const header = tlv(0xa1, tlv(0x87, fromHex("0101")), tlv(0x88, fromHex("002A")));
  for (const block of [tlv(0x7f2e, bare), tlv(0x5f2e, bare)]) {
    const dg2 = tlv(0x75, tlv(0x7f61, integer(1), tlv(0x7f60, header, block)));
    assert.equal(readDg2(dg2).faces[0].image.width, 413);
  }
});

/** Wraps a facial record unchanged. */
function dg2Around(record: Uint8Array, count = 1): Uint8Array {
  return tlv(0x75, tlv(0x7f61, integer(count), tlv(0x7f60, tlv(0xa1), tlv(0x5f2e, record))));
}

function record(parts: {
  length?: number;
  faceLength?: number;
  points?: number;
  type?: number;
  count?: number;
}): Uint8Array {
  const image = jpegOf(413, 531);
  const points = new Uint8Array((parts.points ?? 0) * 8);
  const faceLength = 32 + points.length + image.length;
  return concat(
    latin1("FAC\0" + "010\0"),
    uintBytes(parts.length ?? 14 + faceLength, 4),
    uintBytes(parts.count ?? 1, 2),
    uintBytes(parts.faceLength ?? faceLength, 4),
    uintBytes(parts.points ?? 0, 2),
    new Uint8Array(14),
    points,
    Uint8Array.of(1, parts.type ?? 0),
    uintBytes(413, 2),
    uintBytes(531, 2),
    new Uint8Array(6),
    image,
  );
}

test("feature points are passed over", () => {
  const dg2 = readDg2(dg2Around(record({ points: 12 })));
  assert.equal(dg2.faces[0].image.width, 413);
});

test("the portrait is read despite departures that real documents show", () => {
  const right = record({});
  const wrong = [{ length: right.length - 8 }, { faceLength: 0 }, { type: 1 }].map(record);
  for (const dg2 of [...wrong.map((one) => dg2Around(one)), dg2Around(right, 2)])
    assert.deepEqual(readDg2(dg2).faces[0].image, readImageInfo(jpegOf(413, 531)));
});

test("facial records that lie about what they hold are refused", () => {
  fails("LDS_INVALID", () => readDg2(dg2Around(record({ count: 0 }))));
  fails("LDS_INVALID", () => readDg2(dg2Around(record({ count: 65_535 }))));
  fails("LDS_INVALID", () => readDg2(dg2Around(record({ count: 2, faceLength: 0xffff_ffff }))));
  const pointsBeyondEnd = record({});
  pointsBeyondEnd.set(uintBytes(0xffff, 2), 18);
  fails("LDS_INVALID", () => readDg2(dg2Around(pointsBeyondEnd)));
  fails("LDS_UNSUPPORTED", () => readDg2(dg2Around(latin1("FAC\0" + "030\0aaaaaaaaaaaa"))));
  fails("LDS_UNSUPPORTED", () => readDg2(tlv(0x75, tlv(0x7f61, integer(1), tlv(0x7f60, tlv(0x7d))))));
  fails("LDS_INVALID", () => readDg2(tlv(0x75, tlv(0x7f61, integer(1)))));
});

test("an image hidden elsewhere in the group is never taken for the portrait", () => {
  const decoy = tlv(0x53, jpegOf(100, 100));
  const dg2 = tlv(
    0x75,
    tlv(0x7f61, integer(1), decoy, tlv(0x7f60, tlv(0xa1), decoy, tlv(0x5f2e, record({})))),
  );
  assert.equal(readDg2(dg2).faces[0].image.width, 413);
});

test("the date of birth of DG11 comes back, also as packed digits", () => {
  const birth = (...fields: Uint8Array[]) => readFullDateOfBirth(tlv(0x6b, ...fields));
  for (const fullDateOfBirth of ["19740812", "19740000"])
    assert.equal(readFullDateOfBirth(buildDg11({ fullDateOfBirth })), fullDateOfBirth);
  assert.equal(birth(tlv(0x5c, fromHex("5F0E")), tlv(0x5f2b, fromHex("19740812"))), "19740812");
  assert.equal(birth(tlv(0x5f2b, latin1("sometime"))), null);
  assert.equal(birth(tlv(0x5f0e, latin1("DOE<<JANE"))), null);
  assert.equal(readFullDateOfBirth(Uint8Array.of(0x6b)), null);
});

const publicKeyInfo = sequence(
  sequence(oid(oids.rsaEncryption), nullValue()),
  tlv(0x03, fromHex("00 30 06 02 01 03 02 01 03")),
);

test("DG14 comes back, and what it does not know is kept", () => {
  const contents: SecurityInfoContent[] = [
    { kind: "chipAuthentication", protocol: oids.chipAuthenticationEcdhAes128, version: 1, keyId: 7n },
    { kind: "chipAuthentication", protocol: oids.chipAuthenticationDh3Des, version: 1 },
    {
      kind: "chipAuthenticationPublicKey",
      protocol: oids.publicKeyEcdh,
      subjectPublicKeyInfo: publicKeyInfo,
      keyId: 7n,
    },
    { kind: "activeAuthentication", signatureAlgorithm: "0.4.0.127.0.7.1.1.4.1.3" },
    { kind: "pace", protocol: `${oids.paceEcdhGm}.2`, parameterId: 13n },
    { kind: "pace", protocol: `${oids.paceEcdhCam}.4`, parameterId: 16n },
    {
      kind: "paceDomainParameters",
      protocol: oids.paceDhGm,
      domainParameter: sequence(oid(oids.dhPublicNumber)),
      parameterId: 40n,
    },
    { kind: "terminalAuthentication", version: 1 },
    { kind: "encoded", bytes: sequence(oid(oids.cardInfo), utf8String("somewhere")) },
    { kind: "encoded", bytes: sequence(oid(oids.chipAuthenticationDh), sequence(oid(oids.dhPublicNumber))) },
  ];
  const infos = readDg14(buildDg14(contents));
  const kinds = infos.map((info) => info.kind).sort();
  assert.deepEqual(
    kinds,
    contents.map((content) => (content.kind === "encoded" ? "unknown" : content.kind)).sort(),
  );
  const chip = infos.find((info) => info.protocol === oids.chipAuthenticationEcdhAes128);
  assert.ok(chip?.kind === "chipAuthentication" && chip.keyId === 7n && chip.version === 1);
  const key = infos.find((info) => info.kind === "chipAuthenticationPublicKey");
  assert.deepEqual(key?.subjectPublicKeyInfo, publicKeyInfo);
  assert.deepEqual(
    readCardAccess(concat(buildCardAccess(contents), new Uint8Array(8))).length,
    contents.length,
  );
});

test("security infos that lack what their protocol needs are refused", () => {
  for (const info of [
    sequence(oid(oids.chipAuthenticationEcdhAes128)),
    sequence(oid(oids.publicKeyEcdh), integer(1)),
    sequence(oid(oids.activeAuthentication), integer(1)),
    sequence(integer(1)),
    integer(1),
  ]) {
    assert.throws(() => readDg14(tlv(0x6e, tlv(0x31, info))), EmrtdError);
  }
});

test("DG15 comes back", () => {
  assert.deepEqual(readDg15(buildDg15(publicKeyInfo)), publicKeyInfo);
  fails("BER_INVALID", () => readDg15(buildDg15(octetString(publicKeyInfo))));
});

test("EF.SOD and EF.CardSecurity are unwrapped without a change to their bytes", () => {
  const message = sequence(oid(oids.signedData));
  assert.deepEqual(readSodContent(buildSod(message)), message);
  assert.deepEqual(readCardSecurityContent(concat(message, new Uint8Array(5))), message);
  fails("BER_INVALID", () => readSodContent(message));
});

test("the security object comes back in both versions", () => {
  const sizes: Record<DigestName, number> = {
    "SHA-1": 20,
    "SHA-224": 28,
    "SHA-256": 32,
    "SHA-384": 48,
    "SHA-512": 64,
  };
  fc.assert(
    fc.property(
      dataGroups,
      fc.constantFrom<DigestName>("SHA-1", "SHA-224", "SHA-256", "SHA-384", "SHA-512"),
      fc.boolean(),
      (groups, digest, versioned) => {
        const hashes = new Map(groups.map((group) => [group, new Uint8Array(sizes[digest]).fill(group)]));
        const versions = { ldsVersion: "0108", unicodeVersion: "040000" };
        const object = readLdsSecurityObject(
          buildLdsSecurityObject({ digest, hashes, ...(versioned ? { versions } : {}) }),
        );
        assert.equal(object.version, versioned ? 1 : 0);
        assert.equal(object.digest, digest);
        assert.equal(object.ldsVersion, versioned ? "0108" : null);
        assert.deepEqual(object.hashes.size, hashes.size);
        for (const [group, hash] of hashes) assert.deepEqual(object.hashes.get(group), hash);
      },
    ),
  );
});

test("a security object that could be read in two ways is refused", () => {
  const hash = createHash("sha256").digest();
  const algorithm = sequence(oid("2.16.840.1.101.3.4.2.1"), nullValue());
  const entry = (number: number, bytes: Uint8Array) => sequence(integer(number), octetString(bytes));
  const object = (...entries: Uint8Array[]) => sequence(integer(0), algorithm, sequence(...entries));
  assert.equal(readLdsSecurityObject(object(entry(1, hash))).hashes.size, 1);
  fails("LDS_INVALID", () => readLdsSecurityObject(object(entry(1, hash), entry(1, hash))));
  fails("LDS_INVALID", () => readLdsSecurityObject(object(entry(17, hash))));
  fails("LDS_INVALID", () => readLdsSecurityObject(object(entry(0, hash))));
  fails("LDS_INVALID", () => readLdsSecurityObject(object(entry(1, hash.subarray(1)))));
  fails("LDS_INVALID", () => readLdsSecurityObject(object()));
  fails("LDS_UNSUPPORTED", () =>
    readLdsSecurityObject(sequence(integer(2), algorithm, sequence(entry(1, hash)))),
  );
  fails("ALGORITHM_UNSUPPORTED", () =>
    readLdsSecurityObject(sequence(integer(0), sequence(oid("1.2.3")), sequence(entry(1, hash)))),
  );
});

test("EF.ATR/INFO tells how long commands may be", () => {
  const info = readAtrInfo(fromHex("47 03 B4 C5 C0 7F66 08 02 02 0400 02 02 0200 00 00 00"));
  assert.deepEqual(info, { maxCommandBytes: 1024, maxResponseBytes: 512, extendedLength: true });
  assert.deepEqual(readAtrInfo(new Uint8Array(0)), {
    maxCommandBytes: null,
    maxResponseBytes: null,
    extendedLength: null,
  });
  assert.equal(readAtrInfo(fromHex("47 03 B4 C5 80")).extendedLength, false);
  fails("BER_TRUNCATED", () => readAtrInfo(fromHex("7F66 08 02")));
});

test("files beyond any real size are refused unread", () => {
  fails("LDS_TOO_LARGE", () => readDg2(new Uint8Array(2 * 1024 * 1024)));
});
