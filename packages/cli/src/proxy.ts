import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type Socket } from "node:net";
import { parseUrl } from "./base-url.ts";
import { CommandError } from "./command.ts";

const connectWithinMs = 15_000;

/**
 * The proxy for an address, by the variables that curl and most programs read, or null. As in Go, loopback
 * addresses never use a proxy: there they would mean another machine.
 */
export function proxyFor(url: URL, env: NodeJS.ProcessEnv): URL | null {
  const [name, given] = url.protocol === "https:" ? read(env, "https_proxy") : read(env, "http_proxy");
  if (given === "" || isLoopback(url.hostname) || isExempt(url, read(env, "no_proxy")[1])) return null;
  const proxy = parseUrl(given.includes("://") ? given : `http://${given}`);
  if (proxy === null || !/^https?:$/.test(proxy.protocol) || proxy.hostname === "")
    throw new CommandError(`${name} must be an address like http://proxy.example.com:3128.`);
  return proxy;
}

/** The name as it was found, and its value; in small letters it wins, as with curl. */
function read(env: NodeJS.ProcessEnv, name: string): [name: string, value: string] {
  const upper = name.toUpperCase();
  return env[name] ? [name, env[name]] : [upper, env[upper] ?? ""];
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" || hostname === "[::1]" || (isIP(hostname) === 4 && hostname.startsWith("127."))
  );
}

function isExempt(url: URL, list: string): boolean {
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return list.split(/[\s,]+/).some((entry) => {
    if (entry === "*") return true;
    const [, host = "", ofPort] = /^(?:\*?\.)?(.+?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (host === "" || (ofPort !== undefined && ofPort !== port)) return false;
    return url.hostname === host || url.hostname.endsWith(`.${host}`);
  });
}

/** The proxy's authorization header, if its address has credentials. */
export function authorizationFor({ username, password }: URL): Record<string, string> {
  if (username === "") return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
}

/** A connection through the proxy to this host, on which the caller starts TLS. */
export function tunnel(proxy: URL, host: string, port: number, signal?: AbortSignal): Promise<Socket> {
  const request = proxy.protocol === "https:" ? requestHttps : requestHttp;
  const target = `${host}:${port}`;
  return new Promise((resolve, reject) => {
    const sent = request(proxy, {
      method: "CONNECT",
      path: target,
      headers: { host: target, ...authorizationFor(proxy) },
      agent: false,
      timeout: connectWithinMs,
      ...(signal === undefined ? {} : { signal }),
    });
    sent.once("connect", ({ statusCode }, socket) => {
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(new Error(`the proxy ${proxy.host} answered ${statusCode}`));
    });
    sent.once("response", ({ statusCode }) => {
      sent.destroy();
      reject(new Error(`the proxy ${proxy.host} answered ${statusCode}`));
    });
    sent.once("timeout", () => sent.destroy(new Error(`the proxy ${proxy.host} does not answer`)));
    sent.once("error", (error: NodeJS.ErrnoException) =>
      reject(error.code === undefined ? error : new Error(`the proxy ${proxy.host}: ${error.code}`)),
    );
    sent.end();
  });
}
