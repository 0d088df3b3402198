import type { Order } from "./orders.ts";

function page(title: string, body: string, scripts = ""): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/shop.css">
${scripts}
</head>
<body>
<header><a href="/">Corner Shop</a><span>Free delivery from &euro; 30</span></header>
<main>
${body}
</main>
<footer>An example of Assay. Nothing is sold here.</footer>
</body>
</html>
`;
}

const bottle = `<svg viewBox="0 0 120 120" role="img" aria-label="A bottle of cider"><circle cx="60" cy="60" r="46" class="sun"/><path d="M53 12h14v24c0 8 11 12 11 26v40a8 8 0 0 1-8 8H50a8 8 0 0 1-8-8V62c0-14 11-18 11-26z" class="glass"/><path d="M53 12h14v9H53z" class="cap"/><path d="M42 66h36v26H42z" class="label"/><circle cx="60" cy="79" r="7" class="apple"/><path d="M60 72c0-3 2-5 5-5" class="stem"/></svg>`;

export function shopPage(): string {
  return page(
    "Corner Shop",
    `<article class="product"><div class="picture">${bottle}</div>
<div>
<p class="kind">Cider</p>
<h1>Dry cider, 0.75 l</h1>
<p>From old orchards, bottle-fermented, 6.5 % alcohol.</p>
<p class="price">&euro; 7.90 <small>incl. VAT</small></p>
<form method="post" action="/orders"><button>Order</button></form>
<p class="note"><strong>18+</strong> We check your age before we deliver, and learn nothing else about you.</p>
</div>
</article>`,
  );
}

/** The order's id is random and cannot be guessed; all other text on the page is the shop's. */
export function orderPage(order: Order, assayUrl: string): string {
  return page(
    "Your order",
    `<h1>Your order</h1>
<div class="order">
<section class="card">
<div class="state" id="state" data-order="${order.id}" role="status"></div>
<div id="choice" hidden>
<p>Prove your age with your passport or identity card. It takes about three minutes.</p>
<p class="actions"><button id="here">Check my age here</button><button id="there" class="quiet">Check my age on Assay&rsquo;s page</button></p>
</div>
<noscript><p>This page needs JavaScript.</p></noscript>
</section>
<aside class="card line"><div class="picture">${bottle}</div><p>Dry cider, 0.75 l<br><small>1 bottle</small></p><strong>&euro; 7.90</strong></aside>
</div>`,
    `<script src="${assayUrl}/embed/v1.js" defer></script>\n<script src="/shop.js" defer></script>`,
  );
}

/**
 * Runs in the customer's browser.
 * The frame's messages only affect the display: the order's state comes from the shop.
 */
export const script = `
const state = document.getElementById("state");
const choice = document.getElementById("choice");
const { order } = state.dataset;
const words = {
  new: "We need proof of your age.",
  checking: "Your age is being checked.",
  delivered: "Age confirmed",
  refused: "Not delivered",
};

new EventSource("/orders/" + order + "/events").onmessage = ({ data }) => {
  const now = JSON.parse(data);
  state.dataset.state = now.state;
  state.replaceChildren(
    Object.assign(document.createElement("strong"), { textContent: words[now.state] }),
    Object.assign(document.createElement("p"), { textContent: now.note }),
  );
  choice.hidden = now.state === "delivered" || now.state === "refused";
};

async function check() {
  const answer = await fetch("/orders/" + order + "/check", { method: "POST" });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()).verification_url;
}

async function during(button, work) {
  button.disabled = true;
  try {
    await work();
  } catch (error) {
    alert(error.message);
  }
  button.disabled = false;
}

const [here, there] = [document.getElementById("here"), document.getElementById("there")];
here.onclick = () => during(here, async () => void Assay.open({ verificationUrl: await check() }));
there.onclick = () => during(there, async () => location.assign(await check()));
`;

export const styles = `
:root { color-scheme: light dark; --ink: #1b1a17; --muted: #625d54; --paper: #faf8f4; --card: #fff; --line: #e4dfd5; --soft: #f1e7d3; --accent: #8a3318; --on: #fff; --good: #1d6b3a; --bad: #9b2226; }
@media (prefers-color-scheme: dark) { :root { --ink: #f3efe8; --muted: #b5ada0; --paper: #161412; --card: #211e1a; --line: #3a352e; --soft: #332c22; --accent: #f2ab91; --on: #2a120b; --good: #8fd6a6; --bad: #ffb3ad; } }
* { box-sizing: border-box; }
body { display: flex; flex-direction: column; min-height: 100dvh; margin: 0; font: 1.0625rem/1.6 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
header, main, footer { width: 100%; max-width: 68rem; margin-inline: auto; padding: 1.25rem clamp(1rem, 4vw, 2rem); }
header { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: 0.25rem 1rem; color: var(--muted); font-size: 0.9rem; }
header a { color: var(--ink); font-size: 1.25rem; font-weight: 700; letter-spacing: -0.02em; text-decoration: none; }
main { flex: 1; }
footer, small { color: var(--muted); font-size: 0.9rem; }
h1 { margin: 0 0 0.75rem; font-size: clamp(1.75rem, 5vw, 2.75rem); line-height: 1.1; letter-spacing: -0.02em; }
p { margin: 0 0 1rem; }
.product { display: grid; gap: clamp(1.5rem, 5vw, 4rem); align-items: center; }
@media (min-width: 48rem) { .product { grid-template-columns: 1.1fr 1fr; } .order { grid-template-columns: 1fr 20rem; } }
.picture { display: grid; place-items: center; padding: 8%; border-radius: 24px; background: var(--soft); }
.picture svg { width: min(100%, 24rem); }
.sun { fill: #f3c98b; } .glass { fill: #3d5a2c; } .cap { fill: #b7472a; } .label { fill: #fffaf0; } .apple { fill: #b7472a; } .stem { fill: none; stroke: #3d5a2c; stroke-width: 2; }
.kind { margin: 0 0 0.5rem; color: var(--accent); font-size: 0.85rem; font-weight: 600; letter-spacing: 0.08em; text-transform: uppercase; }
.price { font-size: 1.75rem; font-weight: 700; }
.price small { font-weight: 400; }
.note { margin: 1.25rem 0 0; color: var(--muted); font-size: 0.95rem; }
.note strong { margin-inline-end: 0.35rem; padding: 0.15rem 0.5rem; border: 1px solid; border-radius: 99px; color: var(--ink); }
.order { display: grid; gap: 1.25rem; align-items: start; }
.card { padding: 1.5rem; border: 1px solid var(--line); border-radius: 20px; background: var(--card); }
.line { display: grid; grid-template-columns: 4rem 1fr auto; gap: 1rem; align-items: center; }
.line p { margin: 0; line-height: 1.35; }
.line .picture { padding: 0.25rem; border-radius: 12px; }
.actions { display: flex; flex-wrap: wrap; gap: 0.75rem; margin: 0; }
button { min-height: 3rem; padding: 0.6rem 1.5rem; border: 2px solid var(--accent); border-radius: 99px; font: inherit; font-weight: 600; color: var(--on); background: var(--accent); cursor: pointer; }
button:hover { filter: brightness(1.1); }
form button { width: 100%; }
button.quiet { color: var(--accent); background: transparent; }
button:disabled { opacity: 0.6; cursor: default; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
@media (max-width: 30rem) { .actions button { width: 100%; } }
@media (forced-colors: active) { button:not(.quiet) { border-color: Highlight; } }
.state { min-height: 1.75rem; margin-bottom: 0.5rem; font-size: 1.25rem; line-height: 1.4; }
.state p:empty { display: none; }
.state p { margin: 0.25rem 0 0; color: var(--muted); font-size: 1.0625rem; }
.state[data-state="delivered"] strong { color: var(--good); }
.state[data-state="delivered"] strong::before { content: "\\2713\\00a0"; }
.state[data-state="refused"] strong { color: var(--bad); }
`;
