import type { MailLanguage } from "@assay/contract/facts";
import type { ApiKeyId } from "@assay/contract/ids";

/** The cookie that keeps a person signed in. */
export type SessionCookie = { token: string; maxAgeSeconds: number };

/** The name of a cookie by the scheme of the service's address. */
export type CookieNames = { readonly http: string; readonly https: string };

/** What a use case may know of the request that it serves. */
export type RequestInfo = {
  /** The client's address as far as trusted proxies tell it. Used for limits only; never stored or logged. */
  address: string;
  userAgent: string;
  /** The language of mails that the client likes best (`Accept-Language`); null where there is none of ours among them. */
  language: MailLanguage | null;
  /** What came as `Authorization: Bearer`, for a public route whose proof is a token of its own. */
  bearer: string | null;
  /** Sets or clears the session cookie of the answer. */
  setSessionCookie(cookie: SessionCookie | null): void;
  /** Another cookie of ours, for a public route. */
  cookie(names: CookieNames): string | null;
  setCookie(names: CookieNames, cookie: SessionCookie): void;
};

/** A request with an API key, once it is answered. */
export type AnsweredRequest = {
  keyId: ApiKeyId;
  requestId: string;
  method: string;
  url: string;
  status: number;
  /** The code of the error that it was answered with. */
  code: string | null;
  milliseconds: number;
  /** Whether it got the answer of an earlier request with the same `Idempotency-Key`. */
  isReplayed: boolean;
};
