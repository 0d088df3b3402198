import {
  type FaceModels,
  loadFaceModels as loadFollowing,
} from "../../apps/server/src/verification/face/face-models.ts";

/** The service's own models, without following: the detector looks at every frame, as it did before. */
export async function loadFaceModels(): Promise<FaceModels> {
  const { follows: _, ...models } = await loadFollowing();
  return models;
}
