import { concat, fromHex, latin1, uintBytes } from "../../src/bytes.ts";

/** Headers of images, complete enough to be recognised and measured, with nothing in them to look at. */
export function jpegOf(width: number, height: number): Uint8Array {
  return concat(
    fromHex("FFD8 FFE0 0010 4A46494600 0101 00 0001 0001 00 00 FFC0 0011 08"),
    uintBytes(height, 2),
    uintBytes(width, 2),
    fromHex("03 012200 021101 031101 FFDA 0002 FFD9"),
  );
}

export function codestreamOf(width: number, height: number): Uint8Array {
  return concat(
    fromHex("FF4F FF51 002F 0000"),
    uintBytes(width, 4),
    uintBytes(height, 4),
    uintBytes(0, 8),
    uintBytes(width, 4),
    uintBytes(height, 4),
    uintBytes(0, 8),
    fromHex("0003 070101 070101 070101 FFD9"),
  );
}

export function jp2Of(width: number, height: number): Uint8Array {
  const box = (type: string, content: Uint8Array) =>
    concat(uintBytes(8 + content.length, 4), latin1(type), content);
  return concat(
    box("jP  ", fromHex("0D0A870A")),
    box("ftyp", concat(latin1("jp2 "), uintBytes(0, 4), latin1("jp2 "))),
    box("jp2h", box("ihdr", concat(uintBytes(height, 4), uintBytes(width, 4), fromHex("0003 07 07 00 00")))),
    box("jp2c", codestreamOf(width, height)),
  );
}
