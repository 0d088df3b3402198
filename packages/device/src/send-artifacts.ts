import { artifactFrames, type ChipFile, chipFiles } from "@assay/contract/verify-protocol";
import type { DeviceConnection } from "./device-connection.ts";

export type ChipFiles = Readonly<Partial<Record<ChipFile, Uint8Array>>>;
type Wire = Pick<DeviceConnection, "send" | "sendBytes">;

/** Announces and sends every file, then asks for the verdict. Gives the number after the last file's. */
export function sendFiles(wire: Wire, files: ChipFiles, firstArtifact = 1): number {
  let artifact = firstArtifact;
  for (const file of chipFiles) {
    const bytes = files[file];
    if (bytes === undefined) continue;
    wire.send({ type: "chip_file", artifact, file, size: bytes.length });
    for (const frame of artifactFrames(artifact, bytes)) {
      wire.sendBytes(frame);
      // The socket has its own copy by now.
      frame.fill(0);
    }
    artifact += 1;
  }
  wire.send({ type: "chip_done" });
  return artifact;
}

/** Announces and sends one picture of the camera. */
export function sendFrame(wire: Wire, artifact: number, jpeg: Uint8Array, atMs: number): void {
  wire.send({ type: "face_frame", artifact, size: jpeg.length, at_ms: Math.max(0, Math.round(atMs)) });
  for (const frame of artifactFrames(artifact, jpeg)) wire.sendBytes(frame);
}
