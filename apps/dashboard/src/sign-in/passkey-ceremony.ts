import type { finishPasskeySignIn, registerPasskey } from "@assay/contract/accounts";
import type { BodyOf } from "@assay/contract/route";
import { t } from "../i18n/words.ts";

export function passkeysAreSupported(): boolean {
  return (
    typeof PublicKeyCredential !== "undefined" &&
    typeof PublicKeyCredential.parseRequestOptionsFromJSON === "function" &&
    typeof PublicKeyCredential.parseCreationOptionsFromJSON === "function"
  );
}

class PasskeyRefusal extends Error {}

/** Browsers say little about why: the person closed the prompt, waited too long, or has no passkey here. */
async function inWords<T>(ceremony: () => Promise<T>): Promise<T> {
  try {
    return await ceremony();
  } catch (error) {
    if (error instanceof DOMException && error.name === "InvalidStateError")
      throw new PasskeyRefusal(t.signIn.passkeyExists);
    if (error instanceof DOMException && error.name === "SecurityError")
      throw new PasskeyRefusal(t.signIn.passkeyAddress);
    if (error instanceof DOMException) throw new PasskeyRefusal(t.signIn.passkeyUnused);
    throw error;
  }
}

type Assertion = BodyOf<typeof finishPasskeySignIn>["response"];
type Attestation = BodyOf<typeof registerPasskey>["response"];

export function getAssertion(options: Record<string, unknown>): Promise<Assertion> {
  return inWords(async () => {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
      options as unknown as PublicKeyCredentialRequestOptionsJSON,
    );
    const credential = await navigator.credentials.get({ publicKey });
    return (credential as PublicKeyCredential).toJSON() as unknown as Assertion;
  });
}

export function createCredential(options: Record<string, unknown>): Promise<Attestation> {
  return inWords(async () => {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
      options as unknown as PublicKeyCredentialCreationOptionsJSON,
    );
    const credential = await navigator.credentials.create({ publicKey });
    return (credential as PublicKeyCredential).toJSON() as unknown as Attestation;
  });
}
