import { CallError, createClient, type Result } from "@assay/contract/client";
import type * as routes from "@assay/contract/verify";

type Address<R extends { method: string; path: string }> = Pick<R, "method" | "path">;

/**
 * The routes this page calls. Their declarations bring the schema library along, which a browser has no use for, so only their types are
 * imported; an address that differs from the declaration does not compile.
 */
const addresses = {
  details: { method: "GET", path: "/v1/verify/session/:id/details" } satisfies Address<
    typeof routes.getVerifyDetails
  >,
  logo: { method: "GET", path: "/v1/verify/session/:id/logo" } satisfies Address<typeof routes.getVerifyLogo>,
  consent: { method: "POST", path: "/v1/verify/session/:id/consent" } satisfies Address<
    typeof routes.giveConsent
  >,
  receipt: { method: "GET", path: "/v1/verify/session/:id/consent-receipt" } satisfies Address<
    typeof routes.getConsentReceipt
  >,
  handoff: { method: "POST", path: "/v1/verify/session/:id/handoff" } satisfies Address<
    typeof routes.createHandoff
  >,
  claim: { method: "POST", path: "/v1/verify/session/:id/claim" } satisfies Address<
    typeof routes.claimHandoff
  >,
  status: { method: "GET", path: "/v1/verify/session/:id/status" } satisfies Address<
    typeof routes.getVerifyStatus
  >,
  cancel: { method: "POST", path: "/v1/verify/session/:id/cancel" } satisfies Address<
    typeof routes.cancelByPerson
  >,
  texts: { method: "GET", path: "/v1/verify/consent-texts" } satisfies Address<typeof routes.getConsentTexts>,
  testDocuments: { method: "GET", path: "/v1/verify/test-documents" } satisfies Address<
    typeof routes.listTestDocuments
  >,
};

export type Details = Result<typeof routes.getVerifyDetails>["data"];
export type Status = Result<typeof routes.getVerifyStatus>["data"];
export type Consent = Result<typeof routes.giveConsent>["data"];
export type Handoff = Result<typeof routes.createHandoff>["data"];
export type Claimed = Result<typeof routes.claimHandoff>["data"];
export type ConsentTexts = Result<typeof routes.getConsentTexts>["data"];
export type CancelOutcome = Result<typeof routes.cancelByPerson>["data"]["outcome"];
export type ListedTestDocument = Result<typeof routes.listTestDocuments>["data"]["documents"][number];

const request = (url: string, init: Parameters<typeof fetch>[1]) =>
  fetch(url, { ...init, cache: "no-store" });
const options = { baseUrl: "", fetch: request };
const call = createClient(options);

export class SessionApi {
  readonly sessionId: string;
  readonly #params: { id: string };

  constructor(sessionId: string) {
    this.sessionId = sessionId;
    this.#params = { id: sessionId };
  }

  async details(): Promise<Details> {
    return (await call(addresses.details as typeof routes.getVerifyDetails, { params: this.#params })).data;
  }

  async status(): Promise<Status> {
    return (await call(addresses.status as typeof routes.getVerifyStatus, { params: this.#params })).data;
  }

  async texts(): Promise<ConsentTexts> {
    return (await call(addresses.texts as typeof routes.getConsentTexts, {})).data;
  }

  async consent(
    selectedFieldKeys: string[],
    termsVersion: string,
    language: "en" | "de" | "fr" | "es",
  ): Promise<Consent> {
    const body = { selected_field_keys: selectedFieldKeys, terms_version: termsVersion, language };
    return (await call(addresses.consent as typeof routes.giveConsent, { params: this.#params, body })).data;
  }

  /** With the token of the consent, whoever claims the handoff may take over from another device. */
  async handoff(cancelToken: string | null): Promise<Handoff> {
    const body = cancelToken === null ? {} : { cancel_token: cancelToken };
    return (await call(addresses.handoff as typeof routes.createHandoff, { params: this.#params, body }))
      .data;
  }

  async claim(handoffToken: string, deviceId: string): Promise<Claimed> {
    const body = { handoff_token: handoffToken, device_id: deviceId };
    return (await call(addresses.claim as typeof routes.claimHandoff, { params: this.#params, body })).data;
  }

  async cancel(cancelToken: string): Promise<CancelOutcome> {
    const body = { cancel_token: cancelToken };
    return (await call(addresses.cancel as typeof routes.cancelByPerson, { params: this.#params, body })).data
      .outcome;
  }

  async receipt(cancelToken: string): Promise<string> {
    const withToken = createClient({ ...options, token: cancelToken });
    return (await withToken(addresses.receipt as typeof routes.getConsentReceipt, { params: this.#params }))
      .data.receipt;
  }

  async testDocuments(): Promise<ListedTestDocument[]> {
    return (await call(addresses.testDocuments as typeof routes.listTestDocuments, {})).data.documents;
  }

  eventsUrl(): string {
    return `/v1/verify/session/${this.sessionId}/events`;
  }
}

/** For an image element; whether there is a logo, the details say. */
export function logoPath(sessionId: string): string {
  return addresses.logo.path.replace(":id", sessionId);
}

/** The code of an error that the service answered with; null when there was no answer at all. */
export function codeOf(error: unknown): string | null {
  return error instanceof CallError ? error.code : null;
}
