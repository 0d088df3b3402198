import type { FaceColour } from "@assay/contract/verify-protocol";
import type { Light } from "./measurement.ts";

/** The light of a screen of this colour, as red, green and blue. */
export const screenLight: Readonly<Record<FaceColour, Light>> = {
  red: [1, 0, 0],
  green: [0, 1, 0],
  blue: [0, 0, 1],
  white: [1, 1, 1],
};

export type ColourSchedule = { readonly colours: readonly FaceColour[]; readonly colourMs: number };

/** The colours follow each other, repeating, however late the page reads its clock. */
export function colourAt({ colours, colourMs }: ColourSchedule, atMs: number): FaceColour {
  const turn = Math.floor(Math.max(0, atMs) / colourMs) % Math.max(1, colours.length);
  // A service that names no colours wants the plain light of a white screen.
  return colours[turn] ?? "white";
}

/** How long the current colour still lasts. */
export function msToNextColour({ colourMs }: ColourSchedule, atMs: number): number {
  return colourMs - (Math.max(0, atMs) % colourMs);
}
