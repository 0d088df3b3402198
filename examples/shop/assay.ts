import { createPublicKey, generateKeyPairSync, randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type Session = { id: string; verification_url: string };

/**
 * The part of the API that the shop uses.
 * The reference of your installation, at `/reference`, describes all of it.
 */
export class Assay {
  readonly url: string;
  readonly #credential: string | null;

  constructor(url: string, credential: string | null = null) {
    this.url = url;
    this.#credential = credential;
  }

  /** Asks for one thing: whether the person is of age. Not for a name, and not for a date of birth. */
  createSession(order: string, shopUrl: string): Promise<Session> {
    return this.#post("/v1/sessions", {
      client_reference_id: order,
      share_fields: { age_over_18: { required: true, reason: "We may sell cider to adults only." } },
      redirect_url: `${shopUrl}/orders/${order}`,
      embed_origin: shopUrl,
    });
  }

  createEndpoint(url: string): Promise<{ endpoint: { id: string }; signing_secret: string }> {
    return this.#post("/v1/webhooks/endpoints", { url, name: "Corner Shop" });
  }

  registerKey(endpointId: string, privateKeyPem: string): Promise<unknown> {
    const { n, e } = createPublicKey(privateKeyPem).export({ format: "jwk" });
    const jwk = { kty: "RSA", n, e, alg: "RSA-OAEP-256", use: "enc", kid: "shop-1" };
    return this.#post(`/v1/webhooks/endpoints/${endpointId}/keys`, {
      key_id: "shop-1",
      algorithm: "RSA-OAEP-256",
      key_type: "RSA",
      jwk,
    });
  }

  /**
   * An account, an organization and a sandbox key. In production a person does this once, in the dashboard.
   */
  async signUp(): Promise<string> {
    const name = randomBytes(4).toString("hex");
    const { token } = await this.#post<{ token: string }>("/v1/auth/sign-up/email", {
      name: "Shopkeeper",
      email: `shop-${name}@example.com`,
      password: randomBytes(18).toString("base64url"),
    });
    const user = new Assay(this.url, token);
    await user.#post("/v1/auth/orgs", { name: "Corner Shop", slug: `corner-shop-${name}` });
    const scopes = ["sessions:read", "sessions:write", "webhooks:read", "webhooks:write"];
    return (await user.#post<{ key: string }>("/v1/auth/api-keys", { name: "Shop", scopes })).key;
  }

  async #post<T>(path: string, body: unknown): Promise<T> {
    const answer = await fetch(`${this.url}${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(this.#credential === null ? {} : { authorization: `Bearer ${this.#credential}` }),
      },
      body: JSON.stringify(body),
    });
    const { data, error } = (await answer.json()) as {
      data: T;
      error: { message: string; hint: string } | null;
    };
    if (error !== null) throw new Error(`${path}: ${error.message} ${error.hint}`);
    return data;
  }
}

/** Reads a file of the folder, or makes what belongs there and writes it, readable for this user alone. */
async function kept(folder: string, name: string, make: () => string | Promise<string>): Promise<string> {
  const file = join(folder, name);
  if (!existsSync(file)) writeFileSync(file, await make(), { mode: 0o600 });
  return readFileSync(file, "utf8").trim();
}

export type Setup = { assay: Assay; privateKey: string; signingSecret: string };

/**
 * The setup before the first session, made once:
 * an API key, a key pair whose private key stays here, an endpoint.
 */
export async function setUp(options: {
  assayUrl: string;
  folder: string;
  apiKey: string | null;
  hookUrl: string;
}): Promise<Setup> {
  const { assayUrl, folder, apiKey, hookUrl } = options;
  const key = apiKey ?? (await kept(folder, "api-key.txt", () => new Assay(assayUrl).signUp()));
  const assay = new Assay(assayUrl, key);
  const privateKey = await kept(folder, "webhook-key.pem", () => {
    const pair = generateKeyPairSync("rsa", { modulusLength: 3072 });
    return String(pair.privateKey.export({ type: "pkcs8", format: "pem" }));
  });
  const signingSecret = await kept(folder, "signing-secret.txt", async () => {
    const { endpoint, signing_secret } = await assay.createEndpoint(hookUrl);
    await assay.registerKey(endpoint.id, privateKey);
    return signing_secret;
  });
  return { assay, privateKey, signingSecret };
}
