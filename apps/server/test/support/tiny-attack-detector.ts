/** A detector that takes a face without light for an attack, and tries what it must not do. */
import { readFileSync } from "node:fs";
import type { AttackDetector } from "../../src/verification/face/attack-detector.ts";

export async function loadAttackDetector(): Promise<AttackDetector> {
  return {
    score(frames) {
      try {
        readFileSync("/etc/passwd");
        return 1;
      } catch {
        // As it should be: nothing but its own folder may be read.
      }
      const dark = frames.filter(({ picture, face }) => {
        const [column, row] = [Math.round(face.x + face.width / 2), Math.round(face.y + face.height / 2)];
        return (picture.rgb[(row * picture.width + column) * 3] ?? 0) < 10;
      });
      return frames.length === 0 ? 1 : dark.length / frames.length;
    },
  };
}
