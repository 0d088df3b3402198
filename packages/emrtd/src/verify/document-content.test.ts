import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFiles, today, withGroup } from "../../test/support/test-country.ts";
import { oids } from "../ber/oid.ts";
import { type EmrtdErrorCode, isEmrtdError } from "../emrtd-error.ts";
import { maxFileBytes } from "../lds/lds-file.ts";
import { type DocumentFiles, readDocumentContent, readSecurityObjectFile } from "./document-content.ts";

const files = makeFiles({ chipAuthentication: "ecdh_aes128", activeAuthentication: "rsa" });

function refuses(read: () => unknown, code: EmrtdErrorCode): void {
  assert.throws(read, (error) => isEmrtdError(error) && error.code === code);
}

const readWith = (changed: DocumentFiles) => () => readDocumentContent(changed, today);

test("files that are larger than any document's are not read", () => {
  refuses(() => readSecurityObjectFile(new Uint8Array(64 * 1024 + 1)), "LDS_TOO_LARGE");
  refuses(readWith(withGroup(files, 1, new Uint8Array(257))), "LDS_TOO_LARGE");
  refuses(readWith(withGroup(files, 7, new Uint8Array(maxFileBytes + 1))), "LDS_TOO_LARGE");
  const isReadAtAll = (error: unknown) => isEmrtdError(error) && error.code !== "LDS_TOO_LARGE";
  assert.throws(readWith(withGroup(files, 1, new Uint8Array(256))), isReadAtAll);
  assert.throws(() => readSecurityObjectFile(new Uint8Array(64 * 1024)), isReadAtAll);
});

test("a group that is missing, or is not what it is called, is an error", () => {
  refuses(readWith(withGroup(files, 1, null)), "LDS_INVALID");
  refuses(readWith(withGroup(files, 2, null)), "LDS_INVALID");
  refuses(readWith(withGroup(files, 7, files.dataGroups.get(1) ?? null)), "BER_INVALID");
});

test("content of another kind, signed as it may be, is no list of hashes; that of early documents is", () => {
  const signed = (contentType: string) => makeFiles({ signing: { quirks: { contentType } } }).sod;
  refuses(() => readSecurityObjectFile(signed(oids.cscaMasterList)), "LDS_INVALID");
  for (const contentType of ["1.3.27.1.1.1", "1.2.528.1.1006.1.20.1"])
    assert.equal(readSecurityObjectFile(signed(contentType)).legacyContentType, true);
  assert.equal(readSecurityObjectFile(files.sod).legacyContentType, false);
});

test("keys of the chip count where the state signed their group, and a group that cannot be read never passes", () => {
  const { chipKeys } = readDocumentContent(files, today);
  assert.ok(chipKeys.securityInfos !== null && chipKeys.activeAuthenticationKey !== null);
  const unsigned = readDocumentContent({ ...files, sod: makeFiles().sod }, today).chipKeys;
  assert.deepEqual(unsigned, { securityInfos: null, activeAuthenticationKey: null });
  for (const number of [14, 15] as const) {
    const broken = files.dataGroups.get(number)?.slice() ?? assert.fail();
    broken.fill(0xff, 8);
    assert.throws(readWith(withGroup({ ...files, sod: makeFiles().sod }, number, broken)), isEmrtdError);
    const without = readDocumentContent(withGroup(files, number, null), today).chipKeys;
    assert.equal(number === 14 ? without.securityInfos : without.activeAuthenticationKey, null);
  }
});
