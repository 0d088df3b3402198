import assert from "node:assert/strict";
import test from "node:test";
import { mailLanguages } from "@assay/contract/facts";
import { composeMail } from "./compose-mail.ts";
import { type Letter, letterKinds } from "./letter.ts";
import { html, plainText } from "./mail.ts";

test("each mail is filled in whole, and tells why it came and who sends it", () => {
  for (const [kind, { places, button }] of Object.entries(letterKinds)) {
    const fill = Object.fromEntries(places.map((place) => [place, `<${place}>`]));
    const letter = { kind, fill, ...(button ? { url: "https://id.example/x" } : {}) } as Letter;
    const mail = composeMail(
      "ada@example.com",
      letter,
      { name: "Ada", language: "en" },
      { publicUrl: "https://id.example", organization: "Acme" },
    );
    for (const part of [plainText(mail), html(mail)]) {
      assert.doesNotMatch(part, /\{\w+\}(?!.*<\/style>)/, kind);
      assert.match(part, /You received this email because/, kind);
      assert.match(part, /Sent by Assay at id\.example/, kind);
      assert.match(part, /Hello Ada,/, kind);
      if (button) assert.match(part, /If the button|\nhttps:\/\/id\.example\/x\n/, kind);
      for (const place of places)
        assert.match(part, new RegExp(`(<|&#60;)${place}`), `${kind} does not say ${place}`);
    }
    assert.ok(!/<(img|script|link|iframe)\b|url\(|src=/i.test(html(mail)), `${kind} fetches something`);
  }
});

test("what is to be copied stands by itself, each command in its own block", () => {
  const [keep, remove] = ["npm run assay -- trust keep 41", "npm run assay -- trust remove 41"];
  const fill = { count: "3", address: "a", at: "b", names: "c", keep, remove };
  for (const language of mailLanguages) {
    const mail = composeMail(
      "ada@example.com",
      { kind: "authorities_leave", fill },
      { name: null, language },
      { publicUrl: "https://id.example", organization: null },
    );
    const blocks = [...html(mail).matchAll(/<p dir="ltr" class="code"[^>]*>([^<]*)<\/p>/g)];
    assert.deepEqual(
      blocks.map(([, text]) => text),
      [keep, remove],
    );
  }
});

test("what somebody wrote into a name stays text: no tag, no place, no turn of the direction", () => {
  const mail = composeMail(
    "ada@example.com",
    { kind: "passkey_added", fill: { name: "<b>{host}\u202e</b>" } },
    { name: "Eve {name}\u202e<i>", language: "de" },
    { publicUrl: "https://id.example", organization: null },
  );
  assert.match(mail.paragraphs[0] ?? "", /„<b>\{host\}<\/b>“/);
  assert.equal(mail.greeting, "Guten Tag Eve {name}<i>,");
  assert.match(html(mail), /Guten Tag Eve \{name\}&#60;i&#62;/);
});

test("a mail that an earlier version left waiting is still written", () => {
  const mail = {
    to: "a@example.com",
    subject: "S",
    paragraphs: ["P", "7KQ2MWXB"],
    codeAt: 1,
    action: { label: "L", url: "https://x" },
  };
  assert.equal(plainText(mail), "P\n\n7KQ2MWXB\n\nL:\nhttps://x\n");
  assert.match(html(mail), /<p [^>]*>P<\/p>/);
  assert.match(html(mail), /<p [^>]*class="code"[^>]*>7KQ2MWXB<\/p>/);
});
