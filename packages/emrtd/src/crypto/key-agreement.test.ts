import assert from "node:assert/strict";
import { createECDH, getDiffieHellman } from "node:crypto";
import { test } from "node:test";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { bytesToBigInt, concat, toHex, uintBytes } from "../bytes.ts";
import { calculableCurve, curveFromParameters, standardizedCurves } from "./curve-points.ts";
import { curveNamed } from "./curves.ts";
import {
  checkedDhDomain,
  type DhParameters,
  ecDomain,
  rfc5114Groups,
  standardizedDomain,
} from "./key-agreement.ts";
import { knownSafePrimes } from "./known-primes.ts";
import { isProbablePrime, modPow } from "./prime.ts";

const opensslNames: Readonly<Record<string, string>> = {
  secp192r1: "prime192v1",
  secp256r1: "prime256v1",
};

for (const curve of standardizedCurves) {
  test(`key agreement on ${curve.name} agrees with OpenSSL`, () => {
    const domain = ecDomain(calculableCurve(curve));
    const peer = createECDH(opensslNames[curve.name] ?? curve.name);
    peer.generateKeys();
    const privateKey = domain.randomPrivateKey(seededRandom(curve.name));
    const own = domain.sharedSecret(privateKey, peer.getPublicKey());
    assert.equal(toHex(own), toHex(peer.computeSecret(domain.publicKey(privateKey))));
  });
}

test("points that are not on the curve, compressed, short or zero are refused", () => {
  const domain = standardizedDomain(13);
  const good = domain.publicKey(5n);
  const offCurve = good.slice();
  offCurve[40] = (offCurve[40] ?? 0) ^ 1;
  const field = 0xa9fb57dba1eea9bc3e660a909d838d726e3bf623d52620282013481d1f6e5377n;
  const unreduced = concat(Uint8Array.of(4), uintBytes(field, 32), good.subarray(33));
  for (const bad of [
    offCurve,
    unreduced,
    good.subarray(0, 64),
    concat(good, Uint8Array.of(0)),
    concat(Uint8Array.of(2), good.subarray(1, 33)),
    new Uint8Array(65),
    Uint8Array.of(0),
    new Uint8Array(0),
  ]) {
    assert.throws(() => domain.checkPublicKey(bad), { code: "CRYPTO_INVALID" });
    assert.throws(() => domain.sharedSecret(7n, bad), { code: "CRYPTO_INVALID" });
  }
  assert.throws(() => domain.publicKey(0n), { code: "CRYPTO_INVALID" });
});

test("elements outside of the subgroup of a DH domain are refused", () => {
  for (const id of [0, 1, 2]) {
    const domain = standardizedDomain(id);
    const numberBytes = domain.bits / 8;
    const modulus = (1n << BigInt(domain.bits)) - 1n;
    for (const value of [0n, 1n, 2n, modulus]) {
      assert.throws(() => domain.checkPublicKey(uintBytes(value, numberBytes)), { code: "CRYPTO_INVALID" });
    }
    domain.checkPublicKey(domain.publicKey(12_345n));
    assert.throws(() => domain.checkPublicKey(new Uint8Array(numberBytes + 2)), { code: "CRYPTO_INVALID" });
  }
});

test("an explicit DH group without its order works, and a composite one is refused", () => {
  const peer = getDiffieHellman("modp14");
  peer.generateKeys();
  const p = bytesToBigInt(peer.getPrime());
  const domain = checkedDhDomain({ p, g: 2n, q: null });
  const privateKey = domain.randomPrivateKey(seededRandom("modp"));
  const own = domain.sharedSecret(privateKey, peer.getPublicKey());
  assert.equal(toHex(own), toHex(peer.computeSecret(domain.publicKey(privateKey))));
  assert.throws(() => checkedDhDomain({ p: p + 2n, g: 2n, q: null }), { code: "CRYPTO_INVALID" });
  assert.throws(() => checkedDhDomain({ p, g: 1n, q: null }), { code: "CRYPTO_INVALID" });
  assert.throws(() => checkedDhDomain({ p: 23n, g: 5n, q: 11n }), { code: "CRYPTO_INVALID" });
});

test("the groups of RFC 3526 and RFC 7919 are known, and their primes are those that were published", () => {
  const groups = [...knownSafePrimes()].map(([p, name]) => ({ p, name }));
  const published = { modp5: 1536, modp14: 2048, modp15: 3072, modp16: 4096 };
  for (const [group, bits] of Object.entries(published)) {
    const p = bytesToBigInt(getDiffieHellman(group).getPrime());
    assert.equal(groups.find((one) => one.p === p)?.name, `RFC 3526 ${bits}`);
  }
  // The addends of RFC 7919 are the least that make both prime, so a wrong digit would show.
  for (const { p, name } of groups) {
    if (name !== "RFC 7919 4096" && !name.endsWith("2048")) continue;
    assert.ok(isProbablePrime(p) && isProbablePrime((p - 1n) / 2n), name);
  }
  for (const { p, name } of groups) {
    assert.equal(checkedDhDomain({ p, g: 2n, q: null }).name, name);
    assert.equal(checkedDhDomain({ p, g: 2n, q: (p - 1n) / 2n }).name, name);
  }
});

test("a known prime with another generator or order is no known group, and a wrong order is refused", () => {
  const [p = 0n] = knownSafePrimes().keys();
  const q = (p - 1n) / 2n;
  assert.equal(checkedDhDomain({ p, g: 4n, q }).name, "explicit");
  // Both times: what was found is remembered.
  for (let time = 0; time < 2; time++) {
    for (const wrong of [
      { p, g: 1n, q: null },
      { p, g: p - 1n, q: null },
      { p, g: p + 2n, q: null },
      // -2 generates the whole group, not the half of it.
      { p, g: p - 2n, q },
      { p, g: 2n, q: p - 1n },
      { p, g: 2n, q: 2n },
      { p, g: 2n, q: q + 2n },
    ])
      assert.throws(() => checkedDhDomain(wrong), { code: "CRYPTO_INVALID" });
  }
});

test("a verdict on an unknown group is the same however many others were judged since", () => {
  const { p, q } = rfc5114Groups[0]?.parameters ?? { p: 0n, q: 0n };
  const cofactor = (p - 1n) / (q ?? 1n);
  const judge = (parameters: DhParameters) => {
    try {
      return checkedDhDomain(parameters).name;
    } catch {
      return "refused";
    }
  };
  const sound = { p, g: modPow(3n, cofactor, p), q };
  const composite = { p: p + 2n, g: 3n, q: null };
  const notSafe = { p, g: 3n, q: null };
  const wrongOrder = { p, g: 3n, q };
  const verdicts = () => [sound, composite, notSafe, wrongOrder].map(judge);
  const first = verdicts();
  assert.deepEqual(first, ["explicit", "refused", "explicit", "refused"]);
  assert.deepEqual(verdicts(), first);
  for (let g = 5n; g < 105n; g++) assert.equal(judge({ p, g, q: null }), "explicit");
  assert.deepEqual(verdicts(), first);
});

test("explicit parameters of a known curve give that curve", () => {
  assert.deepEqual(
    standardizedCurves.map(({ standardizedId }) => standardizedId).sort((a, b) => Number(a) - Number(b)),
    [8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18],
  );
  for (const curve of standardizedCurves) {
    const { p, a, b, gx: Gx, gy: Gy, n } = curve;
    assert.equal(curveFromParameters({ p, a, b, Gx, Gy, n, h: 1n }).name, curve.name);
  }
});

test("an unsound curve is refused by the rule that it breaks", () => {
  const base = calculableCurve(curveNamed("brainpoolP256r1")).points.CURVE();
  /** The curve over this field, with a coefficient that puts the generator on it. */
  const overField = (p: bigint) => ({
    p,
    b: (((base.Gy ** 2n - base.Gx ** 3n - base.a * base.Gx) % p) + p) % p,
  });
  let otherPrime = base.n + 2n;
  while (!isProbablePrime(otherPrime)) otherPrime += 2n;
  // A curve of Miyaji, Nakabayashi and Takano (MNT): the order divides p^6 - 1.
  const mnt = (l: bigint) => ({ p: 4n * l * l + 1n, n: 4n * l * l - 2n * l + 1n });
  let l = 1n << 128n;
  while (!isProbablePrime(mnt(l).p) || !isProbablePrime(mnt(l).n)) l += 1n;
  const refusals: readonly [string, Partial<typeof base>][] = [
    ["the field has an unsuitable size", { p: 23n, a: 1n, b: 1n, Gx: 3n, Gy: 10n, n: 28n }],
    ["a coefficient lies outside of the field", { a: base.p }],
    ["the cofactor is not one", { h: 2n }],
    ["the order is unsuitable", { n: base.p }],
    ["the order is unsuitable", { n: (1n << 159n) - 1n }],
    ["the order is impossible for this field", { n: base.n + (1n << 140n) }],
    ["the curve is singular", { a: 0n, b: 0n, Gx: 1n, Gy: 1n }],
    ["the generator is not on the curve", { b: base.b + 1n }],
    ["the generator is not on the curve", { Gx: base.Gx + 1n }],
    ["a modulus is not prime", { n: base.n + 2n }],
    ["a modulus is not prime", overField(base.p + 2n)],
    ["the embedding degree is small", { ...overField(mnt(l).p), n: mnt(l).n }],
    ["the order is not that of the generator", { n: otherPrime }],
  ];
  for (const [rule, change] of refusals)
    assert.throws(
      () => curveFromParameters({ ...base, ...change }),
      { code: "CRYPTO_INVALID", message: `The explicit curve parameters are refused: ${rule}` },
      rule,
    );
});

test("an unknown curve that is sound is accepted", () => {
  // brainpoolP256t1, the twist that is not in the standardized list (RFC 5639, section 3.4).
  const twisted = curveFromParameters({
    p: 0xa9fb57dba1eea9bc3e660a909d838d726e3bf623d52620282013481d1f6e5377n,
    a: 0xa9fb57dba1eea9bc3e660a909d838d726e3bf623d52620282013481d1f6e5374n,
    b: 0x662c61c430d84ea4fe66a7733d0b76b7bf93ebc4af2f49256ae58101fee92b04n,
    Gx: 0xa3e8eb3cc1cfe7b7732213b23a656149afa142c47aafbc2b79a191562e1305f4n,
    Gy: 0x2d996c823439c56d7f7b22e14644417e69bcb6de39d027001dabe8f35b25c9ben,
    n: 0xa9fb57dba1eea9bc3e660a909d838d718c397aa3b561a6f7901e0e82974856a7n,
    h: 1n,
  });
  assert.equal(twisted.name, "explicit");
  const domain = ecDomain(twisted);
  const peer = createECDH("brainpoolP256t1");
  peer.generateKeys();
  const own = domain.sharedSecret(77n, peer.getPublicKey());
  assert.equal(toHex(own), toHex(peer.computeSecret(domain.publicKey(77n))));
});

test("primes and composites are told apart", () => {
  for (const prime of [2n, 3n, 113n, 127n, (1n << 127n) - 1n, (1n << 521n) - 1n])
    assert.ok(isProbablePrime(prime));
  for (const composite of [0n, 1n, 4n, 561n, 127n * 131n, 3_215_031_751n, (1n << 521n) + 1n]) {
    assert.ok(!isProbablePrime(composite));
  }
  assert.equal(modPow(4n, 13n, 497n), 445n);
});
