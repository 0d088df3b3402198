// The part of the tar format (POSIX.1-2001 ustar) that a backup needs: files and folders, streamed block by
// block.
const blockBytes = 512;
const zeros = Buffer.alloc(blockBytes);

export type TarEntry =
  | { kind: "folder"; name: string }
  | { kind: "file"; name: string; bytes: number; content: AsyncIterable<Buffer> };

export class TarError extends Error {}

/** Writes exactly the announced number of bytes for every file: pads with zeros, or cuts. */
export async function* writeTar(entries: AsyncIterable<TarEntry>): AsyncGenerator<Buffer> {
  for await (const entry of entries) {
    if (entry.kind === "folder") {
      yield header(`${entry.name}/`, 0, "5", 0o700);
      continue;
    }
    yield header(entry.name, entry.bytes, "0", 0o600);
    let left = entry.bytes;
    for await (const chunk of entry.content) {
      if (left === 0) break;
      const part = chunk.length > left ? chunk.subarray(0, left) : chunk;
      left -= part.length;
      yield part;
    }
    for (; left > 0; left -= Math.min(left, blockBytes)) yield zeros.subarray(0, Math.min(left, blockBytes));
    const padding = (blockBytes - (entry.bytes % blockBytes)) % blockBytes;
    if (padding > 0) yield zeros.subarray(0, padding);
  }
  yield zeros;
  yield zeros;
}

function header(name: string, bytes: number, type: "0" | "5", mode: number): Buffer {
  const block = Buffer.alloc(blockBytes);
  const [prefix, rest] = splitName(name);
  block.write(rest, 0, 100, "utf8");
  block.write(octal(mode, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(bytes, 11), 124);
  block.write(octal(0, 11), 136);
  block.write("        ", 148);
  block.write(type, 156);
  block.write("ustar\u000000", 257);
  block.write(prefix, 345, 155, "utf8");
  block.write(`${octal(checksum(block), 6)}\0 `, 148);
  return block;
}

function splitName(name: string): [prefix: string, rest: string] {
  if (Buffer.byteLength(name) <= 100) return ["", name];
  for (let cut = name.indexOf("/"); cut !== -1; cut = name.indexOf("/", cut + 1)) {
    const [prefix, rest] = [name.slice(0, cut), name.slice(cut + 1)];
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(rest) <= 100 && rest !== "")
      return [prefix, rest];
  }
  throw new TarError(`the name ${name} is too long for a tar archive`);
}

function octal(value: number, digits: number): string {
  const text = value.toString(8).padStart(digits, "0");
  if (text.length > digits) throw new TarError(`${value} is too large for a tar archive`);
  return text;
}

function checksum(block: Buffer): number {
  let sum = 0;
  // The checksum counts its own field as spaces.
  for (let i = 0; i < blockBytes; i++) sum += i >= 148 && i < 156 ? 32 : (block[i] ?? 0);
  return sum;
}

/**
 * Reads entry after entry. The content of a file must be read to its end before the next entry. Only plain
 * files and folders are allowed: other types, names outside of the archive's folder and incomplete archives
 * are errors.
 */
export async function* readTar(input: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const source = new ByteSource(input);
  for (;;) {
    const block = await source.exactly(blockBytes);
    if (block.equals(zeros)) {
      if (!(await source.exactly(blockBytes)).equals(zeros))
        throw new TarError("the end of the archive is damaged");
      if (!(await source.onlyZerosLeft())) throw new TarError("there is data after the end of the archive");
      return;
    }
    const { name, bytes, type } = parseHeader(block);
    if (type === "5") {
      if (bytes !== 0) throw new TarError(`the folder ${name} has content`);
      yield { kind: "folder", name };
      continue;
    }
    let left = bytes;
    const content = (async function* () {
      while (left > 0) {
        const chunk = await source.some(left);
        left -= chunk.length;
        yield chunk;
      }
    })();
    yield { kind: "file", name, bytes, content };
    if (left > 0) throw new TarError(`the content of ${name} was not read`);
    await source.exactly((blockBytes - (bytes % blockBytes)) % blockBytes);
  }
}

function parseHeader(block: Buffer): { name: string; bytes: number; type: "0" | "5" } {
  if (parseOctal(block.subarray(148, 156)) !== checksum(block)) throw new TarError("a header is damaged");
  if (block.toString("latin1", 257, 262) !== "ustar")
    throw new TarError("this is not an archive of the expected format");
  const type = block.toString("latin1", 156, 157);
  if (type !== "0" && type !== "5")
    throw new TarError(`an entry has the type ${JSON.stringify(type)}, which is not allowed`);
  const prefix = text(block.subarray(345, 500));
  const rest = text(block.subarray(0, 100));
  const name = safeName(prefix === "" ? rest : `${prefix}/${rest}`, type);
  return { name, bytes: parseOctal(block.subarray(124, 136)), type };
}

/** A relative path of ordinary segments, so that it cannot leave the target folder. */
function safeName(name: string, type: "0" | "5"): string {
  const plain = type === "5" && name.endsWith("/") ? name.slice(0, -1) : name;
  const parts = plain.split("/");
  const bad = parts.some(
    (part) => part === "" || part === "." || part === ".." || /[\\:\ufffd]|\p{Cc}/u.test(part),
  );
  if (bad) throw new TarError(`the name ${JSON.stringify(name)} is not allowed`);
  return plain;
}

function text(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end === -1 ? field.length : end);
}

function parseOctal(field: Buffer): number {
  const digits = text(field).trim();
  if (!/^[0-7]{1,11}$/.test(digits)) throw new TarError("a number in a header is damaged");
  return Number.parseInt(digits, 8);
}

class ByteSource {
  readonly #input: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(input: AsyncIterable<Buffer>) {
    this.#input = input[Symbol.asyncIterator]();
  }

  /** At least one byte and at most `limit`. */
  async some(limit: number): Promise<Buffer> {
    while (this.#held.length === 0) {
      const next = await this.#input.next();
      if (next.done === true) throw new TarError("the archive ends too early");
      this.#held = next.value;
    }
    const part = this.#held.subarray(0, limit);
    this.#held = this.#held.subarray(part.length);
    return part;
  }

  /** For headers and padding only: it buffers at most one block. */
  async exactly(bytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let left = bytes; left > 0; ) {
      const part = await this.some(left);
      parts.push(part);
      left -= part.length;
    }
    return Buffer.concat(parts);
  }

  async onlyZerosLeft(): Promise<boolean> {
    let rest = this.#held;
    for (;;) {
      if (rest.some((byte) => byte !== 0)) return false;
      const next = await this.#input.next();
      if (next.done === true) return true;
      rest = next.value;
    }
  }
}
