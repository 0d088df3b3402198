import { readFileSync } from "node:fs";
import { maxImagePixels } from "@assay/emrtd/lds/image";
import {
  type DecodedPicture,
  decodePicture,
  PictureError,
} from "../apps/server/src/verification/face/decode-picture.ts";
import { decodePng, PngError } from "./decode-png.ts";
import { WebpError, webpDecoder } from "./decode-webp.ts";

export type PictureReader = {
  /** The picture of a file, or why there is none. */
  read(file: string): Promise<DecodedPicture | string>;
  close(): Promise<void>;
};

const otherKinds: readonly { readonly name: string; readonly isKind: (start: string) => boolean }[] = [
  { name: "GIF", isKind: (start) => /^GIF8[79]a/.test(start) },
  { name: "HEIF or AVIF", isKind: (start) => /^.{4}ftyp(hei|hev|mif1|avi)/s.test(start) },
  { name: "TIFF", isKind: (start) => start.startsWith("II*\0") || start.startsWith("MM\0*") },
  { name: "BMP", isKind: (start) => start.startsWith("BM") },
];

/** Pictures of an evaluation: JPEG, JPEG 2000, PNG and WebP, recognized by their first bytes. */
export function pictureReader(): PictureReader {
  const webp = webpDecoder();
  return {
    async read(file) {
      const bytes = readFileSync(file);
      const start = bytes.toString("latin1", 0, 16);
      const other = otherKinds.find(({ isKind }) => isKind(start));
      if (other !== undefined) return `it is ${other.name}; JPEG, JPEG 2000, PNG and WebP are read`;
      try {
        if (start.startsWith("\x89PNG\r\n\x1a\n")) return decodePng(bytes, maxImagePixels);
        if (/^RIFF.{4}WEBP/s.test(start)) return await webp.decode(bytes, maxImagePixels);
        return await decodePicture(bytes, { kinds: ["jpeg", "jp2", "j2k"], maxPixels: maxImagePixels });
      } catch (error) {
        if (error instanceof WebpError) return error.message;
        if (error instanceof PictureError || error instanceof PngError) return "it cannot be read";
        throw error;
      }
    },
    close: () => webp.close(),
  };
}
