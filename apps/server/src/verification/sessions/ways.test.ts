import assert from "node:assert/strict";
import test from "node:test";
import { claimKeys } from "@assay/contract/sessions";
import { documentChip } from "../evidence/document-chip/document-chip.ts";
import { type Asked, enabledMethods, obstacleTo, waysToSatisfy } from "./ways.ts";

/** A wallet as it might be: an age proof gives an age only, and proves no key. */
const among = {
  document_chip: documentChip,
  wallet: {
    methods: ["wallet_pid", "wallet_age"],
    gives: (method: string, key: string) =>
      method === "wallet_age" ? key === "age_over_18" : key !== "mrz_optional_data",
    meets: (method: string, requirement: string) => method === "wallet_pid" && requirement !== "revocation",
  },
} as const;

const asked = (required: readonly string[], optional: readonly string[] = []): Asked => ({
  shareFields: Object.fromEntries([
    ...required.map((key) => [key, { required: true }] as const),
    ...optional.map((key) => [key, { required: false }] as const),
  ]),
  requirements: {},
});
const all = ["wallet_age", "wallet_pid", "document_chip"] as const;

test("a method is offered only if it can give every required field; optional ones exclude nothing", () => {
  assert.deepEqual(waysToSatisfy(asked(["age_over_18"]), all, among), all);
  assert.deepEqual(waysToSatisfy(asked(["age_over_18"], ["mrz_optional_data"]), all, among), all);
  assert.deepEqual(waysToSatisfy(asked(["family_name"]), all, among), ["wallet_pid", "document_chip"]);
  assert.deepEqual(waysToSatisfy(asked(["family_name", "mrz_optional_data"]), all, among), ["document_chip"]);
  assert.deepEqual(waysToSatisfy(asked(["mrz_optional_data"]), ["wallet_pid"], among), []);
});

test("a method is offered only if it can meet every requirement", () => {
  const demanding = (requirements: Asked["requirements"]) =>
    waysToSatisfy({ ...asked(["age_over_18"]), requirements }, all, among);
  assert.deepEqual(demanding({ clone_detection: "required" }), ["wallet_pid", "document_chip"]);
  assert.deepEqual(demanding({ revocation: "required" }), ["document_chip"]);
});

test("the order is the partner's, and only what the partner listed is offered", () => {
  assert.deepEqual(waysToSatisfy(asked([]), ["document_chip", "wallet_pid"], among), [
    "document_chip",
    "wallet_pid",
  ]);
  assert.deepEqual(waysToSatisfy(asked([]), ["wallet_pid"], among), ["wallet_pid"]);
});

test("what stands in the way is named as the request names it, the first field before a requirement", () => {
  const requirements = { revocation: "required" } as const;
  assert.equal(
    obstacleTo("wallet_age", asked(["age_over_18", "family_name"]), among),
    "share_fields.family_name",
  );
  assert.equal(
    obstacleTo("wallet_pid", { ...asked(["mrz_optional_data"]), requirements }, among),
    "share_fields.mrz_optional_data",
  );
  assert.equal(obstacleTo("wallet_pid", { ...asked([]), requirements }, among), "requirements.revocation");
  assert.equal(obstacleTo("wallet_pid", asked(["family_name"]), among), null);
  assert.equal(obstacleTo("wallet_mdl", asked([]), among), "methods");
});

test("a chip gives every field of the contract and meets every requirement, and is all that is enabled", () => {
  assert.deepEqual(enabledMethods(), ["document_chip"]);
  const everything = asked([...claimKeys, "age_over_18"]);
  const requirements = { clone_detection: "required", revocation: "required" } as const;
  assert.equal(obstacleTo("document_chip", { ...everything, requirements }), null);
  assert.equal(obstacleTo("document_chip", asked(["shoe_size"])), "share_fields.shoe_size");
  assert.deepEqual(waysToSatisfy(everything, ["wallet_pid"]), []);
});
