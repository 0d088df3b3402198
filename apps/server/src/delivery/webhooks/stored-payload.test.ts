import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import test from "node:test";
import fc from "fast-check";
import { knownId } from "../../platform/kernel/ids.ts";
import { sealPayload } from "./seal-payload.ts";
import { packPayload, unpackPayload } from "./stored-payload.ts";

const { n = "", e = "" } = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({
  format: "jwk",
});

test("a sealed body comes back from its bytes as it was sent, and takes a quarter less room", () => {
  for (const keyId of ["main", "Schlüssel 1", "k".repeat(200)]) {
    const jwe = sealPayload(
      { id: knownId(`whk_${keyId}`), keyId, n, e },
      JSON.stringify({ text: "x".repeat(500) }),
    );
    const stored = packPayload(jwe);
    assert.equal(unpackPayload(stored), jwe);
    assert.ok(stored.length < 0.76 * jwe.length, `${stored.length} of ${jwe.length}`);
  }
});

test("what is no body of ours is stored as its text, and so is what was stored before", () => {
  assert.equal(unpackPayload(Buffer.from("eyJhbGciOiJub25lIn0.a.b.c.d")), "eyJhbGciOiJub25lIn0.a.b.c.d");
  const header = Buffer.from(JSON.stringify({ alg: "RSA-OAEP-256", enc: "A256GCM", kid: "k" })).toString(
    "base64url",
  );
  const part = fc.stringMatching(/^[A-Za-z0-9_-]{0,40}$/);
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), fc.boolean(), (parts, isOurs) => {
      const text = [isOurs ? header : "eyJ4", ...parts].join(".");
      assert.equal(unpackPayload(packPayload(text)), text);
    }),
  );
});
