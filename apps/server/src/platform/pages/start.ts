import { sampleEvent } from "@assay/contract/event-samples";
import { apiVersion } from "@assay/contract/openapi";
import { type Look, previewPath, previewReady } from "@assay/ui/preview";
import { escapeHtml, page, part } from "./layout.ts";

export type StartFacts = {
  /** Who may make an account. */
  signUp: "open" | "invited" | "closed";
  publicUrl: string;
};

type Claim = { key: string; name: string; reason: string; value: string | boolean; required: boolean };

/** What a shop might ask for. What is not required comes first, so that the JSON stays whole whatever is left out. */
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
    name: "At least 18 years old",
    reason: "We may only serve adults",
    value: true,
    required: true,
  },
];

export function startPage({ signUp, publicUrl }: StartFacts): string {
  const account =
    signUp === "closed"
      ? ""
      : `<a class="action main" href="/dashboard/sign-up">${signUp === "open" ? "Create an account" : "Sign up with an invitation"}</a>`;
  return page({
    title: "Assay: identity verification that does not keep identities",
    summary:
      "Assay reads the chip of a passport, matches it to a living person, and hands the result to the one who asked, encrypted to their own key.",
    wide: true,
    body: `<div class="hero"><div><h1>Identity verification that does not keep identities</h1>
<p class="lead">Assay reads the chip of a passport, matches it to a living person, and hands the result to the one who asked, encrypted to their own key. Who the person is never stays here.</p>
<p class="actions">${account}<a class="action${signUp === "closed" ? " main" : ""}" href="/dashboard/sign-in">Sign in</a><a class="action plain" href="#example">See a verification</a></p></div>
${outcome}
</div>
${example()}
${firstCall(publicUrl)}
${further}
<footer class="foot"><p>Assay, API ${escapeHtml(apiVersion)}</p><nav aria-label="More"><a href="/docs/operating">Operate it</a><a href="/docs/privacy">Privacy</a><a href="/openapi">OpenAPI</a></nav></footer>`,
  });
}

/** The end of a verification at a glance: what was proven, and all that the shop learns. A picture of text, so a figure with its caption. */
const outcome = `<figure class="outcome" aria-labelledby="outcome-title">
<figcaption id="outcome-title">All that Acme Shop learns</figcaption>
<ul class="ticks"><li>Agreed to share one answer</li><li>Passport chip is genuine</li><li>Face matches its portrait</li></ul>
<p class="answer"><span>At least 18 years old</span><strong>Yes</strong></p>
<p class="why">No name, no date of birth, no picture. Encrypted to the shop’s own key.</p>
</figure>`;

/** What the page in the frame is told; the scheme is the reader's. */
const look: Omit<Look, "scheme"> = {
  type: "assay:look",
  name: "Acme Shop",
  domain: "acme.example",
  colour: "#3b3a8f",
  logo: null,
  asked: Object.fromEntries(
    asked.toReversed().map(({ key, reason, required }) => [key, { reason, required }]),
  ),
  ticks: true,
};

/**
 * The consent of a person beside the webhook that comes of it. The person's side is the page itself, in a frame that is loaded when it is looked at; where no script runs, a list of
 * the same. What is ticked changes what is sent by the style sheet alone: no request, and nothing that anybody could write to this service.
 */
function example(): string {
  const item = ({ key, name, reason, required }: Claim) =>
    required
      ? `<li><span class="need"><strong>${name}</strong> <em>Required</em></span><span class="why">${reason}</span></li>`
      : `<li><label><input type="checkbox" id="share-${key}" checked> <strong>${name}</strong></label><span class="why">${reason}</span></li>`;
  const html = `<h2 id="example-title">One verification, from both sides</h2>
<p>Tick and untick: what the person agrees to is what the shop gets, and nothing else.</p>
<div class="sides">
<div class="side page"><h3>The person sees</h3>
<div class="frame-place" data-look="${escapeHtml(JSON.stringify(look))}" data-frame="${previewPath}" data-ready="${previewReady}"></div>
</div>
<div class="side person" role="group" aria-labelledby="person-title"><h3 id="person-title">The person is asked</h3>
<p><strong>Acme Shop</strong> asks for this from your passport:</p>
<ul>${asked.toReversed().map(item).join("")}</ul>
<label class="agree"><input type="checkbox" id="share-agree" checked> I agree to share this with Acme Shop</label>
<p class="why">Then the phone reads the chip, and the camera sees that it is you.</p>
</div>
<div class="side shop"><h3>Acme Shop receives</h3>
<pre class="json" tabindex="0" aria-label="The decrypted webhook"><code>${webhook()}</code></pre>
<p class="waiting">Nothing yet. Without agreement nothing is read and nothing is sent: tick the box that agrees.</p>
<p class="why">On its way it is one JWE, encrypted to the shop’s key. Assay keeps no copy that it could read.</p>
</div>
</div>`;
  return part(html, ' id="example" aria-labelledby="example-title"');
}

/** An event as the contract describes it, with the claims of the example; the lines of a claim can be left out by themselves. */
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

function firstCall(publicUrl: string): string {
  const command = `curl ${publicUrl}/v1/sessions \\
  -H "authorization: Bearer $ASSAY_API_KEY" -H "content-type: application/json" \\
  -d '{"share_fields":{"age_over_18":{"required":true,"reason":"We may only serve adults"}}}'`;
  return part(`<h2>One call begins it</h2>
<p>The answer holds a <code>verification_url</code>. Send the person there; the result comes to your webhook.</p>
<div class="sample"><pre tabindex="0"><code>${escapeHtml(command)}</code></pre></div>
<p><a href="/docs/first-verification">Your first verification</a> takes a minute, with a test passport and no hardware.</p>`);
}

const further = part(
  `<h2>Read on</h2><ul class="cards">${[
    [
      "/docs/first-verification",
      "Integrate",
      "Sessions, webhooks and going live, for the engineers of a partner.",
    ],
    [
      "/reference",
      "API reference",
      "Every route with its fields, errors and examples. Try them from the page.",
    ],
    ["/docs/webhooks", "Webhooks", "Verify and decrypt what arrives, in six languages."],
    ["/docs/operating", "Operate", "Install, update, back up and watch over an installation of your own."],
  ]
    .map(
      ([href, title, text]) => `<li><a href="${href}"><strong>${title}</strong><span>${text}</span></a></li>`,
    )
    .join("")}</ul>`,
);
