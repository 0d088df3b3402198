import type { FaceColour } from "@assay/contract/verify-protocol";

/** The colours follow each other, and again from the first, however late the page gets to look at its clock. */
export function colourAt(colours: readonly FaceColour[], colourMs: number, atMs: number): FaceColour {
  const turn = Math.floor(Math.max(0, atMs) / colourMs) % Math.max(1, colours.length);
  // A service that names no colours wants the plain light of a white screen.
  return colours[turn] ?? "white";
}

/** How long the colour of this moment still stays. */
export function msToNextColour(colourMs: number, atMs: number): number {
  return colourMs - (Math.max(0, atMs) % colourMs);
}
