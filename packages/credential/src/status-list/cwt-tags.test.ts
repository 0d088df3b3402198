import assert from "node:assert/strict";
import { test } from "node:test";
import { anchorOf, newAuthority, newSigner, now, seconds } from "../../test/support/pid.ts";
import { encode } from "../cbor/encode.ts";
import { type CborKey, CborTag, type CborValue } from "../cbor/value.ts";
import { signSign1 } from "../cose/sign1.ts";
import { CredentialError } from "../credential-error.ts";
import { deflate } from "./issue-status-list.ts";
import { readCwtStatusList } from "./read-cwt-status-list.ts";

test("a list is a signed structure: one under the tag of another is refused", async () => {
  const authority = await newAuthority();
  const signer = await newSigner(authority);
  const uri = "https://pid.example/status/1";
  const list = new Map<CborKey, CborValue>([
    ["bits", 1],
    ["lst", await deflate(new Uint8Array(8))],
  ]);
  const sign1 = await signSign1({
    key: signer,
    payload: encode(
      new Map<CborKey, CborValue>([
        [2, uri],
        [6, seconds(now)],
        [65533, list],
      ]),
    ),
    protectedHeaders: new Map([[16, "statuslist+cwt"]]),
    unprotectedHeaders: new Map([[33, signer.certificate]]),
  });
  const options = { uri, anchors: [anchorOf(authority)], purpose: "pid", now } as const;
  const read = (value: CborValue) => readCwtStatusList(encode(value), options);
  for (const good of [sign1, new CborTag(18, sign1), new CborTag(61, new CborTag(18, sign1))])
    assert.equal((await read(good)).bits, 1);
  for (const tag of [17, 16, 98, 24])
    for (const other of [new CborTag(tag, sign1), new CborTag(61, new CborTag(tag, sign1))])
      await assert.rejects(
        read(other),
        (error) => error instanceof CredentialError && error.code === "malformed",
        String(tag),
      );
});
