import assert from "node:assert/strict";
import { test } from "node:test";
import { certificateCountriesOf, countryExceptions, sameCountry } from "./country.ts";

test("three letters of the zone stand for two letters of a certificate", () => {
  assert.deepEqual(certificateCountriesOf("AUT"), ["AT", "AUT"]);
  assert.deepEqual(certificateCountriesOf("D<<"), ["DE", "D"]);
  assert.deepEqual(certificateCountriesOf("D"), ["DE", "D"]);
  assert.deepEqual(certificateCountriesOf("UTO"), ["UT", "UTO"]);
});

test("codes that ISO does not have are known", () => {
  for (const [state, country] of [
    ["GBD", "GB"],
    ["GBN", "GB"],
    ["GBD", "BM"],
    ["BMU", "BM"],
    ["UNO", "UN"],
    ["UNO", "ZZ"],
    ["UNA", "ZZ"],
    ["UNK", "UN"],
    ["MAC", "CN"],
    ["XKX", "XK"],
    ["TWN", "TW"],
    ["GIB", "GB"],
    ["EUE", "EU"],
    ["XOM", "XO"],
    ["RKS", "KS"],
    ["HKG", "CN"],
  ] as const) {
    assert.ok(certificateCountriesOf(state).includes(country), `${state} ${country}`);
  }
});

test("no state stands for a stranger, and nothing stands for nothing", () => {
  assert.ok(!certificateCountriesOf("AUT").includes("AU"));
  assert.ok(!certificateCountriesOf("SVK").includes("SI"));
  assert.deepEqual(certificateCountriesOf("<<<"), []);
  assert.deepEqual(certificateCountriesOf("QQQ"), ["QQQ"]);
});

test("each country of ISO 3166-1 is there once", () => {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const found: string[] = [];
  for (const a of letters) {
    for (const b of letters) {
      for (const c of letters) {
        const [two = "", three] = certificateCountriesOf(a + b + c);
        if (three !== undefined && two.length === 2) found.push(two);
      }
    }
  }
  const names = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
  // 249 countries, and the codes of Doc 9303 that lead to some of the same ones.
  assert.ok(new Set(found).size >= 249);
  const special = new Set(["UT", "XO", "XP", "KS"]);
  for (const two of found) assert.ok(special.has(two) || names.of(two) !== undefined, two);
});

test("every exception names its source once", () => {
  for (const { state, source } of countryExceptions) assert.ok(source.length > 10, state);
  assert.equal(new Set(countryExceptions.map(({ state }) => state)).size, countryExceptions.length);
});

test("a certificate may write its country with three letters, and ZZ is no state but the one of the table", () => {
  assert.ok(sameCountry("AUT", "AT"));
  assert.ok(sameCountry("AT", "AT"));
  assert.ok(!sameCountry("AUT", "AU"));
  const behindZz = countryExceptions.filter(({ countries }) => countries.includes("ZZ"));
  assert.deepEqual(
    behindZz.map(({ state }) => state),
    ["UNO", "UNA", "UNK"],
  );
});
