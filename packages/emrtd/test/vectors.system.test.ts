import assert from "node:assert/strict";
import { createHash, createPublicKey } from "node:crypto";
import { test } from "node:test";
import { readWhole } from "../src/ber/read.ts";
import { toHex } from "../src/bytes.ts";
import type { DataGroupNumber } from "../src/lds/data-group.ts";
import { readDg1 } from "../src/lds/dg1.ts";
import { readDg2 } from "../src/lds/dg2.ts";
import { readDg14 } from "../src/lds/dg14.ts";
import { readDg15 } from "../src/lds/dg15.ts";
import { type LdsSecurityObject, readLdsSecurityObject } from "../src/lds/lds-security-object.ts";
import { readSodContent } from "../src/lds/sod.ts";
import { isoDate } from "../src/mrz/mrz-date.ts";
import { readVector, skipWithoutVectors } from "./support/vectors.ts";

const today = new Date("2026-11-15T12:00:00Z");
const options = { skip: skipWithoutVectors };

function securityObjectOf(file: string): LdsSecurityObject {
  const signedData = readWhole(readSodContent(readVector(file)))
    .at(1, "content")
    .at(0, "signed data");
  const content = signedData.at(2, "encapsulated content").at(1, "content").at(0, "octets");
  return readLdsSecurityObject(content.octetString());
}

test("independent vectors: the test passport's DG1 is read", options, () => {
  const mrz = readDg1(readVector("test-passport/Datagroup1.bin"), today);
  assert.equal(mrz.checkDigitsAgree, true);
  assert.equal(mrz.issuingState, "D");
  assert.deepEqual(mrz.name, { primary: "MUSTERMANN", secondary: "ERIKA", mayBeTruncated: false });
  assert.equal(mrz.documentNumber, "C11T002JM");
  assert.equal(isoDate(mrz.dateOfBirth), "1996-08-12");
  assert.equal(isoDate(mrz.dateOfExpiry), "2023-10-31");
});

test("independent vectors: the test passport's portrait is found", options, () => {
  const dg2 = readDg2(readVector("test-passport/Datagroup2.bin"));
  const { image, encoding } = dg2.faces[0];
  assert.equal(encoding, "ISO_19794_5");
  assert.deepEqual([image.kind, image.width, image.height], ["jp2", 413, 531]);
  assert.equal(toHex(image.bytes.subarray(4, 8)), "6a502020");
  assert.equal(toHex(image.bytes.subarray(-2)), "ffd9", "ends with the end of its codestream");
});

test("independent vectors: the test passport's keys are found", options, () => {
  const infos = readDg14(readVector("test-passport/Datagroup14.bin"));
  assert.deepEqual(infos.map((info) => info.kind).sort(), [
    "chipAuthentication",
    "chipAuthenticationPublicKey",
    "terminalAuthentication",
  ]);
  const key = infos.find((info) => info.kind === "chipAuthenticationPublicKey");
  assert.ok(key?.kind === "chipAuthenticationPublicKey");
  assert.deepEqual(key.subjectPublicKeyInfo, readVector("test-passport/DG14_pk.bin"));
  const dg15 = readDg15(readVector("test-passport/Datagroup15.bin"));
  assert.deepEqual(dg15, readVector("test-passport/DG15_pk.bin"));
  const der = Buffer.from(dg15);
  assert.equal(
    createPublicKey({ key: der, format: "der", type: "spki" }).asymmetricKeyDetails?.modulusLength,
    1024,
  );
});

test("independent vectors: the test passport's hashes agree with its data groups", options, () => {
  const object = securityObjectOf("test-passport/EF_SOD.bin");
  assert.deepEqual([...object.hashes.keys()], [1, 2, 3, 14, 4], "in the order of the list");
  for (const number of [1, 2, 14] as const) {
    const hash = createHash(object.digest.replace("-", "").toLowerCase())
      .update(readVector(`test-passport/Datagroup${number}.bin`))
      .digest("hex");
    assert.equal(hash, toHex(object.hashes.get(number) ?? new Uint8Array(0)));
  }
});

test("independent vectors: the security objects of eight states are read", options, () => {
  const expected: readonly [string, LdsSecurityObject["digest"], 0 | 1, readonly DataGroupNumber[]][] = [
    ["AT", "SHA-256", 0, [1, 2, 3, 11, 12, 14]],
    ["DE", "SHA-384", 1, [1, 2, 3, 14]],
    ["FI", "SHA-512", 1, [1, 2, 3, 7, 14]],
    ["FR", "SHA-256", 0, [1, 2, 3, 11, 12, 13, 14]],
  ];
  for (const [state, digest, version, groups] of expected) {
    const object = securityObjectOf(`sod/${state}.sod`);
    assert.deepEqual(
      [object.digest, object.version, [...object.hashes.keys()]],
      [digest, version, groups],
      state,
    );
  }
  for (const state of ["MY", "NZ", "UK", "US"]) {
    assert.ok(securityObjectOf(`sod/${state}.sod`).hashes.has(2), state);
  }
});
