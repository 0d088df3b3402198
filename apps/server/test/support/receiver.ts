import { generateKeyPairSync, type KeyObject } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after } from "node:test";
import type { EndpointId } from "@assay/contract/ids";
import { compactDecrypt } from "jose";
import type { Api } from "./api.ts";
import { expectData } from "./api.ts";
import { type Authority, createAuthority } from "./certificate.ts";

export type Received = { path: string; headers: IncomingHttpHeaders; body: string };

type Answer = (
  received: Received,
  response: ServerResponse,
) => { status: number; headers?: Record<string, string> } | null | Promise<{ status: number } | null>;

/** For a file of tests, and closed after it. */
export async function startReceiver(authority?: Authority, host?: string) {
  const receiver = await openReceiver(authority, host);
  after(receiver.close);
  return receiver;
}

/** A partner's HTTPS server with a certificate of a test authority. Answers 200 by default. */
export async function openReceiver(authority: Authority = createAuthority(), host = "127.0.0.1") {
  const { cert, key } = authority.issue([host]);
  const received: Received[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  let connections = 0;
  let answer: Answer = () => ({ status: 200 });
  const server = createServer({ cert, key }, (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", async () => {
      const entry = {
        path: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(chunks).toString("utf8"),
      };
      received.push(entry);
      const reply = await answer(entry, response);
      if (reply !== null) {
        response.writeHead(reply.status, "headers" in reply ? (reply.headers as Record<string, string>) : {});
        response.end();
      }
      for (const waiter of waiting.filter(({ count }) => received.length >= count)) waiter.resolve();
    });
  });
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return {
    url: `https://${host}:${(server.address() as AddressInfo).port}/hook`,
    port: (server.address() as AddressInfo).port,
    ca: authority.certificate,
    received,
    close,
    get connections() {
      return connections;
    },
    answerWith(next: Answer) {
      answer = next;
    },
    /** Resolves when this number of requests have been answered in all. */
    until(count: number): Promise<void> {
      return received.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ count, resolve }));
    },
  };
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

let keyPair: { publicKey: KeyObject; privateKey: KeyObject } | undefined;

/** The partner's key pair, which all tests of a file share because generating one takes a while. */
export function partnerKeys() {
  keyPair ??= generateKeyPairSync("rsa", { modulusLength: 2048 });
  return keyPair;
}

export function registration(keyId: string) {
  const { n, e } = partnerKeys().publicKey.export({ format: "jwk" });
  return {
    key_id: keyId,
    algorithm: "RSA-OAEP-256",
    key_type: "RSA",
    jwk: { kty: "RSA", n, e, alg: "RSA-OAEP-256", use: "enc", kid: keyId },
  };
}

/** An endpoint with an encryption key, ready to receive. */
export async function createReceivingEndpoint(api: Api, url: string, settings: Record<string, unknown> = {}) {
  const { endpoint, signing_secret: secret } = expectData(
    await api.post("/v1/webhooks/endpoints", { url, ...settings }),
    201,
  );
  const key = expectData(
    await api.post(`/v1/webhooks/endpoints/${endpoint.id}/keys`, registration("key-1")),
    201,
  );
  return { id: endpoint.id as EndpointId, secret: secret as string, keyId: key.id as string };
}

export async function decrypt(body: string): Promise<{ header: Record<string, unknown>; event: any }> {
  const { plaintext, protectedHeader } = await compactDecrypt(body, partnerKeys().privateKey);
  return {
    header: protectedHeader as Record<string, unknown>,
    event: JSON.parse(Buffer.from(plaintext).toString("utf8")),
  };
}
