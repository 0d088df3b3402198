import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  domainsAbove,
  formatRedirectPattern,
  isPlainHttps,
  matchesRedirectPattern,
  parseRedirectPattern,
  pathSegments,
  type RedirectPattern,
} from "./redirect-uri.ts";

function pattern(text: string): RedirectPattern {
  const parsed = parseRedirectPattern(text);
  assert.ok(!("problem" in parsed), `${text}: ${"problem" in parsed ? parsed.problem : ""}`);
  return parsed;
}

function problem(text: string): string {
  const parsed = parseRedirectPattern(text);
  assert.ok("problem" in parsed, `${text} was accepted`);
  return parsed.problem;
}

const allows = (text: string, url: string) => {
  const parsed = URL.parse(url);
  return parsed !== null && matchesRedirectPattern(pattern(text), parsed);
};

const label = fc.stringMatching(/^[a-z]([a-z0-9-]{0,8}[a-z0-9])?$/);
const host = fc.tuple(
  fc.array(label, { minLength: 1, maxLength: 3 }),
  fc.constantFrom("com", "co.uk", "test"),
);
const hostText = host.map(([labels, suffix]) => [...labels, suffix].join("."));
const segment = fc.stringMatching(/^[A-Za-z0-9_~-][A-Za-z0-9._~:@!$&'(),=+-]{0,10}$/);
const path = fc.array(segment, { maxLength: 4 });
const query = fc.stringMatching(/^[A-Za-z0-9._~:@!$&'()*+,;=/?%-]{0,20}$/);

test("a pattern allows itself and what lies below it, with any query and fragment", () => {
  assert.ok(allows("https://acme.co/cb", "https://acme.co/cb"));
  assert.ok(allows("https://acme.co/cb", "https://acme.co/cb/"));
  assert.ok(allows("https://acme.co/cb", "https://acme.co/cb/done?state=1#top"));
  assert.ok(allows("https://acme.co/cb/", "https://acme.co/cb"));
  assert.ok(allows("https://acme.co", "https://acme.co/anything"));
  assert.ok(allows("https://acme.co/", "https://ACME.co:443/anything"));
  assert.ok(allows("https://ACME.co/cb", "https://acme.co/%63b"));
  assert.ok(allows("https://*.acme.co/cb", "https://www.acme.co/cb"));
  assert.ok(allows("https://müller.example/zurück", "https://xn--mller-kva.example/zur%C3%BCck"));
  assert.ok(allows("https://xn--mller-kva.example", "https://MÜLLER.example/"));
  fc.assert(
    fc.property(hostText, path, path, query, (name, base, below, asked) => {
      const text = `https://${name}/${base.join("/")}`;
      assert.ok(allows(text, `https://${name}/${[...base, ...below].join("/")}?${asked}`));
    }),
  );
});

test("no trick gets through", () => {
  const tricks = [
    // A different path with the same beginning.
    "https://acme.co/cb-evil",
    "https://acme.co/cbevil",
    "https://acme.co/cb;evil",
    "https://acme.co/CB",
    "https://acme.co/c",
    "https://acme.co/",
    "https://acme.co//cb",
    "https://acme.co/x/cb",
    // A different host with the same beginning or end.
    "https://acme.co.evil.com/cb",
    "https://evilacme.co/cb",
    "https://acme.com/cb",
    "https://www.acme.co/cb",
    "https://acme.co./cb",
    "https://acme-co/cb",
    "https://acme%2eco.evil.com/cb",
    // Another host before the @, behind the \ or after the #.
    "https://acme.co@evil.com/cb",
    "https://acme.co:pw@evil.com/cb",
    "https://user@acme.co/cb",
    "https://user:pw@acme.co/cb",
    "https://:pw@acme.co/cb",
    "https://evil.com\\@acme.co/cb",
    "https://evil.com#@acme.co/cb",
    "https://evil.com?@acme.co/cb",
    "https://evil.com/acme.co/cb",
    "https://evil.com/https://acme.co/cb",
    // Another port or scheme.
    "https://acme.co:8443/cb",
    "https://acme.co:80/cb",
    "http://acme.co/cb",
    "http://acme.co:443/cb",
    "ftp://acme.co/cb",
    "javascript://acme.co/cb%0aalert(1)",
    "data:text/html,acme.co/cb",
    // Path traversal, in every spelling.
    "https://acme.co/cb/../evil",
    "https://acme.co/cb/%2e%2e/evil",
    "https://acme.co/cb/.%2E/evil",
    "https://acme.co/cb/..%2fevil",
    "https://acme.co/cb/..%5cevil",
    "https://acme.co/cb/%2e%2e%2fevil",
    "https://acme.co/cb/%252e%252e/evil",
    "https://acme.co/cb/%252e%252e%252fevil",
    "https://acme.co/cb/..;/evil",
    "https://acme.co/cb/..;x=1/evil",
    "https://acme.co/cb\\..\\evil",
    "https://acme.co/cb%2f..%2fevil",
    "https://acme.co/cb%2fevil",
    "https://acme.co/cb%00",
    "https://acme.co/cb/%0d%0aSet-Cookie:x",
    "https://acme.co/cb/%ff",
    "https://acme.co/cb/%zz",
    // Look-alike letters are another host.
    "https://аcme.co/cb",
    "https://acme.cо/cb",
    "https://acmé.co/cb",
    // IP addresses.
    "https://127.0.0.1/cb",
    "https://[::1]/cb",
    "https://2130706433/cb",
  ];
  for (const trick of tricks) assert.equal(allows("https://acme.co/cb", trick), false, trick);
});

test("spellings of one host are one host, as the browser would go there", () => {
  for (const same of [
    "https://ACME.CO/cb",
    "https://acme。co/cb",
    "https://%61cme.co/cb",
    "https://acme.co:0443/cb",
    "HTTPS://acme.co/cb",
  ])
    assert.equal(URL.parse(same)?.hostname, "acme.co");
  assert.ok(allows("https://acme.co/cb", "https://acme。co/cb"));
});

test("a wildcard stands for exactly one label", () => {
  const any = "https://*.acme.co/cb";
  for (const refused of [
    "https://acme.co/cb",
    "https://a.b.acme.co/cb",
    "https://.acme.co/cb",
    "https://evilacme.co/cb",
    "https://a.acme.co.evil.com/cb",
    "https://evil.com/.acme.co/cb",
    "https://a.acme.co/cb-evil",
    "https://a.acme.co:444/cb",
  ])
    assert.equal(allows(any, refused), false, refused);
});

test("patterns that mean more or less than they seem to are refused", () => {
  for (const [text, why] of [
    ["http://acme.co", /https/],
    ["acme.co/cb", /https/],
    ["//acme.co", /https/],
    ["https://", /host/],
    ["https:///cb", /host/],
    ["https://user@acme.co", /credentials/],
    ["https://acme.co:8443", /port/],
    ["https://acme.co/?a=1", /query/],
    ["https://acme.co/cb?", /query/],
    ["https://acme.co/#x", /fragment/],
    ["https://*/cb", /host|\*/],
    ["https://*", /host|\*/],
    ["https://a*.acme.co", /\*/],
    ["https://www.*.co", /\*/],
    ["https://*.*.acme.co", /\*/],
    ["https://acme.co/*", /\*/],
    ["https://acme.co/%2a", /\*/],
    ["https://acme.co/a/../b", /dot/],
    ["https://acme.co/a/%2e%2E/b", /dot/],
    ["https://acme.co/.", /dot/],
    ["https://acme.co/a//b", /empty/],
    ["https://acme.co//", /empty/],
    ["https://acme.co/a%2fb", /differently/],
    ["https://acme.co/a%5cb", /differently/],
    ["https://acme.co/a%252fb", /differently/],
    ["https://acme.co/%ff", /differently/],
    ["https://acme.co\\cb", /backslash/],
    ["https://acme.co/c b", /white space/],
    ["https://acme.co/\ncb", /white space/],
    ["https://ac%6de.co", /host/],
    ["https://localhost/cb", /host/],
    ["https://127.0.0.1/cb", /host/],
    ["https://[::1]/cb", /host/],
    ["https://acme.co./cb", /host/],
    ["https://-acme.co", /host/],
  ] as const)
    assert.match(problem(text), why, text);
});

test("writing and reading a pattern gives the same pattern", () => {
  fc.assert(
    fc.property(hostText, path, fc.boolean(), (name, segments, wildcard) => {
      const written = formatRedirectPattern({ host: name, wildcard, segments });
      assert.deepEqual(pattern(written), { host: name, wildcard, segments });
      assert.equal(formatRedirectPattern(pattern(written)), written);
    }),
  );
});

test("whatever text is accepted as a pattern can be read back from its written form", () => {
  const text = fc
    .tuple(hostText, fc.string({ unit: "grapheme", maxLength: 20 }))
    .map(([name, rest]) => `https://${name}/${rest}`);
  fc.assert(
    fc.property(fc.oneof(text, fc.string()), (given) => {
      const parsed = parseRedirectPattern(given);
      if ("problem" in parsed) return;
      assert.deepEqual(pattern(formatRedirectPattern(parsed)), parsed);
    }),
  );
});

test("what matches is, for a browser, on the host and at or below the path", () => {
  // Pieces that confuse parsers, in any order around valid parts.
  const piece = fc.constantFrom(
    ..."https:// acme.co / cb \\ @ : # ? % . .. ; 2f %2f %5c %2e%2e %25 evil.com www. * 443 8443 \t \n - é".split(
      " ",
    ),
    " ",
    "/cb",
    "acme.co/cb",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
      const url = URL.parse(`https://${pieces.join("")}`) ?? URL.parse(pieces.join(""));
      if (url === null || !matchesRedirectPattern(pattern("https://acme.co/cb"), url)) return;
      assert.equal(url.origin, "https://acme.co");
      assert.equal(url.username + url.password, "");
      const decoded = decodeURIComponent(url.pathname);
      assert.ok(decoded === "/cb" || decoded.startsWith("/cb/"));
      assert.ok(!decoded.split(/[/\\]/).includes(".."));
      // Decoding twice, as some servers do, changes nothing.
      assert.ok(!/%[0-9a-f]{2}/i.test(decoded));
      assert.equal(new URL(url.href).href, url.href);
    }),
    { numRuns: 5000 },
  );
});

test("the names above a host are whole labels", () => {
  assert.deepEqual(domainsAbove("a.b.example.com"), ["a.b.example.com", "b.example.com", "example.com"]);
  assert.deepEqual(domainsAbove("com"), []);
});

test("a plain https address has a proper name, no credentials and no port", () => {
  const plain = (url: string) => isPlainHttps(new URL(url));
  const label = "a".repeat(63);
  for (const url of [
    "https://acme.co",
    "https://_x.a-b.co:443/p?q#f",
    `https://${label}.co`,
    "https://a.b1",
    "https://a.1b",
  ])
    assert.ok(plain(url), url);
  for (const url of [
    "http://acme.co",
    "https://u@acme.co",
    "https://:p@acme.co",
    "https://acme.co:444",
    "https://localhost",
    "https://127.0.0.1",
    "https://10.20.30.40",
    "https://[::1]",
    "https://acme.co.",
    "https://-acme.co",
    "https://acme-.co",
    `https://${label}a.co`,
    `https://${[label, label, label, "a".repeat(61), "co"].join(".")}`,
  ])
    assert.ok(!plain(url), url);
  assert.ok(plain(`https://${[label, label, label, "a".repeat(58), "co"].join(".")}`), "253 characters");
});

test("a path is taken apart where every server would read it alike", () => {
  for (const [path, segments] of [
    ["/", [""]],
    ["/a/b%20c/", ["a", "b c", ""]],
    ["/.well-known/...", [".well-known", "..."]],
    ["/a%25", ["a%"]],
    ["/%25az", ["%az"]],
    ["/%c3%a9", ["é"]],
  ] as const)
    assert.deepEqual(pathSegments(path), segments, path);
  for (const path of [
    "/%2f",
    "/%5C",
    "/%00",
    "/%",
    "/%ff",
    "/%252f",
    "/.",
    "/a/..",
    "/..;x",
    "/.;",
    "/%2e%2E",
  ])
    assert.equal(pathSegments(path), null, path);
});
