import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import test from "node:test";
import { type ErrorCode, errorCodes, errorTable } from "@assay/contract/errors";
import de from "../../error-texts/de.json" with { type: "json" };
import fr from "../../error-texts/fr.json" with { type: "json" };
import { loadWords } from "../i18n/words.ts";
import { plainWords } from "../ui/plain-words.ts";

/** Their messages say more than the code, or no page of the dashboard can raise them. */
const inEnglish: readonly ErrorCode[] = [
  "API_KEY_NOT_ALLOWED",
  "METHOD_NOT_ALLOWED",
  "BAD_REQUEST",
  "INVALID_REQUEST",
  "OTHER_ENVIRONMENT",
  "CONFLICT",
  "REQUEST_HEADERS_TOO_LARGE",
  "IDEMPOTENCY_KEY_REUSED",
  "UNKNOWN_CLAIM_KEY",
  "CONSENT_REQUIRED",
  "CONSENT_TEXTS_CHANGED",
  "FIELD_NOT_ASKED",
  "REQUIRED_FIELD_DECLINED",
  "CONSENT_FIXED",
  "HANDOFF_TOKEN_INVALID",
  "HANDOFF_TOKEN_EXPIRED",
  "HANDOFF_TOKEN_CONSUMED",
  "HANDOFF_DEVICE_MISMATCH",
  "OTHER_BROWSER",
  "WALLET_NOT_OFFERED",
  "WALLET_REQUEST_NOT_FOUND",
  "WALLET_REQUEST_EXPIRED",
  "WALLET_ANSWERED",
  "WALLET_OTHER_BROWSER",
  "CANCEL_TOKEN_INVALID",
  "CANCEL_TOKEN_USED",
  "LOGO_NOT_FOUND",
  "WEBSOCKET_REQUIRED",
  "WEBHOOK_URL_REJECTED",
  "DELIVERY_NOT_WAITING",
  "LISTENER_LIMIT_REACHED",
  "SANDBOX_KEY_REQUIRED",
  "SESSION_IS_LIVE",
  "TEST_DEVICE_REFUSED",
  "AGENTS_MAY_NOT_CHANGE_WEBHOOKS",
  "EMBED_ORIGIN_NOT_ALLOWED",
];
const isCode = (key: string): key is ErrorCode => Object.hasOwn(errorTable, key);

test("every error code has German and French words, or is known to be shown in English", () => {
  for (const texts of [de, fr])
    assert.deepEqual([...Object.keys(texts).filter(isCode), ...inEnglish].sort(), [...errorCodes].sort());
  assert.deepEqual(Object.keys(de), Object.keys(fr));
});

test("a text for a single message is one that the service sends", () => {
  const server = new URL("../../../server/src/", import.meta.url);
  const sources = globSync("**/*.ts", { cwd: server }).map((file) =>
    readFileSync(new URL(file, server), "utf8"),
  );
  for (const key of Object.keys(de))
    if (!isCode(key))
      assert.ok(
        sources.some((source) => source.includes(key)),
        key,
      );
});

test("the words of an error name the fields that the English ones name, and read as sentences", async () => {
  await loadWords("de");
  const fieldsIn = (text: string) => [...text.matchAll(/`[^`]+`/g)].map(([field]) => field);
  for (const texts of [de, fr])
    for (const [key, { message, hint }] of Object.entries(texts)) {
      const english = isCode(key) ? errorTable[key].message : key;
      for (const field of fieldsIn(message)) assert.ok(english.includes(field), `${key}: ${field}`);
      for (const text of [message, ...(hint === "" ? [] : [hint])])
        assert.match(plainWords(text), /^\S.*\.$/, `${key}: ${text}`);
    }
});
