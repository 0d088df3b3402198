import assert from "node:assert/strict";
import test from "node:test";
import { NoAnswerError } from "@assay/contract/client";
import texts from "../../texts/en.json" with { type: "json" };
import { messagesOf } from "../i18n/messages.ts";
import { troubleOf, troubleWords } from "./trouble.ts";

const en = messagesOf(texts, "en");

test("a network that is gone, a service that is silent and one that has a fault are told apart", () => {
  const noNetwork = new TypeError("Failed to fetch");
  assert.equal(troubleOf(noNetwork, false), "offline");
  assert.equal(troubleOf(noNetwork, true), "no_answer");
  assert.equal(troubleOf(new NoAnswerError(), true), "no_answer");
  assert.equal(troubleOf(new Error("an answer that tells of a fault"), true), "service");
});

test("only a fault of the service is called one of ours", () => {
  assert.match(troubleWords(en, "service").title, /our side/);
  for (const trouble of ["offline", "no_answer"] as const)
    assert.doesNotMatch(Object.values(troubleWords(en, trouble)).join(" "), /our side/);
});
