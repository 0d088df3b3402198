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
<header><a href="/">Corner Shop</a></header>
<main>
${body}
</main>
<footer>An example of Assay. Nothing is sold here.</footer>
</body>
</html>
`;
}

const bottle = `<svg viewBox="0 0 120 120" role="img" aria-label="A bottle of cider"><rect width="120" height="120" rx="16" class="ground"/><path d="M52 14h16v22c0 8 12 12 12 26v38a8 8 0 0 1-8 8H48a8 8 0 0 1-8-8V62c0-14 12-18 12-26z" class="glass"/><rect x="40" y="66" width="40" height="24" class="label"/></svg>`;

export function shopPage(): string {
  return page(
    "Corner Shop",
    `<article class="product">${bottle}
<div>
<h1>Dry cider, 0.75 l</h1>
<p>From old orchards, 6.5 % alcohol. For adults only: we ask for a proof of age before we deliver, and learn nothing else about you.</p>
<p class="price">&euro; 7.90</p>
<form method="post" action="/orders"><button>Order</button></form>
</div>
</article>`,
  );
}

/** The order's id is random, so nobody guesses it; everything else on the page is the shop's own text. */
export function orderPage(order: Order, assayUrl: string): string {
  return page(
    "Your order",
    `<h1>Your order</h1>
<p>One bottle of dry cider, &euro; 7.90</p>
<div class="state" id="state" data-order="${order.id}" role="status"></div>
<div id="choice" hidden>
<p>Prove that you are of age with your passport or identity card. It takes about three minutes.</p>
<p class="actions"><button id="here">Check my age here</button><button id="there" class="quiet">Check my age on Assay&rsquo;s page</button></p>
</div>
<noscript><p>This page needs JavaScript.</p></noscript>`,
    `<script src="${assayUrl}/embed/v1.js" defer></script>\n<script src="/shop.js" defer></script>`,
  );
}

/** Runs in the customer's browser. What the frame tells is only used for the look: the state of the order comes from the shop. */
export const script = `
const state = document.getElementById("state");
const choice = document.getElementById("choice");
const { order } = state.dataset;
const words = {
  new: "We need a proof of your age.",
  checking: "Your age is being checked.",
  delivered: "Delivered",
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
:root { color-scheme: light dark; --ink: #1d1a16; --paper: #fbf7ef; --card: #fff; --line: #d9cfbd; --accent: #7a2e1d; --on: #fff; --good: #1d6b3a; }
@media (prefers-color-scheme: dark) { :root { --ink: #f2ece1; --paper: #1a1714; --card: #26211c; --line: #4a4137; --accent: #f0a58f; --on: #2a120b; --good: #8fd6a6; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 0 1rem; font: 1.0625rem/1.55 Georgia, "Times New Roman", serif; color: var(--ink); background: var(--paper); }
header { padding: 1.25rem 0; border-bottom: 1px solid var(--line); font-size: 1.25rem; font-weight: bold; }
header a { color: inherit; text-decoration: none; }
main { padding: 2rem 0; }
footer { padding: 1.25rem 0; border-top: 1px solid var(--line); font-size: 0.9rem; }
h1 { margin: 0 0 0.5rem; font-size: clamp(1.6rem, 5vw, 2.4rem); line-height: 1.2; }
.product { display: grid; gap: 1.5rem; padding: 1.25rem; border: 1px solid var(--line); border-radius: 16px; background: var(--card); }
.product svg { width: min(100%, 18rem); }
.ground { fill: #efe3cc; } .glass { fill: #3d5a2c; } .label { fill: #fbf7ef; }
@media (min-width: 42rem) { .product { grid-template-columns: 18rem 1fr; align-items: center; } }
.price { font-size: 1.4rem; font-weight: bold; }
.actions { display: flex; flex-wrap: wrap; gap: 0.75rem; }
button { min-height: 2.75rem; padding: 0.5rem 1.25rem; border: 1px solid var(--accent); border-radius: 10px; font: inherit; font-weight: bold; color: var(--on); background: var(--accent); cursor: pointer; }
button.quiet { color: var(--accent); background: transparent; }
button:disabled { opacity: 0.6; cursor: default; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
.state { margin: 1rem 0; padding: 1rem 1.25rem; min-height: 4.5rem; border: 1px solid var(--line); border-left: 6px solid var(--accent); border-radius: 10px; background: var(--card); }
.state p { margin: 0.25rem 0 0; }
.state[data-state="delivered"] { border-left-color: var(--good); }
.state[data-state="delivered"] strong { color: var(--good); }
`;
