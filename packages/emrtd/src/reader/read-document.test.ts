import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleFiles, sampleKey } from "../../test/support/sample-document.ts";
import { today } from "../../test/support/test-country.ts";
import { createVirtualChip } from "../virtual/virtual-chip.ts";
import { openChip } from "./open-chip.ts";
import { readDocument } from "./read-document.ts";

test("the files of a document are read, and only those that may be absent may be absent", async () => {
  const { DG1, DG2, SOD, COM } = sampleFiles();
  assert.ok(DG1 !== undefined && DG2 !== undefined && SOD !== undefined && COM !== undefined);
  const read = async (files: Parameters<typeof createVirtualChip>[0]["files"]) =>
    readDocument(await openChip(createVirtualChip({ files, mrzKey: sampleKey }), { mrz: sampleKey }), today);
  assert.deepEqual(Object.keys(await read({ DG1, DG2, SOD, COM })).sort(), ["DG1", "DG2", "SOD"]);
  assert.deepEqual(Object.keys(await read({ DG1, DG2, SOD })).sort(), ["DG1", "DG2", "SOD"]);
  await assert.rejects(read({ DG1, SOD }), { code: "FILE_NOT_FOUND" });
});

test("of a reading that fails, nothing is left in the memory of the reader", async () => {
  const files = sampleFiles();
  const chip = await openChip(createVirtualChip({ files, mrzKey: sampleKey }), { mrz: sampleKey });
  const read: Uint8Array[] = [];
  const failing = {
    readFile: async (name: Parameters<typeof chip.readFile>[0]) => {
      if (name === "DG2") throw new Error("the document was taken away");
      const file = await chip.readFile(name);
      assert.notEqual(file.at(-1), undefined);
      read.push(file);
      return file;
    },
  } as unknown as typeof chip;
  await assert.rejects(readDocument(failing, new Date("2026-03-01T00:00:00Z")), /taken away/);
  assert.ok(read.length >= 2);
  for (const file of read) assert.ok(file.every((byte) => byte === 0));
});
