import assert from "node:assert/strict";
import test from "node:test";
import { hasTorch, switchTorch } from "./torch.ts";

/** A camera track with these capabilities that records what is requested. */
function fakeTrack(capabilities: unknown, works = true) {
  const asked: unknown[] = [];
  const track = {
    getCapabilities: () => capabilities as MediaTrackCapabilities,
    applyConstraints: async (wanted?: MediaTrackConstraints) => {
      asked.push(wanted);
      if (!works) throw new Error("the light is in use");
    },
  };
  return { track, asked };
}

test("the light is offered only where the camera says that it has one", () => {
  assert.equal(hasTorch(fakeTrack({ torch: true }).track), true);
  for (const capabilities of [{}, { torch: false }, { torch: [true, false] }])
    assert.equal(hasTorch(fakeTrack(capabilities).track), false);
  const { applyConstraints } = fakeTrack({}).track;
  assert.equal(hasTorch({ applyConstraints }), false);
});

test("the light is switched on and off, and a light that cannot be switched is offered no more", async () => {
  const { track, asked } = fakeTrack({ torch: true });
  assert.equal(await switchTorch(track, true), "on");
  assert.equal(await switchTorch(track, false), "off");
  assert.deepEqual(asked, [{ advanced: [{ torch: true }] }, { advanced: [{ torch: false }] }]);
  assert.equal(await switchTorch(fakeTrack({ torch: true }, false).track, true), "none");
});
