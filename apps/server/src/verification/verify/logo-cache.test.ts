import assert from "node:assert/strict";
import test from "node:test";
import type { OrganizationId } from "@assay/contract/ids";
import { drawPng } from "../../../test/support/pictures.ts";
import { createLog } from "../../platform/lib/log.ts";
import { Metrics } from "../../platform/lib/metrics.ts";
import type { SafeContent, SafeFetch } from "../../platform/lib/safe-fetch.ts";
import { LogoCache } from "./logo-cache.ts";

function createCache(answer: (url: string) => Promise<SafeContent>) {
  const fetched: string[] = [];
  const get: SafeFetch["get"] = (url) => {
    fetched.push(url);
    return answer(url);
  };
  const now = () => new Date(0);
  const core = {
    clock: { now },
    log: createLog({ level: "error", write: () => {}, now }),
    metrics: new Metrics(),
  };
  const cache = new LogoCache(core, { get } as SafeFetch);
  /** Requests these logos one after the other and returns which of them were fetched. */
  const look = async (...urls: string[]) => {
    fetched.length = 0;
    for (const url of urls) await cache.find(organization(0), url);
    return [...fetched];
  };
  return { cache, look, fetched };
}

const organization = (number: number) => `organization ${number}` as unknown as OrganizationId;
const numbered = (count: number) => Array.from({ length: count }, (_, i) => `https://${i}.example.com/`);

test("the oldest goes when there are too many, pictures and failures alike", async () => {
  const { look } = createCache(async () => ({ status: 404, body: null, etag: null, lastModified: null }));
  const urls = numbered(200);
  assert.deepEqual(await look(...urls), urls);
  assert.deepEqual(await look(...urls), []);
  assert.deepEqual(await look("https://new.example.com/", "https://1.example.com/"), [
    "https://new.example.com/",
  ]);
  assert.deepEqual(await look("https://0.example.com/"), ["https://0.example.com/"]);
});

test("the oldest goes when there are too many bytes", async () => {
  const small = drawPng(1, 1);
  const large = Buffer.concat([small, Buffer.alloc(256 * 1024 - small.length)]);
  const { look } = createCache(async () => ({ status: 200, body: large, etag: null, lastModified: null }));
  const urls = numbered(64);
  assert.deepEqual(await look(...urls), urls);
  assert.deepEqual(await look(...urls), []);
  assert.deepEqual(await look("https://new.example.com/", ...urls.slice(1)), ["https://new.example.com/"]);
  assert.deepEqual(await look("https://0.example.com/"), ["https://0.example.com/"]);
});

test("only so many are fetched at once; the next finds nothing and may ask again at once", async () => {
  const answered = Promise.withResolvers<SafeContent>();
  const { cache, fetched } = createCache(() => answered.promise);
  const urls = numbered(16);
  const waiting = [...urls, ...urls].map((url, index) => cache.find(organization(index % 16), url));
  assert.equal(await cache.find(organization(16), "https://late.example.com/"), null);
  assert.deepEqual(fetched, urls, "those for the same address share a fetch");
  const body = drawPng(1, 1);
  answered.resolve({ status: 200, body, etag: null, lastModified: null });
  for (const logo of await Promise.all(waiting))
    assert.deepEqual(logo, { contentType: "image/png", bytes: body });
  assert.notEqual(await cache.find(organization(16), "https://late.example.com/"), null);
});

test("an organization whose addresses never answer takes two places, and all others get their logos", async () => {
  const body = drawPng(1, 1);
  const never = new Promise<SafeContent>(() => {});
  const { cache } = createCache((url) =>
    url.includes("hang") ? never : Promise.resolve({ status: 200, body, etag: null, lastModified: null }),
  );
  for (let tried = 0; tried < 17; tried++)
    void cache.find(organization(0), `https://hang.example.com/${tried}`);
  assert.equal(
    await cache.find(organization(0), "https://own.example.com/"),
    null,
    "it waits for its own only",
  );
  for (let other = 1; other < 40; other++)
    assert.notEqual(await cache.find(organization(other), `https://${other}.example.com/`), null);
});
