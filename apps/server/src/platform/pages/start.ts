import { sampleEvent } from "@assay/contract/event-samples";
import { pageLanguages } from "@assay/contract/facts";
import { apiVersion } from "@assay/contract/openapi";
import { escapeHtml, page, part } from "./layout.ts";

export type StartFacts = {
  signUp: "open" | "invited" | "closed";
  publicUrl: string;
};

type Claim = { key: string; name: string; reason: string; value: string | boolean; required: boolean };

/**
 * What a shop might request. Optional fields come first, so that the JSON stays valid if they are left out.
 */
const asked: readonly Claim[] = [
  {
    key: "family_name",
    name: "Family name",
    reason: "To match your account",
    value: "ERIKSSON",
    required: false,
  },
  { key: "nationality_code", name: "Nationality", reason: "Statistics", value: "UTO", required: false },
  {
    key: "age_over_18",
    name: "Whether you are at least 18",
    reason: "We may only serve adults",
    value: true,
    required: true,
  },
];

const summary =
  "Assay reads the chip of a passport and matches it to a living person, or takes a credential from a wallet. It delivers the result to the business that asked, encrypted to its own key.";

export function startPage({ signUp, publicUrl }: StartFacts): string {
  const account =
    signUp === "closed"
      ? ""
      : `<a class="action main" href="/dashboard/sign-up">${signUp === "open" ? "Create an account" : "Sign up with an invitation"}</a>`;
  return page({
    title: "Assay: identity verification that does not keep identities",
    summary,
    wide: true,
    body: `<div class="hero"><div><h1>Identity verification that does not keep identities</h1>
<p class="lead">${summary}</p>
<p class="actions">${account}<a class="action${signUp === "closed" ? " main" : ""}" href="/dashboard/sign-in">Sign in</a></p>
<p class="why">Or <a href="/docs/first-verification">run your first verification</a>: it takes a minute, with a test passport and no hardware.</p></div>
${example()}
</div>
${proofs}
${audience}
${worksWith}
${firstCall(publicUrl)}
${further}
<footer class="foot"><p>Assay, API ${escapeHtml(apiVersion)}</p><nav aria-label="More"><a href="/docs/operating">Operate it</a><a href="/docs/privacy">Privacy</a><a href="/openapi">OpenAPI</a></nav></footer>`,
  });
}

/**
 * The consent screen of a person beside the resulting webhook, in the words of the verify page. The style
 * sheet alone changes what is sent: no script and no request.
 */
function example(): string {
  const item = ({ key, name, reason, required }: Claim) =>
    `<li>${
      required
        ? `<span class="need">${name}</span>`
        : `<label><input type="checkbox" id="share-${key}" checked> ${name}</label>`
    }<span class="why">${reason}</span></li>`;
  return `<div class="example" id="example" role="group" aria-label="Example of a verification. What the person ticks is what the shop receives.">
<div class="phone"><p class="asker"><span class="mark" aria-hidden="true">A</span><span><strong>Acme Shop</strong><small>Verification by Assay</small></span></p>
<p class="asks">Acme Shop asks you to verify your identity</p>
<div class="sheet"><p>What you’ll share</p><ul>${asked.toReversed().map(item).join("")}</ul></div>
<label class="agree"><input type="checkbox" id="share-agree" checked> I agree to the check and to sharing what is selected.</label>
<span class="action main" aria-hidden="true">Agree and continue</span></div>
<div class="shop"><p class="caption">Acme Shop receives</p>
<pre class="json" tabindex="0" aria-label="The decrypted webhook"><code>${webhook()}</code></pre>
<p class="waiting">Nothing. Without agreement nothing is read and nothing is sent.</p>
<p class="why">Sent as one JWE, encrypted to the shop’s key. Assay cannot read it back.</p></div>
</div>`;
}

/** An event as in the contract, with the claims of the example; the lines of each claim can be hidden. */
function webhook(): string {
  const { type, sandbox, data } = sampleEvent("verification.session.succeeded");
  const keys = asked.map(({ key }) => key);
  const { evidence } = data;
  const shown =
    evidence.method === "wallet"
      ? evidence
      : { method: evidence.method, chip: evidence.chip, face: evidence.face };
  const event = {
    type,
    sandbox,
    data: {
      claims: Object.fromEntries(asked.map(({ key, value }) => [key, value])),
      selected_field_keys: keys,
      evidence: shown,
    },
  };
  return JSON.stringify(event, null, 2)
    .split("\n")
    .map((line) => {
      const claim = asked.find(({ key, required }) => !required && line.includes(`"${key}"`));
      return `<span class="line${claim === undefined ? "" : ` of-${claim.key}`}">${escapeHtml(line)}\n</span>`;
    })
    .join("");
}

const cards = (listed: readonly (readonly [title: string, text: string])[]) =>
  `<ul class="cards">${listed.map(([title, text]) => `<li class="card"><strong>${title}</strong><span>${text}</span></li>`).join("")}</ul>`;

const proofs = part(
  `<h2>Three things you can check</h2>${cards([
    [
      "No identity is stored",
      'Chip data, portrait and camera pictures stay in memory while they are checked. They leave only encrypted to your key. <a href="/docs/privacy">What is kept, and for how long</a>',
    ],
    [
      `${pageLanguages.length} languages`,
      'People read the page in every official language of the EU, Arabic, Turkish and Ukrainian. <a href="/docs/accessibility">How accessible it is</a>',
    ],
    [
      "Runs on your own machine",
      'One command starts it, with its own database. Chip and face are checked there as well, by no other service. <a href="/docs/operating">How to run it</a>',
    ],
  ])}`,
);

const audience = part(
  `<h2>Who it is for</h2>${cards([
    ["Shops and platforms with an age limit", "Learn that someone is 18 or older, and nothing else."],
    ["Banks, insurers, telecoms", "Receive name, date of birth and document data that the chip proves."],
    ["Hotels, landlords, rentals", "Know who books, without keeping a copy of a passport."],
    ["Public bodies and hospitals", "Keep the whole check on your own machines."],
  ])}`,
);

/**
 * What works, and how far it was tested. docs/reading-devices.md and docs/wallets-operating.md have the
 * details.
 */
const worksWith = part(
  `<h2>Works with</h2><ul class="works">${[
    [
      "Test passports and a test wallet",
      "In the sandbox, in any browser",
      "Ready. They pass the same checks as real ones.",
    ],
    [
      "Passport or identity card at a counter",
      "A contactless reader (PC/SC) and one command",
      "Ready. Tested with a virtual reader, not yet with a device.",
    ],
    [
      "Passport or identity card on Android",
      "The reader app, built from source",
      "Ready to try. Tested with a software chip, not yet on a phone.",
    ],
    [
      "Digital identity wallets",
      "OpenID4VP, Digital Credentials API",
      "Ready to try. Tested with independent libraries, not yet with the wallet of a state.",
    ],
    ["Passport or identity card on iPhone", "The reader app and an App Clip", "In preparation."],
  ]
    .map(
      ([what, how, state]) =>
        `<li><strong>${what}</strong><span>${how}</span><span class="why">${state}</span></li>`,
    )
    .join("")}</ul>
<p>More on <a href="/docs/reading-devices">reading devices</a> and <a href="/docs/accept-wallets">wallets</a>.</p>`,
);

function firstCall(publicUrl: string): string {
  const command = `curl ${publicUrl}/v1/sessions \\
  -H "authorization: Bearer $ASSAY_API_KEY" -H "content-type: application/json" \\
  -d '{"share_fields":{"age_over_18":{"required":true,"reason":"We may only serve adults"}}}'`;
  return part(`<h2>Start with one call</h2>
<p>The answer contains a <code>verification_url</code>. Send the person there, and the result arrives at your webhook.</p>
<div class="sample"><pre tabindex="0"><code>${escapeHtml(command)}</code></pre></div>`);
}

const further = part(
  `<h2>Learn more</h2><ul class="cards">${[
    ["/docs/first-verification", "Integrate", "Sessions, webhooks and going live, for your engineers."],
    [
      "/reference",
      "API reference",
      "Every route with its fields, errors and examples. Try them from the page.",
    ],
    [
      "/docs/webhooks",
      "Webhooks",
      "Verify and decrypt what arrives. Samples from TypeScript to C#, recipes from Express to Laravel.",
    ],
    ["/docs/operating", "Operate", "Install, update, back up and monitor your own installation."],
  ]
    .map(
      ([href, title, text]) => `<li><a href="${href}"><strong>${title}</strong><span>${text}</span></a></li>`,
    )
    .join("")}</ul>`,
);
