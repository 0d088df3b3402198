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
    ? { type: "folder", name }
    : { type: "file", name, bytes: content.length, content: from([content]) };
}

async function collect(parts: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const part of parts) all.push(Buffer.from(part));
  return Buffer.concat(all);
}

async function unpack(archive: AsyncIterable<Buffer>): Promise<Plain[]> {
  const found: Plain[] = [];
  for await (const entry of readTar(archive)) {
    found.push({ name: entry.name, content: entry.type === "folder" ? null : await collect(entry.content) });
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
    const file: TarEntry = { type: "file", name: "f", bytes: 1000, content: from([Buffer.alloc(given, 1)]) };
    const [found] = await unpack(writeTar(from([file])));
    assert.equal(found?.content?.length, 1000);
    assert.equal(
      found?.content?.reduce((sum, byte) => sum + byte, 0),
      Math.min(given, 1000),
    );
  }
});

test("every archive that was cut is refused", async () => {
  const archive = await collect(writeTar(from([entryOf({ name: "a/b", content: Buffer.alloc(700, 7) })])));
  for (let length = 0; length < archive.length; length += 37) {
    await assert.rejects(unpack(from([archive.subarray(0, length)])), TarError, String(length));
  }
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
