import { type ColourName, colours } from "@assay/ui/tokens";

/** A mail to one person. The paragraphs are plain text; both parts of the mail are made from them. */
export type Mail = {
  to: string;
  subject: string;
  paragraphs: readonly string[];
  /** The one thing to do, as a link. */
  action?: { label: string; url: string };
};

const longestName = 60;

/** Mail programs know neither style sheets nor custom properties, and few of them dark schemes. */
const look = Object.fromEntries(Object.entries(colours).map(([name, { light }]) => [name, light])) as Record<
  ColourName,
  string
>;

/**
 * A name that somebody chose, for a mail to somebody who does not know them: in quotes, so that it is not taken for our words, short, and
 * without characters that are not seen or that turn the direction of writing.
 */
export function quoted(name: string): string {
  const characters = [...name.replace(/\p{C}/gu, "").replaceAll('"', "'").trim()];
  const shown =
    characters.length > longestName
      ? `${characters.slice(0, longestName - 1).join("")}…`
      : characters.join("");
  return `"${shown}"`;
}

export function plainText(mail: Mail): string {
  const parts = [...mail.paragraphs];
  if (mail.action) parts.push(`${mail.action.label}:\n${mail.action.url}`);
  return `${parts.join("\n\n")}\n`;
}

export function html(mail: Mail): string {
  const body = mail.paragraphs.map(
    (text) => `<p style="margin:0 0 16px">${escapeHtml(text).replaceAll("\n", "<br>")}</p>`,
  );
  if (mail.action) {
    const url = escapeHtml(mail.action.url);
    body.push(
      `<p style="margin:24px 0"><a href="${url}" style="background:${look.accent};color:${look["on-accent"]};padding:12px 20px;border-radius:6px;text-decoration:none;display:inline-block">${escapeHtml(mail.action.label)}</a></p>`,
      `<p style="margin:0 0 16px;color:${look.muted};font-size:13px">Or open this address:<br><a href="${url}" style="color:${look.accent};word-break:break-all">${url}</a></p>`,
    );
  }
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(mail.subject)}</title></head>`,
    `<body style="margin:0;background:${look.paper};padding:24px 12px;font:16px/1.5 system-ui,sans-serif;color:${look.ink}">`,
    `<div style="max-width:520px;margin:0 auto;background:${look.card};border-radius:10px;padding:32px;word-break:break-word;overflow-wrap:anywhere">`,
    ...body,
    "</div></body></html>",
  ].join("\n");
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
