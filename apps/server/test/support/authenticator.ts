import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

type Cbor = number | string | Uint8Array | Cbor[] | Map<number | string, Cbor>;

/** The part of CBOR that attestations and keys are written in. */
export function encodeCbor(value: Cbor): Buffer {
  const head = (major: number, length: number) => {
    if (length < 24) return Buffer.from([(major << 5) | length]);
    if (length < 256) return Buffer.from([(major << 5) | 24, length]);
    return Buffer.from([(major << 5) | 25, length >> 8, length & 255]);
  };
  if (typeof value === "number") return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === "string")
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(encodeCbor)]);
  const entries = [...value].flatMap(([key, entry]) => [encodeCbor(key), encodeCbor(entry)]);
  return Buffer.concat([head(5, value.size), ...entries]);
}

type Bent = {
  origin?: string;
  rpId?: string;
  challenge?: string;
  flags?: number;
  type?: string;
  count?: number;
  /** Signs the attestation with its own key instead of the passkey's. */
  attestor?: { certificate: Uint8Array; key: KeyObject };
  /** Signs the attestation with the passkey itself, as some security keys do unasked. */
  attestsItself?: boolean;
};

const userPresent = 0x01;
const userVerified = 0x04;
const attested = 0x40;

/** An authenticator in software with real signatures. A test can alter every part of an answer. */
export class SoftwareAuthenticator {
  readonly origin: string;
  readonly credentialId = randomBytes(32);
  userHandle = "";
  count = 0;
  #rpId = "";
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;

  constructor(origin: string) {
    this.origin = origin;
    const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#privateKey = pair.privateKey;
    this.#publicKey = pair.publicKey;
  }

  get id(): string {
    return this.credentialId.toString("base64url");
  }

  /** Answers the options of a registration as a browser's `credential.toJSON()` would. */
  create(options: any, bent: Bent = {}) {
    this.#rpId = options.rp.id;
    this.userHandle = options.user.id;
    const jwk = this.#publicKey.export({ format: "jwk" });
    const key = encodeCbor(
      new Map<number, Cbor>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(jwk.x ?? "", "base64url")],
        [-3, Buffer.from(jwk.y ?? "", "base64url")],
      ]),
    );
    const credential = Buffer.concat([
      Buffer.alloc(16),
      Buffer.from([0, this.credentialId.length]),
      this.credentialId,
      key,
    ]);
    const authData = Buffer.concat([this.#authData(bent, userPresent | userVerified | attested), credential]);
    const clientData = this.#clientData("webauthn.create", options.challenge, bent);
    const statement = new Map<string, Cbor>();
    const attestationKey = bent.attestsItself ? this.#privateKey : bent.attestor?.key;
    if (attestationKey !== undefined) {
      const signed = Buffer.concat([authData, createHash("sha256").update(clientData).digest()]);
      statement.set("alg", -7).set("sig", sign("sha256", signed, attestationKey));
    }
    if (bent.attestor) statement.set("x5c", [bent.attestor.certificate]);
    const attestation = new Map<string, Cbor>([
      ["fmt", attestationKey === undefined ? "none" : "packed"],
      ["attStmt", statement],
      ["authData", authData],
    ]);
    return {
      id: this.id,
      rawId: this.id,
      type: "public-key",
      authenticatorAttachment: "platform",
      clientExtensionResults: {},
      response: {
        clientDataJSON: clientData.toString("base64url"),
        attestationObject: encodeCbor(attestation).toString("base64url"),
        transports: ["internal", "hybrid"],
        publicKeyAlgorithm: -7,
      },
    };
  }

  /** Answers the options of a sign-in. */
  get(options: any, bent: Bent = {}) {
    this.#rpId ||= options.rpId;
    this.count += 1;
    const authData = this.#authData(bent, userPresent | userVerified);
    const clientData = this.#clientData("webauthn.get", options.challenge, bent);
    const signed = Buffer.concat([authData, createHash("sha256").update(clientData).digest()]);
    return {
      id: this.id,
      rawId: this.id,
      type: "public-key",
      clientExtensionResults: {},
      response: {
        clientDataJSON: clientData.toString("base64url"),
        authenticatorData: authData.toString("base64url"),
        signature: sign("sha256", signed, this.#privateKey).toString("base64url"),
        userHandle: this.userHandle,
      },
    };
  }

  #authData(bent: Bent, flags: number): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(bent.count ?? this.count);
    const rpIdHash = createHash("sha256")
      .update(bent.rpId ?? this.#rpId)
      .digest();
    return Buffer.concat([rpIdHash, Buffer.from([bent.flags ?? flags]), count]);
  }

  #clientData(type: string, challenge: string, bent: Bent): Buffer {
    return Buffer.from(
      JSON.stringify({
        type: bent.type ?? type,
        challenge: bent.challenge ?? challenge,
        origin: bent.origin ?? this.origin,
        crossOrigin: false,
      }),
    );
  }
}
