import { type JWK } from "jose";
import type { WebhookEvent } from "./event.js";
export type * from "./event.js";
export { WebhookError, type WebhookErrorCode } from "./webhook-error.js";
/** A private key: PEM (PKCS #8), JWK, or either with the name that you registered it under. */
export type PrivateKey = string | JWK | {
    kid: string;
    key: string | JWK;
};
export type WebhookOptions = {
    /** Signing secrets (`whsec_…`) of the endpoint: the current one, and during a rotation the one before. */
    secrets: readonly string[];
    /**
     * Private keys whose public keys are registered.
     * A delivery names its key by `kid`; keys without one are tried in turn.
     */
    keys: readonly PrivateKey[];
    /** Largest difference of a signature's time from now. Default: 300. */
    toleranceSeconds?: number;
    /** The time to compare with, for tests. */
    now?: () => Date;
};
/** Headers as the framework has them: `Headers`, or an object with names in any case. */
export type HeadersLike = {
    get(name: string): string | null;
} | Readonly<Record<string, string | readonly string[] | undefined>>;
/** The body as it was received, before anything parsed it. */
export type RawBody = string | Uint8Array | ArrayBuffer;
/**
 * Call `const open = webhook({ secrets, keys })` once, then `const event = await open(headers, rawBody)` for
 * each delivery. It verifies the signature, decrypts the body and returns the event, or throws a
 * `WebhookError`.
 */
export declare function webhook(options: WebhookOptions): (headers: HeadersLike, rawBody: RawBody) => Promise<WebhookEvent>;
