/** A page of the service itself. `body` is our own HTML; whatever comes from elsewhere is escaped before it gets here. */
export function page(options: { title: string; body: string; wide?: boolean }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(options.title)}</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/pages.css">
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="28" height="28">Assay</a>
<nav aria-label="Main"><a href="/docs">Docs</a><a href="/reference">Reference</a><a href="/dashboard">Dashboard</a></nav>
</header>
<main id="content"${options.wide ? ' class="wide"' : ""}>
${options.body}
</main>
</body>
</html>
`;
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#1f4d3a"/><path d="M9 22.5 16 8l7 14.5M12 17.5h8" fill="none" stroke="#f3e9c9" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

export const stylesheet = `
:root {
  --ink: #17211c; --muted: #56625b; --paper: #fbfbf8; --card: #ffffff; --line: #dfe3dd; --accent: #1f4d3a; --on-accent: #ffffff; --code: #f0f2ee;
  color-scheme: light dark;
}
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8ece8; --muted: #a3afa7; --paper: #131815; --card: #1a211d; --line: #2e3932; --accent: #9fd3b8; --on-accent: #0f1a14; --code: #202924; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 5rem; }
body { margin: 0; overflow-wrap: anywhere; background: var(--paper); color: var(--ink); font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
a { color: var(--accent); text-underline-offset: .2em; }
a:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; border-radius: 4px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .5rem 1rem; z-index: 1; }
header { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 1rem; padding: .9rem 1.25rem; border-bottom: 1px solid var(--line); }
.brand { display: inline-flex; align-items: center; gap: .6rem; font-weight: 650; font-size: 1.1rem; color: var(--ink); text-decoration: none; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; }
nav a { color: var(--muted); text-decoration: none; }
nav a:hover { color: var(--ink); text-decoration: underline; }
main { max-width: 46rem; margin: 0 auto; padding: 2.5rem 1.25rem 5rem; }
main.wide { max-width: 64rem; }
h1, h2, h3 { overflow-wrap: anywhere; }
h1 { font-size: clamp(1.7rem, 5vw, 2.3rem); line-height: 1.2; letter-spacing: -.02em; margin: 0 0 1rem; text-wrap: balance; }
h2 { font-size: 1.35rem; line-height: 1.3; margin: 2.5rem 0 .75rem; letter-spacing: -.01em; }
h3 { font-size: 1.08rem; margin: 2rem 0 .5rem; }
p, ul, ol { margin: 0 0 1rem; }
.lead { font-size: 1.15rem; color: var(--muted); max-width: 38rem; }
code { font: .9em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: var(--code); padding: .12em .35em; border-radius: 4px; overflow-wrap: anywhere; }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 8px; padding: 1rem; overflow-x: auto; }
pre code { background: none; padding: 0; overflow-wrap: normal; }
.scroll { overflow-x: auto; margin: 0 0 1.25rem; }
table { border-collapse: collapse; width: 100%; font-size: .94rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--muted); font-weight: 600; }
blockquote { margin: 0 0 1rem; padding: .25rem 0 .25rem 1rem; border-left: 3px solid var(--line); color: var(--muted); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(13rem, 100%), 1fr)); gap: 1rem; padding: 0; margin: 2rem 0; list-style: none; }
.cards a { display: block; height: 100%; padding: 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: 12px; color: inherit; text-decoration: none; }
.cards a:hover { border-color: var(--accent); }
.cards strong { display: block; font-size: 1.08rem; margin-bottom: .25rem; }
.cards span { color: var(--muted); }
hr { border: 0; border-top: 1px solid var(--line); margin: 2rem 0; }
`;
