import assert from "node:assert/strict";
import test from "node:test";
import type { ChipTransport } from "@assay/emrtd/apdu/transport";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import { testDocument } from "@assay/emrtd/node/test-country/catalogue";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import type { ReadStep } from "./device-state.ts";
import { openDocument } from "./open-document.ts";
import { virtualPassport } from "./virtual-passport.ts";

const passport = testDocument("passport-valid", new Date("2026-03-01T00:00:00Z"));
assert.ok(passport);
const { files, chip } = passport;
const key = { mrz: chip.mrzKey };
const wrongKey = { ...chip.mrzKey, documentNumber: "X00000000" };

/** A reader in whose field the chip is lost at the commands with these numbers, and is back for the next. */
function shaking(losses: readonly number[]): ChipTransport & { commands: () => number } {
  const inner = createVirtualChip({ files, ...chip });
  let number = 0;
  return {
    ...inner,
    commands: () => number,
    transceive: async (command) => {
      number += 1;
      if (!losses.includes(number)) return await inner.transceive(command);
      await inner.reset();
      throw new Error("Tag was lost");
    },
  };
}

const isLost = (error: unknown) => isEmrtdError(error) && error.code === "CHIP_LOST";
const noStep = () => {};

test("a reading tells what it is at, and how far it is with the data and the portrait", async () => {
  const steps: ReadStep[] = [];
  const opened = await virtualPassport({ files, chip })((step) => steps.push(step));
  const read = await opened.readFiles();
  assert.deepEqual(read.DG1, files.DG1);
  const ats = steps.map(({ at }) => at).filter((at, index, all) => at !== all[index - 1]);
  assert.deepEqual(ats, ["connecting", "opening", "data", "portrait"]);
  assert.deepEqual(steps.at(-1), {
    at: "portrait",
    readBytes: files.DG2?.length,
    totalBytes: files.DG2?.length,
  });
  opened.release();
});

test("a chip that is not opened is released at once, and the error is that of the chip", async () => {
  let released = 0;
  const transport = createVirtualChip({ files, ...chip });
  const opening = openDocument(transport, { mrz: wrongKey }, noStep, () => {
    released += 1;
  });
  await assert.rejects(opening, isEmrtdError);
  assert.equal(released, 1);
  await assert.rejects(virtualPassport({ files, chip }, undefined, wrongKey)(noStep), isEmrtdError);
});

test("a chip that comes back is opened again and read from the beginning; without a reader that looks for it, it is lost", async () => {
  const calm = shaking([]);
  const opened = await openDocument(calm, key, noStep, () => {});
  const opening = calm.commands();
  await opened.readFiles();
  const reading = calm.commands();
  for (const at of [1, opening, opening + 2, reading]) {
    const read = openDocument(shaking([at]), key, noStep, () => {}, { comesBack: isLost });
    assert.deepEqual((await (await read).readFiles()).DG2, files.DG2, `lost at ${at}`);
  }
  await assert.rejects(
    openDocument(shaking([1]), key, noStep, () => {}),
    isLost,
  );
});

test("a chip that keeps leaving the field is given up at the fourth time, however it was used", async () => {
  const comesBack = { comesBack: isLost };
  await openDocument(shaking([1, 2, 3]), key, noStep, () => {}, comesBack);
  await assert.rejects(
    openDocument(shaking([1, 2, 3, 4]), key, noStep, () => {}, comesBack),
    isLost,
  );
  const calm = shaking([]);
  await openDocument(calm, key, noStep, () => {});
  const opening = calm.commands();
  const chipAfter = (losses: number) =>
    openDocument(
      shaking([...Array(losses).keys()].map((n) => opening + 1 + n)),
      key,
      noStep,
      () => {},
      comesBack,
    );
  await (await chipAfter(3)).reopen();
  const worn = await chipAfter(4);
  await assert.rejects(worn.reopen(), isLost);
});
