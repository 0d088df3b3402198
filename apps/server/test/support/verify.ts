import { randomUUID } from "node:crypto";
import type { AttemptId, SessionId } from "@assay/contract/ids";
import { type Api, expectData } from "./api.ts";

/** The texts of the service that runs in the tests. */
export const termsVersion = "2026-11-19";

export const shareFields = {
  date_of_birth: { required: true, reason: "We must know that you are of age." },
  nationality_code: { required: false, reason: "Speeds up the tax form." },
};

export const requiredKeys = ["date_of_birth", "service_document_id"];

/** A session of the partner, with the cancel token that creating it returned. */
export async function startVerification(
  partner: Api,
  body: Record<string, unknown> = { share_fields: shareFields },
): Promise<{ id: SessionId; cancelToken: string; path: string }> {
  const session = expectData(await partner.post("/v1/sessions", body), 201);
  return {
    id: session.id,
    cancelToken: session.cancel_token,
    path: `/v1/verify/session/${session.id}`,
  };
}

/** The person agrees to what is required. */
export async function agree(person: Api, id: string, keys: readonly string[] = requiredKeys) {
  return expectData(
    await person.post(`/v1/verify/session/${id}/consent`, {
      selected_field_keys: keys,
      terms_version: termsVersion,
    }),
    201,
  ) as { cancel_token: string; receipt: string; consent: Record<string, unknown> };
}

export async function handOff(person: Api, id: string, cancelToken?: string): Promise<string> {
  const body = cancelToken === undefined ? undefined : { cancel_token: cancelToken };
  return expectData(await person.post(`/v1/verify/session/${id}/handoff`, body), 201).handoff_token;
}

export function claimWith(person: Api, id: string, token: string, device: string) {
  return person.post(`/v1/verify/session/${id}/claim`, { handoff_token: token, device_id: device });
}

/** Consent, handoff and claim, as one device does it. */
export async function takeSession(person: Api, id: string, device: string = randomUUID()) {
  const { cancel_token: cancelToken, receipt } = await agree(person, id);
  const handoffToken = await handOff(person, id);
  const claimed = expectData(await claimWith(person, id, handoffToken, device), 201);
  return {
    cancelToken,
    receipt,
    handoffToken,
    device,
    attemptId: claimed.attempt_id as AttemptId,
    socketToken: claimed.socket_token as string,
  };
}
