import assert from "node:assert/strict";
import test from "node:test";
import { addSight, nothingSeen } from "./film.ts";
import type { Sight } from "./mrz-reader.ts";

type Frame = Pick<Sight, "quad" | "reading">;

const quad = [
  { x: 0, y: 0 },
  { x: 9, y: 0 },
  { x: 9, y: 3 },
  { x: 0, y: 3 },
] as const;
const key = { documentNumber: "L898902C3", dateOfBirth: "740812", dateOfExpiry: "321215" };
const seen: Frame = { quad, reading: { kind: "key", fields: key } };
const away: Frame = { quad: null, reading: { kind: "unclear" } };
const gone = (frames: number) => Array.from({ length: frames }, () => away);

/** The film after these frames, and what was accepted with the last of them. */
const filmed = (...frames: readonly Frame[]) =>
  frames.reduce<ReturnType<typeof addSight>>(({ film }, frame) => addSight(film, frame), {
    film: nothingSeen,
    accepted: null,
  });

test("a zone that is gone for ten frames is forgotten, one that is gone for nine is not", () => {
  assert.deepEqual(filmed(seen, seen, ...gone(9), seen).accepted, key);
  assert.equal(filmed(seen, seen, ...gone(10), seen).accepted, null);
  assert.equal(filmed(seen, ...gone(10)).film, nothingSeen);
});

test("two frames are not enough for a key; with the third nothing is kept of the film", () => {
  assert.equal(filmed(seen, seen).accepted, null);
  assert.deepEqual(filmed(seen, seen, seen), { film: nothingSeen, accepted: key });
});
