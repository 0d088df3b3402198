/** Whether the camera has a light, and whether it is on. */
export type Light = "none" | "off" | "on";

// Missing in the browser's types, because only phones have it.
type Torch = { torch?: boolean };
type Track = Pick<MediaStreamTrack, "applyConstraints"> & Partial<Pick<MediaStreamTrack, "getCapabilities">>;

/** Some browsers do not report a camera's capabilities; then there is no button. */
export function hasTorch(track: Track): boolean {
  const capabilities = track.getCapabilities?.() as (MediaTrackCapabilities & Torch) | undefined;
  return capabilities?.torch === true;
}

/** A light that cannot be switched is as good as none. */
export function switchTorch(track: Track, on: boolean): Promise<Light> {
  const wanted: MediaTrackConstraintSet & Torch = { torch: on };
  return track.applyConstraints({ advanced: [wanted] }).then(
    () => (on ? "on" : "off"),
    () => "none",
  );
}
