import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { OrganizationId } from "@assay/contract/ids";
import type { Core } from "../core.ts";
import { dayMs, later } from "../kernel/clock.ts";
import { knownId, uuidFloor } from "../kernel/ids.ts";
import { hasCode } from "../lib/error-code.ts";
import { findDeletedOrganizations } from "./mail.store.ts";
import { html, type Mail, plainText } from "./mail.ts";

const organizationHeader = "X-Assay-Organization";
/** The header is among the first lines, before any user content. */
const headBytes = 512;

export function mailFolder({ config }: Pick<Core, "config">): string {
  return join(config.dataDir, "mail");
}

/**
 * Writes under another name and renames at the end, so that a program that watches the folder never reads a
 * partial mail.
 */
export function writeMailFile(
  { config, clock }: Pick<Core, "config" | "clock">,
  id: string,
  mail: Mail,
  organizationId: OrganizationId | null,
): void {
  const folder = mailFolder({ config });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${id}.eml`);
  const text = composeFile(id, mail, organizationId, config.mailFrom, clock.now());
  writeFileSync(`${path}.part`, text, { mode: 0o600 });
  renameSync(`${path}.part`, path);
}

/** In the domain of the sender, as mail servers expect. */
export function messageId(id: string, from: string): string {
  return `<${id}@${/@([a-z0-9.-]+)>?\s*$/i.exec(from)?.[1] ?? "assay.invalid"}>`;
}

/** Marks the mail as automatic for other programs, and names its language. */
export function mailHeaders({ language }: Mail): Record<string, string> {
  return {
    "Auto-Submitted": "auto-generated",
    ...(language === undefined ? {} : { "Content-Language": language }),
  };
}

/** An .eml file with a readable text part: no line is folded, so a link can be copied from it. */
function composeFile(
  id: string,
  mail: Mail,
  organizationId: OrganizationId | null,
  from: string,
  now: Date,
): string {
  const boundary = `part-${id}`;
  const header = (text: string) =>
    /^[\x20-\x7e]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString("base64")}?=`;
  const lines = [
    ...(organizationId === null ? [] : [`${organizationHeader}: ${organizationId}`]),
    `From: ${from}`,
    `To: ${mail.to}`,
    `Subject: ${header(mail.subject)}`,
    `Date: ${now.toUTCString().replace("GMT", "+0000")}`,
    `Message-ID: ${messageId(id, from)}`,
    ...Object.entries(mailHeaders(mail)).map(([name, value]) => `${name}: ${value}`),
    "MIME-Version: 1.0",
    `Content-Type: multipart/alternative; boundary="${boundary}"`,
    "",
    `--${boundary}`,
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: 8bit",
    "",
    plainText(mail),
    `--${boundary}`,
    "Content-Type: text/html; charset=utf-8",
    "Content-Transfer-Encoding: 8bit",
    "",
    html(mail),
    `--${boundary}--`,
    "",
  ];
  return lines.join("\n");
}

/**
 * Removes expired mail files, and those of deleted organizations. Names begin with an id that contains the
 * time, so that a copied or touched file does not look new. Returns the number of files.
 */
export async function removeMailFiles({
  config,
  clock,
  db,
}: Pick<Core, "config" | "clock" | "db">): Promise<number> {
  const folder = mailFolder({ config });
  const floor = uuidFloor(later(clock.now(), -config.mailFileDays * dayMs));
  const files = namesIn(folder).map((name) => ({
    path: join(folder, name),
    old: name < floor,
    organizationId: organizationOf(join(folder, name)),
  }));
  const organizationIds = files.flatMap(({ organizationId: id }) => (id === null ? [] : [id]));
  const deleted = new Set(await findDeletedOrganizations(db, [...new Set(organizationIds)]));
  const gone = files.filter(
    ({ old, organizationId }) => old || (organizationId !== null && deleted.has(organizationId)),
  );
  for (const { path } of gone) rmSync(path, { force: true });
  return gone.length;
}

/** Mail files of the service; other files in the folder stay. */
function namesIn(folder: string): string[] {
  // The folder does not exist before the first mail.
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => /^[0-9a-f-]{36}\.eml(\.part)?$/.test(name));
}

function organizationOf(path: string): OrganizationId | null {
  const head = Buffer.alloc(headBytes);
  try {
    const file = openSync(path, "r");
    try {
      readSync(file, head, 0, headBytes, 0);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    // Another process has removed or renamed it meanwhile.
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
  const id = new RegExp(`^${organizationHeader}: ([0-9a-f-]{36})\\n`).exec(head.toString("latin1"))?.[1];
  return id === undefined ? null : knownId(id);
}
