import assert from "node:assert/strict";
import { isIPv6 } from "node:net";
import { test } from "node:test";
import { type Answer, decode, encode } from "dns-packet";
import fc from "fast-check";
import { DnsFormatError, decodeAnswer, encodeQuery, isAskableName } from "./dns-message.ts";

const label = fc.stringMatching(/^[a-z0-9_]([a-z0-9-]{0,20}[a-z0-9])?$/);
const name = fc.array(label, { minLength: 1, maxLength: 6 }).map((labels) => labels.join("."));

test("a query is what another implementation reads as one", () => {
  fc.assert(
    fc.property(
      fc.nat(0xffff),
      name,
      fc.constantFrom("A" as const, "TXT" as const, "AAAA" as const),
      (id, asked, type) => {
        const packet = decode(encodeQuery(id, asked, type));
        assert.equal(packet.id, id);
        assert.equal(packet.type, "query");
        assert.deepEqual(packet.questions, [{ name: asked, type, class: "IN" }]);
      },
    ),
  );
});

test("an answer of another implementation, compressed as it does, is read record by record", () => {
  const txt = fc.array(fc.stringMatching(/^[ -~]{0,60}$/), { minLength: 1, maxLength: 4 });
  const record = fc.oneof(
    fc.record({ type: fc.constant("TXT"), name, data: txt }),
    fc.record({ type: fc.constant("A"), name, data: fc.ipV4() }),
    fc.record({ type: fc.constant("AAAA"), name, data: fc.constantFrom("2001:db8::1", "::1", "fe80::1:2") }),
    fc.record({ type: fc.constant("CNAME"), name, data: name }),
    fc.record({
      type: fc.constant("MX"),
      name,
      data: name.map((exchange) => ({ preference: 1, exchange })),
    }),
  );
  fc.assert(
    fc.property(fc.nat(0xffff), name, fc.array(record, { maxLength: 8 }), (id, asked, answers) => {
      const bytes = encode({
        id,
        type: "response",
        flags: 0x0180,
        questions: [{ name: asked, type: "TXT" }],
        answers: answers.map((answer) => ({ ...answer, ttl: 60 })),
      });
      const answer = decodeAnswer(bytes);
      assert.deepEqual(answer.question, { name: asked, type: 16, class: 1 });
      assert.equal(answer.responseCode, 0);
      const known = answers.filter((given) => given.type !== "MX");
      assert.equal(answer.records.length, known.length);
      for (const [i, given] of known.entries()) {
        const read = answer.records[i];
        assert.equal(read?.name, given.name);
        if (read?.type === "TXT") assert.equal(read.text, (given.data as string[]).join(""));
        else if (read?.type === "CNAME") assert.equal(read.target, given.data);
        else if (read?.type === "A") assert.equal(read.address, given.data);
        else if (read?.type === "AAAA") {
          assert.ok(isIPv6(read.address));
          assert.equal(
            new URL(`http://[${read.address}]/`).hostname,
            new URL(`http://[${given.data}]/`).hostname,
          );
        } else assert.fail("a record was left out");
      }
    }),
  );
});

test("any bytes end in an answer or a format error", () => {
  const valid = encode({
    id: 7,
    type: "response",
    questions: [{ name: "a.example.com", type: "TXT" }],
    answers: [
      { name: "a.example.com", type: "CNAME", data: "b.example.com" },
      { name: "b.example.com", type: "TXT", data: ["one", "two"] },
      { name: "b.example.com", type: "A", data: "192.0.2.1" },
    ],
  });
  const damaged = fc
    .array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 })
    .map((changes) => {
      const bytes = Buffer.from(valid);
      for (const [at, value] of changes) bytes[at] = value;
      return bytes;
    });
  const cut = fc.nat(valid.length).map((length) => valid.subarray(0, length));
  const noise = fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(fc.oneof(damaged, cut, noise), (bytes) => {
      try {
        const answer = decodeAnswer(bytes);
        assert.ok(answer.records.length <= 4096);
      } catch (error) {
        assert.ok(error instanceof DnsFormatError, String(error));
      }
    }),
    { numRuns: 2000 },
  );
});

test("a message that is cut anywhere, or whose record has the wrong length, is a format error and no shorter answer", () => {
  const question = { name: "a.example.com", type: "TXT" };
  const answerOf = (answer: Answer) =>
    encode({ id: 7, type: "response", questions: [question], answers: [answer] });
  const answers: Answer[] = [
    { name: "a.example.com", type: "TXT", data: ["service-verification=", "abcdef"] },
    { name: "a.example.com", type: "CNAME", data: "b.example.com" },
    { name: "a.example.com", type: "A", data: "192.0.2.1" },
    { name: "a.example.com", type: "AAAA", data: "2001:db8::1" },
    { name: "a.example.com", type: "HINFO", data: { cpu: "x", os: "y" } },
  ];
  // Of the record: its name of 15 bytes, then type, class and time to live.
  const lengthAt = 12 + 15 + 4 + 15 + 8;
  for (const answer of answers) {
    const whole = answerOf(answer);
    decodeAnswer(whole);
    for (let end = 0; end < whole.length; end++)
      assert.throws(() => decodeAnswer(whole.subarray(0, end)), DnsFormatError, `${answer.type} to ${end}`);
    if (answer.type === "HINFO") continue;
    for (const change of [-1, 1]) {
      const bent = Buffer.concat([whole, Buffer.alloc(1)]);
      bent.writeUInt16BE(whole.readUInt16BE(lengthAt) + change, lengthAt);
      // A TXT record with an additional empty string is still valid.
      if (answer.type === "TXT" && change === 1) decodeAnswer(bent);
      else assert.throws(() => decodeAnswer(bent), DnsFormatError, `${answer.type} ${change}`);
    }
  }
});

test("names that point at themselves, forward, or grow without end are refused", () => {
  const header = Buffer.from([0, 1, 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0]);
  const refused = (question: number[]) =>
    assert.throws(() => decodeAnswer(Buffer.concat([header, Buffer.from(question)])), DnsFormatError);
  refused([0xc0, 12, 0, 1, 0, 1]);
  refused([0xc0, 20, 0, 1, 0, 1, 0, 0, 0, 0]);
  refused([1, 97, 0xc0, 12, 0, 1, 0, 1]);
  refused([0x80, 0, 0, 1, 0, 1]);
  refused([...Array.from({ length: 5 }, () => [63, ...Array(63).fill(97)]).flat(), 0, 0, 1, 0, 1]);
});

test("a dot inside a label is not a dot between labels", () => {
  const header = Buffer.from([0, 1, 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0]);
  const bytes = Buffer.concat([header, Buffer.from([3, 97, 46, 98, 0, 0, 16, 0, 1])]);
  assert.equal(decodeAnswer(bytes).question?.name, "a\\046b");
});

test("only names that fit into a message can be asked for", () => {
  for (const bad of ["", ".", "a..b", "x".repeat(64), `${"abcdefg.".repeat(32)}com`, "a b.com", "ä.com"])
    assert.equal(isAskableName(bad), false, bad);
  for (const good of ["a", "_service-verification.example.com", "example.com."])
    assert.equal(isAskableName(good), true, good);
});
