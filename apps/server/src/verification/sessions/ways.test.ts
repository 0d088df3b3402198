import assert from "node:assert/strict";
import test from "node:test";
import { type Method, methods } from "@assay/contract/facts";
import { claimKeys } from "@assay/contract/sessions";
import type { Asked, Operator } from "../evidence/kind.ts";
import {
  availableMethods,
  enabledMethods,
  obstacleTo,
  operatorLacks,
  waysToSatisfy as waysUnder,
  wayOf as wayUnder,
} from "./ways.ts";

const asked = (required: readonly string[], optional: readonly string[] = []): Asked => ({
  shareFields: Object.fromEntries([
    ...required.map((key) => [key, { required: true }] as const),
    ...optional.map((key) => [key, { required: false }] as const),
  ]),
  requirements: {},
});
const operator: Operator = { methods, registration: [] };
const waysToSatisfy = (what: Asked, listed: readonly Method[]) => waysUnder(what, listed, operator);
const wayOf = (method: Method, agreed: Parameters<typeof wayUnder>[1]) => wayUnder(method, agreed, operator);
const all = ["wallet_age", "wallet_pid", "document_chip"] as const;

test("a method is offered only if it can give every required field; optional ones exclude nothing", () => {
  assert.deepEqual(waysToSatisfy(asked(["age_over_18"]), all), all);
  assert.deepEqual(waysToSatisfy(asked(["age_over_18"], ["mrz_optional_data"]), all), all);
  assert.deepEqual(waysToSatisfy(asked(["family_name"]), all), ["wallet_pid", "document_chip"]);
  assert.deepEqual(waysToSatisfy(asked(["family_name", "mrz_optional_data"]), all), ["document_chip"]);
  assert.deepEqual(waysToSatisfy(asked(["mrz_optional_data"]), ["wallet_pid"]), []);
});

test("a method is offered only if it can meet every requirement", () => {
  const demanding = (requirements: Asked["requirements"]) =>
    waysToSatisfy({ ...asked(["age_over_18"]), requirements }, all);
  assert.deepEqual(demanding({ clone_detection: "required" }), ["wallet_pid", "document_chip"]);
  // Whether there is a status list is found out at the answer.
  assert.deepEqual(demanding({ revocation: "required" }), all);
});

test("the order is the partner's, and only what the partner listed is offered", () => {
  assert.deepEqual(waysToSatisfy(asked([]), ["document_chip", "wallet_pid"]), [
    "document_chip",
    "wallet_pid",
  ]);
  assert.deepEqual(waysToSatisfy(asked([]), ["wallet_pid"]), ["wallet_pid"]);
});

test("what stands in the way is named as the request names it, the first field before a requirement", () => {
  const requirements = { clone_detection: "required" } as const;
  assert.equal(obstacleTo("wallet_age", asked(["age_over_18", "family_name"])), "share_fields.family_name");
  assert.equal(
    obstacleTo("wallet_pid", { ...asked(["mrz_optional_data"]), requirements }),
    "share_fields.mrz_optional_data",
  );
  const age = asked(["age_over_18", "service_document_id"]);
  assert.equal(obstacleTo("wallet_age", { ...age, requirements }), "requirements.clone_detection");
  assert.equal(obstacleTo("wallet_age", age), null);
  assert.equal(obstacleTo("wallet_mdl", asked(["family_name"])), null);
});

test("a proof of age needs an age to prove, and no type of a document", () => {
  assert.equal(obstacleTo("wallet_age", asked(["service_document_id"])), "share_fields.age_over_18");
  assert.equal(obstacleTo("wallet_age", asked([], ["age_over_21"])), null);
  assert.equal(
    obstacleTo("wallet_age", asked(["age_over_18", "document_type_code"])),
    "share_fields.document_type_code",
  );
});

test("each wallet method has its channels, and says what it looks at without sharing it", () => {
  const fieldKeys = ["family_name", "age_over_18"];
  for (const method of ["wallet_pid", "wallet_mdl"] as const)
    assert.deepEqual(wayOf(method, { requirements: {}, fieldKeys }), {
      method,
      channels: ["dc_api", "redirect"],
      looksAt: ["date_of_birth", "document_expiry_date"],
    });
  assert.deepEqual(wayOf("wallet_pid", { requirements: {}, fieldKeys: ["family_name"] }).looksAt, [
    "document_expiry_date",
  ]);
  const age = { method: "wallet_age", channels: ["dc_api", "age_link"], looksAt: [] };
  assert.deepEqual(wayOf("wallet_age", { requirements: {}, fieldKeys }), age);
  const bound = { requirements: { binding: "required" } as const, fieldKeys };
  assert.deepEqual(wayOf("wallet_age", bound).channels, ["dc_api"]);
  assert.deepEqual(wayOf("document_chip", bound), { method: "document_chip", channels: [], looksAt: [] });
});

test("the operator opens wallet methods in live; the sandbox has all of them", () => {
  const config = {
    wallet: {
      methods: ["wallet_mdl"],
      trustSources: [],
      statusMaxAgeSeconds: 1,
      listGraceDays: 7,
      schemes: { pid: "", mdl: "", age: "" },
    },
    readerAppAndroid: null,
    readerAppIos: null,
    deskReaders: false,
  } as const;
  assert.deepEqual(enabledMethods(config, { sandbox: true }), methods);
  assert.deepEqual(enabledMethods(config, { sandbox: false }), ["document_chip", "wallet_mdl"]);
  assert.deepEqual(availableMethods(config, { sandbox: true }), methods);
  assert.deepEqual(availableMethods(config, { sandbox: false }), ["wallet_mdl"]);
  const isOpenWith = (...opened: ("wallet_pid" | "wallet_mdl" | "wallet_age")[]) =>
    enabledMethods({ wallet: { ...config.wallet, methods: opened } }, { sandbox: false });
  assert.deepEqual(isOpenWith(), ["document_chip"]);
  assert.deepEqual(isOpenWith("wallet_age", "wallet_pid"), ["document_chip", "wallet_pid", "wallet_age"]);
  const atDesks = { ...config, deskReaders: true };
  assert.deepEqual(availableMethods(atDesks, { sandbox: false }), ["document_chip", "wallet_mdl"]);
});

test("a method that no kind carries out is not offered, and leads nowhere", () => {
  assert.equal(obstacleTo("wallet_pid", asked([]), {}), "methods");
  assert.deepEqual(waysUnder(asked([]), all, operator, {}), []);
  assert.equal(operatorLacks("wallet_pid", asked([]), operator, {}), "methods");
  assert.deepEqual(wayUnder("wallet_pid", { requirements: {}, fieldKeys: ["age_over_18"] }, operator, {}), {
    method: "wallet_pid",
    channels: [],
    looksAt: [],
  });
});

test("a chip gives every field of the contract and meets every requirement", () => {
  const everything = asked([...claimKeys, "age_over_18"]);
  const requirements = { clone_detection: "required", revocation: "required" } as const;
  assert.equal(obstacleTo("document_chip", { ...everything, requirements }), null);
  assert.equal(obstacleTo("document_chip", asked(["shoe_size"])), "share_fields.shoe_size");
  assert.deepEqual(waysToSatisfy(everything, ["wallet_pid"]), []);
});

test("wallets answer only registered verifiers; the link of a proof of age is not signed", () => {
  const unknown: Operator = { methods, registration: null };
  const age = asked(["age_over_18"]);
  assert.deepEqual(waysUnder(age, methods, unknown), ["document_chip", "wallet_age"]);
  const agreed = { requirements: {}, fieldKeys: ["age_over_18"] };
  assert.deepEqual(wayUnder("wallet_age", agreed, unknown).channels, ["age_link"]);
  const bound: Asked = { ...age, requirements: { binding: "required" } };
  assert.deepEqual(waysUnder(bound, methods, unknown), ["document_chip"]);
  assert.equal(operatorLacks("wallet_pid", age, unknown), "methods");
  assert.equal(operatorLacks("wallet_pid", age, { ...operator, methods: ["document_chip"] }), "methods");
});

test("a method is offered only for what the operator is registered to require; a proof of age needs no registration", () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claim = [{ path: ["org.iso.18013.5.1", "given_name"] }];
  const credentials = [{ format: "mso_mdoc", meta: { doctype_value: "org.iso.18013.5.1.mDL" }, claim }];
  const registration = [`${part({ typ: "rc-wrp+jwt" })}.${part({ credentials })}.c2lnbmVk`];
  const registered: Operator = { methods, registration };
  assert.equal(operatorLacks("wallet_mdl", asked(["given_names"], ["family_name"]), registered), null);
  const name = asked(["family_name"]);
  assert.equal(operatorLacks("wallet_mdl", name, registered), "share_fields.family_name");
  assert.deepEqual(waysUnder(name, methods, registered), ["document_chip"]);
  assert.equal(operatorLacks("wallet_age", asked(["age_over_18"]), registered), null);
});
