import { createClient, type Input, type Result } from "@assay/contract/client";
import { type RequirementName, requirementNames } from "@assay/contract/facts";
import type { RouteDefinition } from "@assay/contract/route";
import { getConsentTexts, getVerifyDetails, giveConsent } from "@assay/contract/verify";
import { DeviceError, parseVerificationUrl } from "./verification-url.ts";

export type ConsentOptions = {
  /** Also the link of a code that the person's page shows: with it a device may take over from another. */
  verificationUrl: string;
  /**
   * `ask`, the default: agree in the person's name, as a simulation does.
   * `given`: the person has done so on the page.
   */
  consent?: "ask" | "given";
  /** What the session must require of the document; other sessions are not used. */
  demanded?: readonly RequirementName[];
  /** Optional fields that the person does not agree to share. */
  decline?: readonly string[];
  onStep?: (step: string) => void;
  /** For tests: used for every HTTP call. */
  fetch?: typeof fetch;
};

/** Up to the consent of the person. */
export async function agreeToShare(run: ConsentOptions) {
  const { baseUrl, sessionId, handoffToken } = parseVerificationUrl(run.verificationUrl);
  const call = createClient({ baseUrl, fetch: run.fetch ?? fetch });
  const params = { id: sessionId };
  const ask = async <const R extends RouteDefinition>(route: R, input: object): Promise<Result<R>["data"]> =>
    (await call(route, input as Input<R>)).data;

  const details = await ask(getVerifyDetails, { params });
  const { requirements } = details;
  for (const name of run.demanded ?? [])
    if (requirements[name] !== "required") throw new DeviceError(`The session does not require ${name}.`);
  for (const name of requirementNames)
    if (requirements[name] === "required") run.onStep?.(`the document must give ${name}`);
  if (run.consent !== "given" && !details.consent?.fixed) {
    if (!details.sandbox)
      throw new DeviceError("Only the person can agree to share, on the page of the session.");
    const decline = new Set(run.decline ?? []);
    for (const key of decline) {
      const field = details.share_fields[key];
      if (field === undefined) throw new DeviceError(`The session does not ask for ${key}.`);
      if (field.required) throw new DeviceError(`${key} is required and cannot be declined.`);
    }
    const texts = await ask(getConsentTexts, {});
    const selected = Object.keys(details.share_fields).filter((key) => !decline.has(key));
    await ask(giveConsent, {
      params,
      body: { selected_field_keys: selected, terms_version: texts.version },
    });
  }
  run.onStep?.("consent");
  return { baseUrl, sessionId, handoffToken, params, details, ask };
}
