import assert from "node:assert/strict";
import test from "node:test";
import { loadWords } from "../i18n/words.ts";
import { deviceName } from "./device-name.ts";

await loadWords("en");

const chrome = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0";

test("devices are named as people would name them", () => {
  const names = [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36`,
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 Edg/130.0.0.0`,
    `Mozilla/5.0 (Linux; Android 10; K) ${chrome} Mobile Safari/537.36`,
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15",
    "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0",
    "curl/8.5.0",
    "assay-cli/1.0",
    "",
    "<script>alert(1)</script>",
  ].map((agent) => deviceName(agent).name);
  assert.deepEqual(names, [
    "Chrome on Windows",
    "Edge on Windows",
    "Chrome on Android",
    "Safari on iPhone",
    "Safari on macOS",
    "Firefox on Linux",
    "curl",
    "assay-cli",
    "An unknown program",
    "An unknown program",
  ]);
});
