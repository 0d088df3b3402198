import { directionOf } from "@assay/contract/facts";
import { type ColourName, colours } from "@assay/ui/tokens";

/**
 * A mail to one person, in their language. The texts are plain; both parts of the mail are made from them.
 * Optional fields were unknown to the version that wrote a mail that still waits.
 */
export type Mail = {
  to: string;
  subject: string;
  paragraphs: readonly string[];
  /** The one action, as a link. */
  action?: { label: string; url: string };
  language?: string;
  greeting?: string;
  /** The paragraphs that are something to copy; an earlier version wrote a single number. */
  codeAt?: number | readonly number[];
  /** The text before the address of the action. */
  orOpen?: string;
  /** Why the reader gets this mail. */
  reason?: string;
  sentBy?: string;
};

const maxName = 60;

/**
 * A name that a user chose, for a mail to a stranger. Quotes separate it from our words. Long names are cut,
 * and characters that are invisible or change the writing direction are removed.
 */
export function quoted(name: string): string {
  const characters = [...name.replace(/\p{C}/gu, "").replaceAll('"', "'").trim()];
  const shown =
    characters.length > maxName ? `${characters.slice(0, maxName - 1).join("")}…` : characters.join("");
  return `"${shown}"`;
}

export function plainText(mail: Mail): string {
  const { greeting, paragraphs, action, reason, sentBy } = mail;
  const parts = [...(greeting === undefined ? [] : [greeting]), ...paragraphs];
  if (action) parts.push(`${action.label}:\n${action.url}`);
  const foot = [reason, sentBy].filter((text) => text !== undefined);
  // The separator that mail programs expect before a signature.
  if (foot.length > 0) parts.push(`-- \n${foot.join("\n")}`);
  return `${parts.join("\n\n")}\n`;
}

/**
 * Colours are inline, because many mail programs ignore style sheets. Those that do not, and request a dark
 * scheme, get the dark colours instead. Nothing is loaded: the logo is a letter, and there is no tracking
 * picture.
 */
const painted: Readonly<Record<string, Readonly<Record<string, ColourName>>>> = {
  page: { background: "paper", color: "ink" },
  card: { background: "card", "border-color": "line" },
  text: { color: "ink" },
  faint: { color: "muted" },
  link: { color: "accent" },
  button: { background: "accent", color: "on-accent" },
  code: { background: "code", color: "ink" },
};

const rules = (name: string, scheme: "light" | "dark", mark: string) =>
  Object.entries(painted[name] ?? {})
    .map(([property, colour]) => `${property}:${colours[colour][scheme]}${mark}`)
    .join(";");

const darkRules = Object.keys(painted)
  .map((name) => `.${name}{${rules(name, "dark", "!important")}}`)
  .join("");

function look(name: string, style: string): string {
  return `class="${name}" style="${rules(name, "light", "")};${style}"`;
}

export function html(mail: Mail): string {
  const { subject, paragraphs, action, codeAt, greeting, reason, sentBy, language = "en" } = mail;
  const codes = [codeAt ?? []].flat();
  const body = (greeting === undefined ? [] : [paragraph(greeting)]).concat(
    paragraphs.map((text, index) => (codes.includes(index) ? codeBlock(text) : paragraph(text))),
    action === undefined ? [] : [button(action, mail.orOpen)],
  );
  const foot = [reason, sentBy].flatMap((text) =>
    text === undefined ? [] : [`<p ${look("faint", "margin:0 0 8px")}>${escapeHtml(text)}</p>`],
  );
  return [
    `<!doctype html><html lang="${escapeHtml(language)}" dir="${directionOf(language)}"><head><meta charset="utf-8">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">',
    `<title>${escapeHtml(subject)}</title>`,
    `<style>:root{color-scheme:light dark;supported-color-schemes:light dark}@media (prefers-color-scheme:dark){${darkRules}}@media (max-width:480px){.card{padding:24px 20px!important}}</style></head>`,
    `<body ${look("page", "margin:0;padding:24px 12px;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif")}>`,
    preheader(paragraphs[0] ?? ""),
    `<div ${look("page", "max-width:560px;margin:0 auto")}>`,
    wordmark,
    `<div ${look("card", "border-width:1px;border-style:solid;border-radius:14px;padding:32px;word-break:break-word;overflow-wrap:anywhere")}>`,
    `<h1 ${look("text", "margin:0 0 16px;font-size:20px;line-height:1.3")}>${escapeHtml(subject)}</h1>`,
    ...body,
    "</div>",
    `<div ${look("faint", "padding:20px 4px 0;font-size:13px;overflow-wrap:anywhere")}>`,
    ...foot,
    "</div></div></body></html>",
  ].join("\n");
}

/**
 * The preview that a list of mails shows beside the subject. The blanks after it keep the greeting out of it.
 */
function preheader(text: string): string {
  return `<div style="display:none;max-height:0;overflow:hidden;font-size:1px;line-height:1px;opacity:0" aria-hidden="true">${escapeHtml(text)}${"&#8199;&#847; ".repeat(40)}</div>`;
}

const wordmark = `<div style="padding:0 4px 16px"><span ${look("button", "display:inline-block;width:32px;height:32px;border-radius:9px;font-weight:700;font-size:19px;line-height:32px;text-align:center")} aria-hidden="true">A</span><span ${look("text", "font-weight:600;font-size:18px;padding:0 10px;vertical-align:1px")}>Assay</span></div>`;

function paragraph(text: string): string {
  return `<p ${look("text", "margin:0 0 16px")}>${escapeHtml(text).replaceAll("\n", "<br>")}</p>`;
}

/** A short code is read and typed, a long one copied, and a command is both, so its words are not broken. */
function codeBlock(text: string): string {
  const size =
    text.length <= 12
      ? "font-size:26px;letter-spacing:.16em;text-align:center"
      : text.includes(" ")
        ? "font-size:14px"
        : "font-size:12px;word-break:break-all";
  return `<p dir="ltr" ${look("code", `margin:0 0 16px;padding:14px 16px;border-radius:10px;font-family:ui-monospace,Menlo,Consolas,monospace;${size}`)}>${escapeHtml(text)}</p>`;
}

function button({ label, url }: { label: string; url: string }, orOpen = "Or open this address:"): string {
  const address = escapeHtml(url);
  return [
    `<p style="margin:24px 0"><a href="${address}" ${look("button", "display:inline-block;padding:13px 22px;border-radius:12px;text-decoration:none;font-weight:600")}>${escapeHtml(label)}</a></p>`,
    `<p ${look("faint", "margin:0;font-size:13px")}>${escapeHtml(orOpen)}<br><a href="${address}" ${look("link", "word-break:break-all")}>${address}</a></p>`,
  ].join("\n");
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
