import type { MailLanguage } from "@assay/contract/facts";
import type { ApiKeyId } from "@assay/contract/ids";

/** The cookie that keeps a person signed in. */
export type SessionCookie = { token: string; maxAgeSeconds: number };

/** The name of a cookie by the scheme of the service's address. */
export type CookieNames = { readonly http: string; readonly https: string };

/** What a use case may know about its request. */
export type RequestInfo = {
  /** The client's address, as trusted proxies report it. Used for limits only; never stored or logged. */
  address: string;
  userAgent: string;
  /** The mail language that the client prefers (`Accept-Language`); null if none is supported. */
  language: MailLanguage | null;
  /** The value of `Authorization: Bearer`, for a public route that is protected by its own token. */
  bearer: string | null;
  /** Sets or clears the session cookie of the answer. */
  setSessionCookie(cookie: SessionCookie | null): void;
  /** Another cookie, for a public route. */
  cookie(names: CookieNames): string | null;
  setCookie(names: CookieNames, cookie: SessionCookie): void;
};

/** An answered request with an API key. */
export type AnsweredRequest = {
  keyId: ApiKeyId;
  requestId: string;
  method: string;
  url: string;
  status: number;
  /** The error code of the answer. */
  code: string | null;
  milliseconds: number;
  /** Whether it got the answer of an earlier request with the same `Idempotency-Key`. */
  isReplayed: boolean;
};
