import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { concat, fromHex, toHex } from "../bytes.ts";
import { EmrtdError, type EmrtdErrorCode } from "../emrtd-error.ts";
import { oidFromBytes, oidToBytes } from "./oid.ts";
import { readTlv, readWhole } from "./read.ts";
import * as der from "./write.ts";

function fails(code: EmrtdErrorCode, run: () => unknown): void {
  assert.throws(run, (error: unknown) => error instanceof EmrtdError && error.code === code);
}

function nested(levels: number, open: string, close: string): Uint8Array {
  return fromHex(open.repeat(levels) + close.repeat(levels));
}

test("a tag is the identifier octets as they stand", () => {
  const node = readWhole(fromHex("7F61 03 02 01 05"));
  assert.equal(node.tag, 0x7f61);
  assert.equal(node.at(0, "number").smallInteger(), 5);
});

test("small tag numbers in the long form are read, because ICAO writes them so", () => {
  assert.equal(readWhole(fromHex("5F01 04 30313037")).tag, 0x5f01);
});

test("lengths may be longer than needed", () => {
  assert.equal(readWhole(fromHex("04 840000 0002 ABCD")).valueLength, 2);
});

test("an indefinite length ends at its own marker", () => {
  const node = readTlv(fromHex("30 80 30 80 02 01 00 00 00 04 02 00 00 00 00 AA"));
  assert.equal(node.end, 15);
  assert.equal(node.indefinite, true);
  assert.deepEqual(
    node.children().map((child) => toHex(child.bytes)),
    ["30800201000000", "04020000"],
  );
});

test("octet strings made of pieces are joined", () => {
  assert.equal(toHex(readWhole(fromHex("24 80 04 01 AA 24 03 04 01 BB 00 00")).octetString()), "aabb");
});

test("whatever is cut off is refused as truncated", () => {
  const whole = der.sequence(der.integer(1), der.octetString(new Uint8Array(300)));
  for (let length = 0; length < whole.length; length++) {
    fails("BER_TRUNCATED", () => readWhole(whole.subarray(0, length)));
  }
  fails("BER_TRUNCATED", () => readWhole(fromHex("30 80 02 01 00")));
  fails("BER_TRUNCATED", () => readWhole(fromHex("30 80 00")));
});

test("nesting beyond the limit is refused without recursion", () => {
  fails("BER_TOO_DEEP", () => readWhole(nested(100_000, "3080", "0000")));
  let node = readWhole(
    Array.from({ length: 40 }).reduce<Uint8Array>((inner) => der.sequence(inner), der.nullValue()),
  );
  fails("BER_TOO_DEEP", () => {
    for (let depth = 0; depth < 40; depth++) node = node.at(0, "inner");
  });
});

test("the number of elements and bytes is limited", () => {
  const many = readWhole(der.sequence(...Array.from({ length: 50 }, () => der.nullValue())), {
    maxNodes: 40,
  });
  fails("BER_TOO_LARGE", () => many.children());
  fails("BER_TOO_LARGE", () => readWhole(der.octetString(new Uint8Array(100)), { maxBytes: 64 }));
  fails("BER_TOO_LARGE", () => readWhole(fromHex("04 85 01 00 00 00 00")));
});

test("a primitive element has neither an indefinite length nor parts", () => {
  fails("BER_INVALID", () => readWhole(fromHex("04 80 00 00")));
  fails("BER_INVALID", () => readWhole(fromHex("04 00")).children());
});

test("times are read with century, zone and missing seconds", () => {
  const time = (tag: string, text: string) =>
    readWhole(concat(fromHex(tag), Uint8Array.of(text.length), new TextEncoder().encode(text)))
      .time()
      .toISOString();
  assert.equal(time("17", "500101000000Z"), "1950-01-01T00:00:00.000Z");
  assert.equal(time("17", "4912312359Z"), "2049-12-31T23:59:00.000Z");
  assert.equal(time("17", "240229120000+0130"), "2024-02-29T10:30:00.000Z");
  assert.equal(time("18", "20500101000000.5Z"), "2050-01-01T00:00:00.500Z");
  for (const text of [
    "230229000000Z",
    "231301000000Z",
    "230101240000Z",
    "2301010000",
    "230101000000+2460",
    "",
  ]) {
    fails("BER_INVALID", () => time("17", text));
  }
});

test("a time as DER writes it is the moment that it says, or refused", () => {
  const number = (max: number) => fc.integer({ min: 0, max });
  const fields = [number(9999), number(14), number(33), number(25), number(61), number(61)] as const;
  fc.assert(
    fc.property(...fields, (year, ...rest) => {
      const [month, day, hours, minutes, seconds] = rest.map((field) => String(field).padStart(2, "0"));
      const whole = String(year).padStart(4, "0");
      const moment = new Date(`${whole}-${month}-${day}T${hours}:${minutes}:${seconds}Z`);
      // The parser of dates takes midnight as 24:00, and the 30th of February for a day in March.
      const iso = Number.isNaN(moment.getTime()) ? "" : moment.toISOString();
      const exists = iso === `${whole}-${month}-${day}T${hours}:${minutes}:${seconds}.000Z`;
      const content = new TextEncoder().encode(`${whole}${month}${day}${hours}${minutes}${seconds}Z`);
      const encodings = [der.tlv(0x18, content)];
      if (year >= 1950 && year < 2050) encodings.push(der.tlv(0x17, content.subarray(2)));
      for (const encoded of encodings) {
        if (exists) assert.equal(readWhole(encoded).time().toISOString(), iso);
        else fails("BER_INVALID", () => readWhole(encoded).time());
      }
    }),
  );
  fails("BER_INVALID", () => readWhole(der.tlv(0x17, new TextEncoder().encode("2:0101000000Z"))).time());
});

test("every small number comes back, and none that is larger", () => {
  fc.assert(
    fc.property(fc.integer(), (value) => {
      assert.equal(readWhole(der.integer(value)).smallInteger(), value);
    }),
  );
  assert.equal(readWhole(fromHex("0204 80000000")).smallInteger(), -(2 ** 31));
  assert.equal(readWhole(fromHex("0203 00FFFF")).smallInteger(), 65_535);
  fails("BER_INVALID", () => readWhole(der.integer(2 ** 31)).smallInteger());
  fails("BER_INVALID", () => readWhole(fromHex("0200")).smallInteger());
});

test("every integer comes back", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(1n << 300n), max: 1n << 300n }), (value) => {
      const encoded = der.integer(value);
      assert.equal(readWhole(encoded).integer(), value);
      const [first = 0, second = 0] = readWhole(encoded).value;
      const redundant = (first === 0 && second < 0x80) || (first === 0xff && second >= 0x80);
      assert.ok(readWhole(encoded).valueLength === 1 || !redundant, "minimal");
    }),
  );
  for (const [value, hex] of [
    [0, "020100"],
    [127, "02017f"],
    [128, "02020080"],
    [-128, "020180"],
    [-129, "0202ff7f"],
  ] as const) {
    assert.equal(toHex(der.integer(value)), hex);
  }
});

test("every object identifier comes back", () => {
  const arcs = fc.oneof(
    fc.tuple(fc.integer({ min: 0, max: 1 }), fc.integer({ min: 0, max: 39 })),
    fc.tuple(fc.constant(2), fc.nat()),
  );
  fc.assert(
    fc.property(arcs, fc.array(fc.bigInt({ min: 0n, max: 1n << 70n }), { maxLength: 4 }), (first, rest) => {
      const dotted = [...first, ...rest].join(".");
      assert.equal(oidFromBytes(oidToBytes(dotted)), dotted);
    }),
  );
  assert.equal(toHex(oidToBytes("1.2.840.113549.1.7.2")), "2a864886f70d010702");
  fails("OID_INVALID", () => oidFromBytes(fromHex("2a80")));
  fails("OID_INVALID", () => oidFromBytes(fromHex("2a8001")));
});

test("what is written is read, at every length of length", () => {
  for (const size of [0, 127, 128, 255, 256, 65_535, 65_536]) {
    assert.equal(readWhole(der.octetString(new Uint8Array(size))).octetString().length, size);
  }
  const at = new Date("2031-02-03T04:05:06Z");
  assert.equal(readWhole(der.utcTime(at)).time().getTime(), at.getTime());
  assert.equal(readWhole(der.generalizedTime(at)).time().getTime(), at.getTime());
  assert.equal(readWhole(der.utf8String("Ærø")).text(), "Ærø");
});

test("random bytes are refused with the package's own error only", () => {
  const walk = (node: ReturnType<typeof readTlv>): void => {
    if (node.constructed) for (const child of node.iterate()) walk(child);
  };
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        walk(readTlv(bytes));
      } catch (error) {
        assert.ok(error instanceof EmrtdError);
      }
    }),
  );
});
