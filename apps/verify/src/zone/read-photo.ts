import type { MrzKeyFields } from "@assay/emrtd/mrz/mrz-key";
import { addReading, nothingRead } from "@assay/mrz-reader/agreement";
import { photoSides, sizesNeeded } from "@assay/mrz-reader/photo";
import { ZoneEye } from "./zone-eye.ts";

/** The key in a photo, or why there is none. */
export async function readPhoto(
  file: Blob,
): Promise<MrzKeyFields | "photo_unread" | "photo_visa" | "not_loaded"> {
  const picture = await createImageBitmap(file).catch(() => null);
  if (picture === null) return "photo_unread";
  const eye = new ZoneEye();
  try {
    if (!(await eye.load())) return "not_loaded";
    let agreement = nothingRead;
    let isVisa = false;
    for (const side of photoSides(Math.max(picture.width, picture.height))) {
      const looked = await eye.look(picture, side);
      if (looked === null) continue;
      isVisa ||= looked.sight.reading.kind === "visa";
      const added = addReading(agreement, looked.sight.reading, sizesNeeded);
      if (added.accepted !== null) return added.accepted;
      agreement = added.agreement;
    }
    return isVisa ? "photo_visa" : "photo_unread";
  } finally {
    eye.close();
    picture.close();
  }
}
