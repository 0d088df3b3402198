import { Type } from "typebox";
import { named, open, Uuid } from "./schema.ts";

/** The public keys, as JWKs, with which receipts of one kind are verified. */
export function receiptKeys(receipt: "ConsentReceipt" | "DeletionReceipt") {
  const key = open({
    kid: Uuid,
    kty: Type.String({ examples: ["OKP"] }),
    crv: Type.String({ examples: ["Ed25519"] }),
    x: Type.String({ description: "The public key, base64url." }),
    alg: Type.String({ examples: ["EdDSA"] }),
    use: Type.String({ examples: ["sig"] }),
  });
  return open(`${receipt}Keys`, { keys: Type.Array(named(`${receipt}Key`, key)) });
}
