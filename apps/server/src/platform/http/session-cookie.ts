import { sessionCookieNames } from "@assay/contract/facts";
import type { FastifyReply } from "fastify";
import type { CookieNames, SessionCookie } from "../kernel/request-info.ts";

/** On https only the prefixed cookie is valid: a neighbouring host could set the plain one. */
export function cookieOf(header: string | undefined, names: CookieNames, secure: boolean): string | null {
  if (header === undefined) return null;
  const expected = names[secure ? "https" : "http"];
  for (const part of header.split(";")) {
    const at = part.indexOf("=");
    const name = part.slice(0, at).trim();
    if (name === expected) return part.slice(at + 1).trim() || null;
  }
  return null;
}

export function sessionTokenOf(header: string | undefined, secure: boolean): string | null {
  return cookieOf(header, sessionCookieNames, secure);
}

export function writeSessionCookie(reply: FastifyReply, cookie: SessionCookie | null, secure: boolean): void {
  writeCookie(reply, sessionCookieNames, cookie, secure);
}

export function writeCookie(
  reply: FastifyReply,
  names: CookieNames,
  cookie: SessionCookie | null,
  secure: boolean,
): void {
  const value = cookie === null ? "" : cookie.token;
  const age = cookie === null ? 0 : cookie.maxAgeSeconds;
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${age}${secure ? "; Secure" : ""}`;
  reply.header("set-cookie", `${names[secure ? "https" : "http"]}=${value}; ${attributes}`);
}
