import assert from "node:assert/strict";
import { test } from "node:test";
import type { Config } from "../../config.ts";
import { canReadDocuments } from "./reading-ways.ts";

test("one way to read documents is enough: an app for either kind of phone, or desks", () => {
  const none = { readerAppAndroid: null, readerAppIos: null, deskReaders: false };
  const app = {} as NonNullable<Config["readerAppAndroid"]> & NonNullable<Config["readerAppIos"]>;
  assert.equal(canReadDocuments(none), false);
  assert.equal(canReadDocuments({ ...none, readerAppAndroid: app }), true);
  assert.equal(canReadDocuments({ ...none, readerAppIos: app }), true);
  assert.equal(canReadDocuments({ ...none, deskReaders: true }), true);
});
