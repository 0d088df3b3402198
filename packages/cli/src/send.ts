import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import { connect } from "node:tls";
import { authorizationFor, proxyFor, tunnel } from "./proxy.ts";

export type Sending = {
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
};

/**
 * One request to the service, through the proxy of the environment. Node's `fetch` has no proxy before Node
 * 22.21, and a library for it would be several times the size of this command.
 */
export async function send(url: URL, sending: Sending, env: NodeJS.ProcessEnv): Promise<IncomingMessage> {
  const proxy = proxyFor(url, env);
  if (proxy === null)
    return exchange(
      url.protocol === "https:" ? requestHttps(url, plain(sending)) : requestHttp(url, plain(sending)),
      sending,
    );
  if (url.protocol === "http:") {
    // Without TLS the proxy gets the whole address and sends the request for us.
    const headers = { ...sending.headers, ...authorizationFor(proxy), host: url.host };
    const request = proxy.protocol === "https:" ? requestHttps : requestHttp;
    return exchange(request(proxy, { ...plain(sending), headers, path: url.href, agent: false }), sending);
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const socket = await tunnel(proxy, url.hostname, Number(url.port || 443), sending.signal);
  const secured = connect({ socket, host, ...(isIP(host) === 0 ? { servername: host } : {}) });
  return exchange(requestHttps(url, { ...plain(sending), createConnection: () => secured }), sending);
}

function plain({ method, headers, body, signal }: Sending) {
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  return { method, headers: { ...headers, ...length }, signal };
}

function exchange(request: ReturnType<typeof requestHttp>, { body }: Sending): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    request.once("error", reject);
    request.end(body);
  });
}
