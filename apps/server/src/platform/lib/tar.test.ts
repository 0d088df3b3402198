import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readTar, type TarEntry, TarError, writeTar } from "./tar.ts";

type Plain = { name: string; content: Buffer | null };

async function* from<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}

function entryOf({ name, content }: Plain): TarEntry {
  return content === null
    ? { kind: "folder", name }
    : { kind: "file", name, bytes: content.length, content: from([content]) };
}

async function collect(parts: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const part of parts) all.push(Buffer.from(part));
  return Buffer.concat(all);
}

async function unpack(archive: AsyncIterable<Buffer>): Promise<Plain[]> {
  const found: Plain[] = [];
  for await (const entry of readTar(archive)) {
    found.push({ name: entry.name, content: entry.kind === "folder" ? null : await collect(entry.content) });
  }
  return found;
}

/** The same bytes in pieces of the given sizes, in turn. */
function* inPieces(bytes: Buffer, sizes: readonly number[]): Generator<Buffer> {
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? bytes.length;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

const part = fc.stringMatching(/^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,30}$/);
const name = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("/"));
const content = fc.option(fc.uint8Array({ maxLength: 1500 }).map((bytes) => Buffer.from(bytes)));
const plain = fc.record({ name, content }, { noNullPrototype: true });

test("what was written is read again, in whatever pieces it comes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(plain, { maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 2000 }), { minLength: 1, maxLength: 4 }),
      async (entries, sizes) => {
        const archive = await collect(writeTar(from(entries.map(entryOf))));
        assert.equal(archive.length % 512, 0);
        assert.deepEqual(await unpack(from(inPieces(archive, sizes))), entries);
      },
    ),
    { numRuns: 100 },
  );
});

test("a file that shrinks or grows while it is read keeps its announced size", async () => {
  for (const given of [0, 700, 5000]) {
    const file: TarEntry = { kind: "file", name: "f", bytes: 1000, content: from([Buffer.alloc(given, 1)]) };
    const [found] = await unpack(writeTar(from([file])));
    assert.equal(found?.content?.length, 1000);
    assert.equal(
      found?.content?.reduce((sum, byte) => sum + byte, 0),
      Math.min(given, 1000),
    );
  }
});

test("every archive that was cut is refused, also between two entries and before its end mark", async () => {
  const archive = await collect(
    writeTar(
      from([entryOf({ name: "a", content: null }), entryOf({ name: "a/b", content: Buffer.alloc(700, 7) })]),
    ),
  );
  for (let length = 0; length < archive.length; length++) {
    if (length % 37 !== 0 && length % 512 !== 0) continue;
    await assert.rejects(unpack(from([archive.subarray(0, length)])), TarError, String(length));
  }
});

/** An archive of one file with a changed header and a correct checksum. */
async function withHeader(change: (header: Buffer) => void): Promise<Buffer> {
  const archive = await collect(writeTar(from([entryOf({ name: "a", content: Buffer.alloc(700, 7) })])));
  const header = archive.subarray(0, 512);
  change(header);
  header.write("        ", 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return archive;
}

test("links, devices, names that lead elsewhere, odd sizes and folders with content are refused", async () => {
  const typed = (type: string) => withHeader((header) => header.write(type, 156));
  const named = (name: string) => withHeader((header) => header.fill(0, 0, 100).write(name, 0, 100, "utf8"));
  const sized = (size: string) => withHeader((header) => header.write(size, 124, 12, "latin1"));
  const refused = {
    "hard link": await typed("1"),
    "symbolic link": await typed("2"),
    device: await typed("3"),
    pipe: await typed("6"),
    "long name of GNU tar": await typed("L"),
    "extended header": await typed("x"),
    "folder with content": await typed("5"),
    "absolute name": await named("/etc/passwd"),
    "name above": await named("../a"),
    "name above, inside": await named("a/../../b"),
    "name of Windows": await named("c:\\a"),
    "empty name": await named(""),
    "size in base 256": await sized("\x81\0\0\0\0\0\0\0\0\0\x02\xbc"),
    "size below zero": await sized("-0000000001\0"),
  };
  for (const [what, archive] of Object.entries(refused))
    await assert.rejects(unpack(from([archive])), TarError, what);
  assert.equal((await unpack(from([await named("fine")]))).length, 1);
});

test("an archive behind the end of another is not read", async () => {
  const archive = await collect(writeTar(from([entryOf({ name: "a", content: Buffer.alloc(10) })])));
  await assert.rejects(unpack(from([archive, archive])), TarError);
});

test("hostile bytes give a TarError or a list of harmless names, never anything else", async () => {
  const archive = await collect(
    writeTar(
      from([entryOf({ name: "a", content: null }), entryOf({ name: "a/b", content: Buffer.alloc(600, 7) })]),
    ),
  );
  const changes = fc.array(
    fc.tuple(fc.integer({ min: 0, max: archive.length - 1 }), fc.integer({ min: 0, max: 255 })),
    {
      maxLength: 8,
    },
  );
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.uint8Array({ maxLength: 3000 }), changes), async (input) => {
      const bytes = input instanceof Uint8Array ? Buffer.from(input) : Buffer.from(archive);
      if (!(input instanceof Uint8Array)) for (const [at, value] of input) bytes[at] = value;
      try {
        for (const { name: found } of await unpack(from([bytes]))) {
          assert.ok(!found.startsWith("/") && !found.split("/").includes(".."), found);
        }
      } catch (error) {
        if (!(error instanceof TarError)) throw error;
      }
    }),
    { numRuns: 300 },
  );
});

test("a name that does not fit the format is refused when writing", async () => {
  const long = entryOf({ name: "n".repeat(101), content: Buffer.alloc(0) });
  await assert.rejects(collect(writeTar(from([long]))), TarError);
});
