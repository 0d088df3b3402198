import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

/** Why there is no answer. The contract has the same list; its schemas would double the size of the bundle. */
export const answerErrors = [
  "timeout",
  "name_not_resolved",
  "connection_failed",
  "tls_failed",
  "response_invalid",
] as const;
type AnswerError = (typeof answerErrors)[number];

/** A receiver's answer, as reported to the service. */
export type Answer = { status_code: number; retry_after?: string } | { error: AnswerError };

/** The target of forwarded deliveries. */
export type Receiver = {
  url: URL;
  /** Sent with each delivery; one of the same name is replaced. */
  headers: readonly (readonly [name: string, value: string])[];
  isCertificateChecked: boolean;
};

/** One second less than the service waits, so that the report arrives before it gives up. */
const answerWithinMs = 14_000;

/**
 * Sends a request as the service would: same headers, order and body, and no redirects. Of the answer it
 * reads only the status and `Retry-After`. Never throws.
 */
export function forward(
  { url, headers: added, isCertificateChecked }: Receiver,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<Answer> {
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  const bytes = Buffer.from(body, "utf8");
  const own = [["host", url.host], ["connection", "keep-alive"], ...Object.entries(headers)];
  const isReplaced = (name = "") => added.some(([other]) => other.toLowerCase() === name);
  // Node sends a flat list unchanged. For a record it would add headers and change their order.
  const list = [
    ...own.filter(([name]) => !isReplaced(name)),
    ...added,
    ["content-length", String(bytes.length)],
  ].flat();
  return new Promise((resolve) => {
    const options = {
      method: "POST",
      headers: list,
      agent: false,
      rejectUnauthorized: isCertificateChecked,
    } as const;
    const sent = request(url, options, (response) => {
      clearTimeout(timer);
      const retryAfter = response.headers["retry-after"];
      response.resume();
      response.on("error", () => {});
      resolve({
        status_code: response.statusCode ?? 0,
        ...(retryAfter === undefined || retryAfter.length > 100 ? {} : { retry_after: retryAfter }),
      });
    });
    const timer = setTimeout(() => {
      resolve({ error: "timeout" });
      sent.destroy();
    }, answerWithinMs);
    sent.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      resolve({ error: errorOf(error.code ?? "") });
    });
    sent.end(bytes);
  });
}

function errorOf(code: string): AnswerError {
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "name_not_resolved";
  if (code.startsWith("HPE_")) return "response_invalid";
  if (/^ERR_TLS|^ERR_SSL|CERT|SELF_SIGNED|UNABLE_TO_/.test(code)) return "tls_failed";
  return "connection_failed";
}

export function isSuccess(answer: Answer): boolean {
  return "status_code" in answer && answer.status_code >= 200 && answer.status_code < 300;
}
