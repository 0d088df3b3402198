import assert from "node:assert/strict";
import { test } from "node:test";
import { StatusList as ForeignList } from "@owf/token-status-list";
import { CompactSign } from "jose";
import { anchorOf, issuerOf, newAuthority, newSigner, now, seconds } from "../../test/support/pid.ts";
import { toBase64, toBase64Url } from "../base64url.ts";
import { utf8 } from "../bytes.ts";
import { CredentialError } from "../credential-error.ts";
import { deflate, issueStatusList, packStatuses, type StatusListOrder } from "./issue-status-list.ts";
import { readStatusList } from "./read-status-list.ts";
import { maxEntriesBytes, type StatusListOptions, statusAt, statusBits } from "./status-list.ts";

const authority = await newAuthority();
const signer = await newSigner(authority);
const uri = "https://pid.example/status/1";
const options: StatusListOptions = { uri, anchors: [anchorOf(authority)], purpose: "pid", now };
const order: StatusListOrder = {
  uri,
  bits: 1,
  size: 1000,
  statuses: new Map([[412, 1]]),
  issuedAt: now,
  expiresAt: new Date("2026-11-19T12:00:00Z"),
  ttlSeconds: 3600,
};
const issued = (more: Partial<StatusListOrder> = {}) =>
  issueStatusList({ ...order, ...more }, issuerOf(signer));

/**
 * Lists of the Token Status List draft, from ReadStatusTestVectors.kt of eudi-lib-kmp-statium (Apache-2.0).
 */
const vectors = [
  {
    bits: 1,
    lst: "eNrt3AENwCAMAEGogklACtKQPg9LugC9k_ACvreiogEAAKkeCQAAAAAAAAAAAAAAAAAAAIBylgQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAXG9IAAAAAAAAAPwsJAAAAAAAAAAAAAAAvhsSAAAAAAAAAAAA7KpLAAAAAAAAAAAAAAAAAAAAAJsLCQAAAAAAAAAAADjelAAAAAAAAAAAKjDMAQAAAACAZC8L2AEb",
    revoked: [0, 1993, 25460, 159495, 495669, 554353, 645645, 723232, 854545, 934534, 1000345],
    suspended: [],
    unknown: [],
  },
  {
    bits: 2,
    lst: "eNrt2zENACEQAEEuoaBABP5VIO01fCjIHTMStt9ovGVIAAAAAABAbiEBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEB5WwIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAID0ugQAAAAAAAAAAAAAAAAAQG12SgAAAAAAAAAAAAAAAAAAAAAAAAAAAOCSIQEAAAAAAAAAAAAAAAAAAAAAAAD8ExIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAwJEuAQAAAAAAAAAAAAAAAAAAAAAAAMB9SwIAAAAAAAAAAAAAAAAAAACoYUoAAAAAAAAAAAAAAEBqH81gAQw",
    revoked: [0, 25460, 495669, 554353, 723232, 854545],
    suspended: [1993, 645645, 934534],
    unknown: [159495, 1000345],
  },
  {
    bits: 4,
    lst: "eNrt0EENgDAQADAIHwImkIIEJEwCUpCEBBQRHOy35Li1EjoOQGabAgAAAAAAAAAAAAAAAAAAACC1SQEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABADrsCAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADoxaEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIIoCgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACArpwKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAGhqVkAzlwIAAAAAiGVRAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABx3AoAgLpVAQAAAAAAAAAAAAAAwM89rwMAAAAAAAAAAAjsA9xMBMA",
    revoked: [0],
    suspended: [1993],
    unknown: [35460, 459495, 595669, 754353, 845645, 923232, 924445, 934534, 1004534, 1000345, 1030205],
  },
] as const;

async function signed(claims: object, header: object = {}): Promise<string> {
  return new CompactSign(utf8(JSON.stringify(claims)))
    .setProtectedHeader({
      alg: "ES256",
      typ: "statuslist+jwt",
      x5c: [toBase64(signer.certificate)],
      ...header,
    })
    .sign(signer.privateKey);
}
const claimsWith = (status_list: object, more: object = {}) => ({
  sub: uri,
  iat: seconds(now),
  status_list,
  ...more,
});

async function codeOf(token: string | Uint8Array, more: Partial<StatusListOptions> = {}): Promise<string> {
  try {
    await readStatusList(token, { ...options, ...more });
    return "read";
  } catch (error) {
    assert.ok(error instanceof CredentialError, String(error));
    return error.code;
  }
}

test("the lists of the specification are read as it says", async () => {
  for (const { bits, lst, revoked, suspended, unknown } of vectors) {
    const list = await readStatusList(await signed(claimsWith({ bits, lst })), options);
    for (const index of revoked) assert.equal(statusAt(list, index), "revoked", `${bits} ${index}`);
    for (const index of suspended) assert.equal(statusAt(list, index), "suspended", `${bits} ${index}`);
    for (const index of unknown) assert.equal(statusAt(list, index), "unknown", `${bits} ${index}`);
    for (const index of [1, 1992, 1994, 1000344]) assert.equal(statusAt(list, index), "valid");
    assert.equal(list.entries.length, (2 ** 20 * bits) / 8);
  }
});

test("a list of each size gives each status, and nothing beyond its end", async () => {
  for (const bits of statusBits) {
    const statuses = new Map([
      [0, 1],
      [7, bits === 1 ? 1 : 2],
      [999, 1],
    ]);
    const list = await readStatusList(await issued({ bits, statuses }), options);
    assert.equal(statusAt(list, 0), "revoked");
    assert.equal(statusAt(list, 7), bits === 1 ? "revoked" : "suspended");
    assert.equal(statusAt(list, 999), "revoked");
    assert.equal(statusAt(list, 8), "valid");
    for (const index of [1000, -1, 1.5, Number.NaN, 2 ** 60]) assert.equal(statusAt(list, index), "unknown");
    assert.equal(list.ttlSeconds, 3600);
    assert.deepEqual([list.issuedAt, list.expiresAt], [now, order.expiresAt]);
  }
});

test("@owf/token-status-list reads our lists, and ours reads theirs", async () => {
  for (const bits of statusBits) {
    const values = Array.from({ length: 96 }, (_, index) => (index * 7) % 2 ** bits);
    const theirs = toBase64Url(new ForeignList(values, bits).compressStatusListToBytes());
    const list = await readStatusList(await signed(claimsWith({ bits, lst: theirs })), options);
    const meanings = ["valid", "revoked", "suspended"];
    for (const [index, value] of values.entries()) {
      assert.equal(statusAt(list, index), meanings[value] ?? "unknown", `${bits} ${index}`);
    }
    const packed = packStatuses({ bits, size: values.length, statuses: new Map(values.entries()) });
    const read = ForeignList.decompressStatusListFromBytes(await deflate(packed), bits);
    assert.deepEqual(
      values.map((_, index) => read.getStatus(index)),
      values,
    );
  }
});

test("a token counts from a signer of the same purpose only, as text and as bytes", async () => {
  const token = await issued();
  assert.equal(await codeOf(token), "read");
  assert.equal(await codeOf(utf8(token)), "read");
  assert.equal(await codeOf(token, { purpose: "mdl" }), "signature");
  assert.equal(await codeOf(token, { anchors: [anchorOf(await newAuthority("CN=Other"))] }), "signature");
  const [header, , signature] = token.split(".");
  const claims = toBase64Url(utf8(JSON.stringify(claimsWith({ bits: 1, lst: "eNpjAAAAAQAB" }))));
  assert.equal(await codeOf(`${header}.${claims}.${signature}`), "signature");
  assert.equal(await codeOf(await signed(claimsWith({}), { x5c: undefined })), "signature");
});

test("a token of another address, kind or time is refused", async () => {
  const lst = toBase64Url(await deflate(new Uint8Array(8)));
  const code = async (more: object, header: object = {}) =>
    codeOf(await signed(claimsWith({ bits: 1, lst }, more), header));
  assert.equal(await code({}), "read");
  assert.equal(await code({ sub: "https://pid.example/status/2" }), "malformed");
  assert.equal(await code({ sub: undefined }), "malformed");
  assert.equal(await code({}, { typ: "JWT" }), "malformed");
  assert.equal(await code({ iat: undefined }), "malformed");
  assert.equal(await code({ iat: seconds(now, 3600) }), "malformed");
  assert.equal(await code({ exp: seconds(now) }), "expired");
  assert.equal(await code({ exp: seconds(now, 1) }), "read");
  for (const ttl of [0, -1, "1"]) assert.equal(await code({ ttl }), "malformed");
});

test("a list that does not inflate, or to more than 16 MiB, is refused", async () => {
  const code = async (status_list: object) => codeOf(await signed(claimsWith(status_list)));
  const whole = await deflate(new Uint8Array(100));
  for (const lst of ["", "AAAA", "eNpjAAAA", toBase64Url(whole.slice(0, -3)), 1]) {
    assert.equal(await code({ bits: 1, lst }), "malformed", String(lst));
  }
  for (const bits of [0, 3, 16, "1", undefined]) {
    assert.equal(await code({ bits, lst: toBase64Url(whole) }), "malformed", String(bits));
  }
  const most = await deflate(new Uint8Array(maxEntriesBytes));
  assert.equal(await code({ bits: 8, lst: toBase64Url(most) }), "read");
  const bomb = await deflate(new Uint8Array(maxEntriesBytes + 1));
  assert.equal(await code({ bits: 8, lst: toBase64Url(bomb) }), "too_large");
  for (const token of ["", "..", "a.b.c", utf8("ey"), new Uint8Array(3)]) {
    assert.ok(["malformed", "not_supported"].includes(await codeOf(token)));
  }
});
