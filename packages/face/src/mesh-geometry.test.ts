import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { evenly } from "../test/tries.ts";
import { extentOf, meshInputPixels, poseOf, squareAround } from "./mesh-geometry.ts";

/** A mesh of a head in the middle of the network's input, turned by these degrees to its left and upwards. */
function meshOf(yaw: number, pitch: number): Float32Array {
  const points = new Float32Array(468 * 3).fill(meshInputPixels / 2);
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const put = (index: number, x: number, y: number, z: number) =>
    points.set([meshInputPixels / 2 + x, meshInputPixels / 2 + y, z], index * 3);
  const [half, tall] = [40, 50];
  const [across, deep] = [half * Math.cos(radians(yaw)), half * Math.sin(radians(yaw))];
  put(234, -across, 0, -deep);
  put(454, across, 0, deep);
  const [down, back] = [tall * Math.cos(radians(pitch)), tall * Math.sin(radians(pitch))];
  put(10, 0, -down, back);
  put(152, 0, down, -back);
  return points;
}

const angles = evenly(-50, 50);
const around = { x: 180, y: 240, side: 384 };

test("the pose is the angle of the head, and turning does not change its size", () => {
  fc.assert(
    fc.property(angles, angles, (yaw, pitch) => {
      const pose = poseOf(meshOf(yaw, pitch), around);
      assert.ok(Math.abs(pose.yaw - yaw) < 0.01);
      assert.ok(Math.abs(pose.pitch - pitch) < 0.01);
      assert.ok(Math.abs(pose.roll) < 0.01);
      assert.ok(Math.abs(pose.size - 200) < 0.01);
    }),
  );
});

test("a face is where the mesh has it, in pixels of the picture, and is shown with half of it around", () => {
  const face = extentOf(meshOf(0, 0), around);
  assert.deepEqual(face, { x: 100, y: 140, width: 160, height: 200 });
  assert.deepEqual(squareAround(face), { x: 180, y: 240, side: 300 });
});

test("a mesh of nothing makes no pose", () => {
  assert.ok(Number.isNaN(poseOf(new Float32Array(468 * 3).fill(Number.NaN), around).yaw));
});
