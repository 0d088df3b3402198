import assert from "node:assert/strict";
import { test } from "node:test";
import { challengeShape } from "@assay/face/challenge";
import { sequencesOf } from "./replayed-film.ts";

test("a film is played back for each of the 108 sequences once, and none repeats a movement", () => {
  const sequences = sequencesOf(challengeShape.movements);
  assert.equal(sequences.length, 108);
  assert.equal(new Set(sequences.map((movements) => movements.join())).size, 108);
  assert.ok(sequences.every((movements) => movements.every((one, index) => one !== movements[index - 1])));
});
