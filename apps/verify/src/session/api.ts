import { CallError, createClient, NoAnswerError, type Result } from "@assay/contract/client";
import type { PageLanguage } from "@assay/contract/facts";
import { isolated, shownText } from "@assay/contract/shown-text";
import type * as routes from "@assay/contract/verify";
import { verifyAddresses } from "@assay/contract/verify-addresses";
import { mayConsentNow } from "./consent-sight.ts";

/** The route of this name, typed by its declaration. The call itself needs no more of it than its address. */
function at<Name extends keyof typeof verifyAddresses>(name: Name): (typeof routes)[Name] {
  return verifyAddresses[name] as unknown as (typeof routes)[Name];
}

export type Details = Result<typeof routes.getVerifyDetails>["data"];
export type Status = Result<typeof routes.getVerifyStatus>["data"];
type Consent = Result<typeof routes.giveConsent>["data"];
export type Handoff = Result<typeof routes.createHandoff>["data"];
type Claimed = Result<typeof routes.claimHandoff>["data"];
export type ConsentTexts = Result<typeof routes.getConsentTexts>["data"];
type CancelOutcome = Result<typeof routes.cancelByPerson>["data"]["outcome"];
export type ReceiptKey = Result<typeof routes.listConsentReceiptKeys>["data"]["keys"][number];
export type ListedTestDocument = Result<typeof routes.listTestDocuments>["data"]["documents"][number];

const request = (url: string, init: Parameters<typeof fetch>[1]) =>
  fetch(url, { ...init, cache: "no-store" });
/**
 * Shorter: people with a slow connection miss answers.
 * Longer: they look at a silent page for most of a minute.
 */
const timeLimitMs = 20_000;
const options = { baseUrl: "", fetch: request, timeLimitMs, readText: shownText };
export const call = createClient(options);

export class SessionApi {
  readonly sessionId: string;
  readonly #params: { id: string };

  constructor(sessionId: string) {
    this.sessionId = sessionId;
    this.#params = { id: sessionId };
  }

  async details(): Promise<Details> {
    return readDetails((await call(at("getVerifyDetails"), { params: this.#params })).data);
  }

  async status(): Promise<Status> {
    return (await call(at("getVerifyStatus"), { params: this.#params })).data;
  }

  async texts(): Promise<ConsentTexts> {
    return (await call(at("getConsentTexts"), {})).data;
  }

  /** The code that this browser brings back to the partner; null where another browser was first. */
  async open(): Promise<string | null> {
    return (await call(at("openSession"), { params: this.#params })).data.return_code;
  }

  async consent(
    selectedFieldKeys: string[],
    termsVersion: string,
    language: PageLanguage,
    returnCode: string | null,
  ): Promise<Consent> {
    if (!mayConsentNow()) throw new Error("the page is not seen");
    const body = {
      selected_field_keys: selectedFieldKeys,
      terms_version: termsVersion,
      language,
      ...withCode(returnCode),
    };
    return (await call(at("giveConsent"), { params: this.#params, body })).data;
  }

  /** With the cancel token of the consent, the device that claims the handoff may take over from another. */
  async handoff(cancelToken: string | null): Promise<Handoff> {
    const body = cancelToken === null ? {} : { cancel_token: cancelToken };
    return (await call(at("createHandoff"), { params: this.#params, body })).data;
  }

  async claim(handoffToken: string, deviceId: string, returnCode: string | null): Promise<Claimed> {
    const body = { handoff_token: handoffToken, device_id: deviceId, ...withCode(returnCode) };
    return (await call(at("claimHandoff"), { params: this.#params, body })).data;
  }

  /** Before consent. Returns where to go. */
  async decline(): Promise<string> {
    return (await call(at("declineByPerson"), { params: this.#params })).data.redirect_url;
  }

  async cancel(cancelToken: string): Promise<CancelOutcome> {
    const body = { cancel_token: cancelToken };
    return (await call(at("cancelByPerson"), { params: this.#params, body })).data.outcome;
  }

  async receipt(cancelToken: string): Promise<string> {
    const withToken = createClient({ ...options, token: cancelToken });
    return (await withToken(at("getConsentReceipt"), { params: this.#params })).data.receipt;
  }

  async receiptKeys(): Promise<ReceiptKey[]> {
    return (await call(at("listConsentReceiptKeys"), {})).data.keys;
  }

  async testDocuments(): Promise<ListedTestDocument[]> {
    return (await call(at("listTestDocuments"), {})).data.documents;
  }

  eventsUrl(): string {
    return verifyAddresses.streamVerifyEvents.path.replace(":id", this.sessionId);
  }
}

export function withCode(returnCode: string | null): { return_code?: string } {
  return returnCode === null ? {} : { return_code: returnCode };
}

/** A name may appear in sentences of either direction. */
export function readDetails(details: Details): Details {
  const { organization } = details;
  return { ...details, organization: { ...organization, name: isolated(organization.name) } };
}

/** For an image element; whether there is a logo, the details say. */
export function logoPath(sessionId: string): string {
  return verifyAddresses.getVerifyLogo.path.replace(":id", sessionId);
}

/** Whether the service did not answer, in time or ever. */
export function isNoAnswer(error: unknown): boolean {
  return error instanceof NoAnswerError || error instanceof TypeError;
}

/** The error code of the service's answer; null if there was no answer. */
export function codeOf(error: unknown): string | null {
  return error instanceof CallError ? error.code : null;
}
