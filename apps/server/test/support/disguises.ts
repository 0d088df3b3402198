/** All encodings of a text. Base64 depends on its offset within three bytes. */
export function disguisesOf(name: string, value: string): [string, Buffer][] {
  const raw = Buffer.from(value);
  const found: [string, Buffer][] = [[`${name} raw`, raw]];
  for (const hex of [raw.toString("hex"), raw.toString("hex").toUpperCase()])
    found.push([`${name} hex`, Buffer.from(hex)]);
  for (const shift of [0, 1, 2]) {
    const text = Buffer.concat([Buffer.alloc(shift), raw, Buffer.alloc(3)]).toString("base64");
    const inner = text
      .slice(Math.ceil((shift * 4) / 3) + (shift > 0 ? 1 : 0))
      .slice(0, Math.floor((raw.length * 4) / 3) - 3);
    found.push([`${name} base64`, Buffer.from(inner)]);
    found.push([`${name} base64url`, Buffer.from(inner.replaceAll("+", "-").replaceAll("/", "_"))]);
  }
  return found;
}
