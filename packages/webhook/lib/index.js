import { compactDecrypt, decodeProtectedHeader, importJWK, importPKCS8 } from "jose";
// packages/webhook/src/webhook-error.ts
/**
* The only error that this package throws. Answer a delivery that caused it with 400; it is sent again later.
*/
var WebhookError = class extends Error {
	code;
	constructor(code, message) {
		super(message);
		this.name = "WebhookError";
		this.code = code;
	}
};
// packages/webhook/src/verify-signature.ts
/** One of the signatures has to be made by one of the secrets. */
async function verifySignature({ signature, body, secrets, toleranceSeconds, now }) {
	if (signature === null || signature.trim() === "") throw new WebhookError("signature_missing", "The header `X-Service-Signature` is missing. Did a proxy drop it?");
	const given = signature.trim().split(/[ ]+/).map(parse);
	for (const { time, mac } of given) for (const secret of secrets) {
		if (!await isMadeBy(secret, `${time}.${body}`, mac)) continue;
		const ageSeconds = now.getTime() / 1e3 - Number(time);
		if (ageSeconds > toleranceSeconds) throw new WebhookError("timestamp_too_old", `The signature is ${Math.round(ageSeconds)} seconds old. Is it a replay, or is the clock of this machine wrong?`);
		if (ageSeconds < -toleranceSeconds) throw new WebhookError("timestamp_in_future", "The signature is of the future. Is the clock of this machine wrong?");
		return;
	}
	throw new WebhookError("signature_mismatch", "No secret of `secrets` made the signature. Is it the secret of this endpoint, and is the body exactly as it was received?");
}
function parse(text) {
	const found = /^t=([0-9]{1,12}),v1=([0-9a-f]{64})$/.exec(text);
	if (found === null) throw new WebhookError("signature_malformed", "The header `X-Service-Signature` is not of the form `t=…,v1=…`.");
	const [, time = "", hex = ""] = found;
	return {
		time,
		mac: Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
	};
}
/** WebCrypto compares in constant time. */
async function isMadeBy(secret, text, mac) {
	const encoder = new TextEncoder();
	const key = await crypto.subtle.importKey("raw", encoder.encode(secret), {
		name: "HMAC",
		hash: "SHA-256"
	}, false, ["verify"]);
	return crypto.subtle.verify("HMAC", key, mac, encoder.encode(text));
}
// packages/webhook/src/index.ts
/**
* Call `const open = webhook({ secrets, keys })` once, then `const event = await open(headers, rawBody)` for
* each delivery. It verifies the signature, decrypts the body and returns the event, or throws a
* `WebhookError`.
*/
function webhook(options) {
	const { secrets, keys, toleranceSeconds = 300, now = () => /* @__PURE__ */ new Date() } = options;
	checkSecrets(secrets);
	if (keys.length === 0) throw new WebhookError("options_invalid", "`keys` is empty. Give the private key of the endpoint.");
	const candidates = keys.map(candidateOf);
	for (const { key } of candidates) key.catch(() => {});
	return async (headers, rawBody) => {
		const body = textOf(rawBody);
		await verifySignature({
			signature: headerOf(headers, "x-service-signature"),
			body,
			secrets,
			toleranceSeconds,
			now: now()
		});
		return eventOf(await decrypt(body, candidates));
	};
}
function checkSecrets(secrets) {
	if (secrets.length === 0) throw new WebhookError("options_invalid", "`secrets` is empty. Give the signing secret of the endpoint.");
	const at = secrets.findIndex((secret) => typeof secret !== "string" || !secret.startsWith("whsec_"));
	if (at >= 0) throw new WebhookError("options_invalid", `\`secrets[${at}]\` is no signing secret. It begins with \`whsec_\`; the prefix belongs to it.`);
}
function candidateOf(given) {
	if (typeof given === "string") return {
		kid: null,
		key: imported(given)
	};
	if ("key" in given) return {
		kid: given.kid,
		key: imported(given.key)
	};
	return {
		kid: given.kid ?? null,
		key: imported(given)
	};
}
const algorithm = "RSA-OAEP-256";
async function imported(key) {
	try {
		const found = typeof key === "string" ? await importPKCS8(key.replaceAll("\\n", "\n"), algorithm) : await importJWK(key, algorithm);
		if (!(found instanceof Uint8Array) && found.type === "private") return found;
	} catch {}
	throw new WebhookError("options_invalid", "A private key cannot be read. Give PEM that begins with `-----BEGIN PRIVATE KEY-----` (PKCS #8), or a private JWK. `openssl pkcs8 -topk8 -nocrypt -in old.pem` converts an RSA key of the older form.");
}
function textOf(body) {
	if (typeof body === "string") return body;
	if (body instanceof Uint8Array || body instanceof ArrayBuffer) return new TextDecoder().decode(body);
	throw new WebhookError("body_already_parsed", "The body was already parsed. Pass the text or bytes as they were received: in Express use `express.text({ type: '*/*' })` on this route, in a fetch handler `await request.text()`.");
}
function headerOf(headers, name) {
	if (typeof headers.get === "function") return headers.get(name);
	const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
	if (value === void 0) return null;
	return typeof value === "string" ? value : value.join(" ");
}
async function decrypt(body, candidates) {
	const kid = kidOf(body);
	const named = candidates.filter((candidate) => candidate.kid === kid);
	const usable = named.length > 0 ? named : candidates.filter((candidate) => candidate.kid === null);
	if (usable.length === 0) throw new WebhookError("key_unknown", `The delivery is encrypted to the key \`${kid}\`, which is not among \`keys\`.`);
	for (const { key } of usable) {
		const privateKey = await key;
		try {
			const { plaintext } = await compactDecrypt(body, privateKey, {
				keyManagementAlgorithms: [algorithm],
				contentEncryptionAlgorithms: ["A256GCM"]
			});
			return plaintext;
		} catch {}
	}
	throw new WebhookError("decryption_failed", `The delivery is encrypted to the key \`${kid}\`, and no private key in \`keys\` opens it. Is it the private half of the key that is registered under that name?`);
}
function kidOf(body) {
	let header;
	try {
		header = decodeProtectedHeader(body);
	} catch {
		throw new WebhookError("body_not_encrypted", "The body is no encrypted delivery. Was it changed on its way?");
	}
	if (header.alg !== algorithm || header.enc !== "A256GCM" || typeof header.kid !== "string") throw new WebhookError("body_not_encrypted", "The body is not encrypted as deliveries are.");
	return header.kid;
}
/** Events of unknown types are returned too: new types may be added at any time. */
function eventOf(plaintext) {
	try {
		const text = new TextDecoder("utf-8", { fatal: true }).decode(plaintext);
		const event = JSON.parse(text);
		if (typeof event?.type === "string") return event;
	} catch {}
	throw new WebhookError("event_malformed", "The decrypted body is no event.");
}
export { WebhookError, webhook };
