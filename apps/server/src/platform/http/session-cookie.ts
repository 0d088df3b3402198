import { sessionCookieNames } from "@assay/contract/facts";
import type { FastifyReply } from "fastify";
import type { SessionCookie } from "../kernel/request-info.ts";

/** On https only the prefixed cookie counts: a neighbouring host could have planted the plain one. */
export function sessionTokenOf(header: string | undefined, secure: boolean): string | null {
  if (header === undefined) return null;
  const expected = sessionCookieNames[secure ? "https" : "http"];
  for (const part of header.split(";")) {
    const at = part.indexOf("=");
    const name = part.slice(0, at).trim();
    if (name === expected) return part.slice(at + 1).trim() || null;
  }
  return null;
}

export function writeSessionCookie(reply: FastifyReply, cookie: SessionCookie | null, secure: boolean): void {
  const value = cookie === null ? "" : cookie.token;
  const age = cookie === null ? 0 : cookie.maxAgeSeconds;
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${age}${secure ? "; Secure" : ""}`;
  reply.header("set-cookie", `${sessionCookieNames[secure ? "https" : "http"]}=${value}; ${attributes}`);
}
