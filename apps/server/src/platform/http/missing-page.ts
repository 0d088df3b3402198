import { pageLanguages } from "@assay/contract/facts";
import type { FastifyReply, FastifyRequest } from "fastify";
import { nothingHerePage } from "../pages/missing.ts";
import { acceptedLanguage, prefersHtml } from "./accept.ts";
import { pageHeaders } from "./page-headers.ts";

/** Whether a person opened the address in a browser, not a script or a form. */
export function isOpenedByBrowser({ method, headers }: FastifyRequest): boolean {
  return (method === "GET" || method === "HEAD") && prefersHtml(headers.accept);
}

/** The page for a browser that opened an unknown address, in its language. */
export function sendNothingHere(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const language = acceptedLanguage(request.headers["accept-language"], pageLanguages) ?? "en";
  return reply
    .code(404)
    .headers({ ...pageHeaders.text, "cache-control": "no-store" })
    .type("text/html; charset=utf-8")
    .send(nothingHerePage(language));
}
