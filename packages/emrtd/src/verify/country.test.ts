import assert from "node:assert/strict";
import { test } from "node:test";
import { certificateCountriesOf, countryExceptions, icaoCodeOf, sameCountry } from "./country.ts";

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
    ["GBO", "GB"],
    ["GBP", "GB"],
    ["GBS", "GB"],
    ["GBD", "BM"],
    ["BMU", "BM"],
    ["BMU", "GB"],
    ["IMN", "IM"],
    ["IMN", "GB"],
    ["GGY", "GG"],
    ["GGY", "GB"],
    ["JEY", "JE"],
    ["JEY", "GB"],
    ["GIB", "GI"],
    ["UNO", "UN"],
    ["UNO", "ZZ"],
    ["UNA", "ZZ"],
    ["UNA", "UN"],
    ["UNK", "UN"],
    ["UNK", "ZZ"],
    ["MAC", "CN"],
    ["MAC", "MO"],
    ["XKX", "XK"],
    ["XKX", "KS"],
    ["XPO", "XP"],
    ["TWN", "TW"],
    ["GIB", "GB"],
    ["EUE", "EU"],
    ["XOM", "XO"],
    ["XOM", "XM"],
    ["RKS", "KS"],
    ["RKS", "XK"],
    ["RKS", "RK"],
    ["HKG", "CN"],
    ["HKG", "HK"],
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

test("every code of two letters that names a country has one code of the zone, and leads back from there", () => {
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  const names = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
  // Regions of CLDR and codes that ISO 3166-1 has withdrawn or never assigned.
  const notCountries =
    "AC AN BU CP CQ CS CT DD DG DY EA EZ FQ FX HV IC JT MI NH NQ NT PC PU PZ QO RH SU TA TP UK VD WK XA XB YD YU ZR ZZ".split(
      " ",
    );
  const found = letters
    .flatMap((a) => letters.map((b) => a + b))
    .filter((code) => names.of(code) !== undefined && !notCountries.includes(code));
  assert.ok(found.length >= 249, String(found.length));
  for (const code of found) {
    const state = icaoCodeOf(code);
    assert.ok(state !== null && certificateCountriesOf(state).includes(code), `${code} ${state}`);
  }
  assert.equal(new Set(found.map(icaoCodeOf)).size, found.length);
  assert.deepEqual(["DE", "GB", "AT", "XK", "EU", "UT"].map(icaoCodeOf), [
    "D",
    "GBR",
    "AUT",
    "RKS",
    "EUE",
    "UTO",
  ]);
  for (const code of ["QQ", "de", "DEU", "", "__"]) assert.equal(icaoCodeOf(code), null);
});
