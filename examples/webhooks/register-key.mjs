// node register-key.mjs webhook-key.pem NAME: prints the body that registers the public key under this name.
import { createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";

const [file, name] = process.argv.slice(2);
const { n, e } = createPublicKey(readFileSync(file)).export({ format: "jwk" });
const jwk = { kty: "RSA", n, e, alg: "RSA-OAEP-256", use: "enc", kid: name };
console.log(JSON.stringify({ key_id: name, algorithm: "RSA-OAEP-256", key_type: "RSA", jwk }));
