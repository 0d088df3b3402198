import type { FaceMovement } from "@assay/contract/verify-protocol";
import type { Picture } from "@assay/device/node/jpeg";
import { film, personAt, resample, type Still, stillsFor } from "@assay/device/node/test-person";
import type { PosedPerson } from "@assay/emrtd/node/test-country/portraits";
import type { Challenge } from "@assay/face/challenge";
import type { JudgedFrame } from "../../src/verification/face/face-judge.ts";

export type FilmOptions = {
  readonly person?: PosedPerson;
  /** What the head does; by default what is asked. */
  readonly movements?: readonly FaceMovement[];
  /** How much the light of the screen adds to that of the room on the face; 0 is full daylight. */
  readonly reflection?: number;
  /** Takes the first one's place from this share of the frames on. */
  readonly stranger?: { readonly person: PosedPerson; readonly from: number };
  /** A second person who looks at the camera all the time. */
  readonly companion?: PosedPerson;
  /** Nothing but a print of the straight look, tilted by hand as far as the movement asks. */
  readonly print?: "held_still" | "tilted";
};

const straight: Still = { pose: [0, 0], zoom: 1 };

/** The frames of a drawn person who does what is asked, or what a cheat would do instead. */
export function filmFace(challenge: Challenge, options: FilmOptions = {}): JudgedFrame[] {
  const { person = "adult", movements = challenge.movements, stranger, companion } = options;
  const stills = stillsFor(movements);
  const pictures = stills.map((still, index) => {
    const swapped = stranger !== undefined && index >= stranger.from * stills.length;
    const seen = seenAs(swapped ? stranger.person : person, still, options);
    return companion === undefined ? seen : beside(seen, seenAs(companion, straight, options));
  });
  return film(pictures, { schedule: challenge, reflection: options.reflection ?? 0 }).map((frame) => ({
    ...frame,
    receivedAtMs: frame.atMs + 300,
  }));
}

function seenAs(person: PosedPerson, still: Still, { print }: Pick<FilmOptions, "print">): Picture {
  if (print === undefined) return personAt(person, still);
  const sheet = personAt(person, straight);
  return print === "held_still" ? sheet : tilted(sheet, still);
}

/** A print turned about its middle by twice the angle of the head, two of its widths away from the camera. */
function tilted(sheet: Picture, { pose: [yaw, pitch], zoom }: Still): Picture {
  return resample(sheet, (x, y) => {
    const [x1, y1] = tiltedBack(x / zoom, y / zoom, (2 * yaw * Math.PI) / 180);
    const [y2, x2] = tiltedBack(y1, x1, (2 * pitch * Math.PI) / 180);
    return [x2, y2];
  });
}

const printDistance = 4;

/** Where on a sheet that is turned about its second axis a point of the picture lies. */
function tiltedBack(across: number, along: number, angle: number): readonly [number, number] {
  const onSheet = (across * printDistance) / (printDistance * Math.cos(angle) - across * Math.sin(angle));
  return [onSheet, (along * (printDistance + onSheet * Math.sin(angle))) / printDistance];
}

function beside(left: Picture, right: Picture): Picture {
  const width = left.width + right.width;
  const data = new Uint8Array(width * left.height * 3);
  for (let row = 0; row < left.height; row++) {
    data.set(left.data.subarray(row * left.width * 3, (row + 1) * left.width * 3), row * width * 3);
    data.set(
      right.data.subarray(row * right.width * 3, (row + 1) * right.width * 3),
      (row * width + left.width) * 3,
    );
  }
  return { width, height: left.height, data };
}
