/**
 * A message of the Model Context Protocol (JSON-RPC 2.0). The endpoint serves two generations without a
 * session. From revision 2026-07-28 on, each request has its version in `_meta` and, for proxies, in headers.
 * Before, a client sends `initialize` first; the agreed version changes no answer, so it is not kept.
 */
export const versions = {
  stateless: ["2026-07-28"],
  withHandshake: ["2025-11-25", "2025-06-18", "2025-03-26"],
} as const;

export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  headerMismatch: -32020,
  unsupportedVersion: -32022,
} as const;

export type RpcId = string | number;
export type Generation = keyof typeof versions;

export type Message =
  | { kind: "request"; id: RpcId; method: string; params: Fields; generation: Generation }
  /** Gets no response. */
  | { kind: "notification" }
  | ToolRefusal;

/** The message cannot be processed. `id` is null if it could not be read. */
type ToolRefusal = {
  kind: "refusal";
  status: 400 | 404;
  id: RpcId | null;
  error: { code: number; message: string; data?: object };
};

type Fields = Readonly<Record<string, unknown>>;
type Headers = (name: string) => string | null;

const metaKeys = {
  version: "io.modelcontextprotocol/protocolVersion",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
} as const;

export function readMessage(body: unknown, header: Headers): Message {
  if (Array.isArray(body))
    return refuse(null, rpcCodes.invalidRequest, "Send one message per request; batches are not supported.");
  if (!isFields(body) || body.jsonrpc !== "2.0")
    return refuse(
      null,
      rpcCodes.invalidRequest,
      'The body must be a JSON-RPC message with `"jsonrpc": "2.0"`.',
    );
  const { id, method, params = {} } = body;
  if (typeof method !== "string")
    return refuse(
      null,
      rpcCodes.invalidRequest,
      "The message must have a `method`. This endpoint sends no requests, so it accepts no responses.",
    );
  if (id === undefined) return { kind: "notification" };
  if (!isId(id)) return refuse(null, rpcCodes.invalidRequest, "`id` must be a text or an integer.");
  if (!isFields(params)) return refuse(id, rpcCodes.invalidRequest, "`params` must be an object.");
  const meta = isFields(params._meta) ? params._meta : {};
  const request = { kind: "request", id, method, params } as const;
  if (Object.hasOwn(meta, metaKeys.version))
    return checkStateless(id, method, params, meta, header) ?? { ...request, generation: "stateless" };
  const version = header("mcp-protocol-version");
  if (version !== null && isVersion("stateless", version))
    return method === "initialize"
      ? refuse(
          id,
          rpcCodes.headerMismatch,
          `The version ${version} of the header has no method \`initialize\`.`,
        )
      : refuse(id, rpcCodes.invalidParams, `\`_meta\` must have \`${metaKeys.version}\`.`);
  // `initialize` with an unknown version is answered with a known one.
  if (version !== null && method !== "initialize" && !isVersion("withHandshake", version))
    return refuseVersion(id, version);
  return { ...request, generation: "withHandshake" };
}

/** The headers must match the body, because a proxy may have routed by the headers. */
function checkStateless(
  id: RpcId,
  method: string,
  params: Fields,
  meta: Fields,
  header: Headers,
): ToolRefusal | null {
  const version = meta[metaKeys.version];
  if (typeof version !== "string" || !isFields(meta[metaKeys.capabilities]))
    return refuse(
      id,
      rpcCodes.invalidParams,
      `\`_meta\` must have \`${metaKeys.version}\`, a text, and \`${metaKeys.capabilities}\`, an object.`,
    );
  const mismatch = (name: string) =>
    refuse(id, rpcCodes.headerMismatch, `The header \`${name}\` is missing or differs from the body.`);
  if (header("mcp-protocol-version") !== version) return mismatch("MCP-Protocol-Version");
  if (!isVersion("stateless", version)) return refuseVersion(id, version);
  if (header("mcp-method") !== method) return mismatch("Mcp-Method");
  const name = method === "tools/call" ? params.name : method === "resources/read" ? params.uri : null;
  if (typeof name === "string" && named(header) !== name) return mismatch("Mcp-Name");
  return null;
}

/** A value that a header cannot hold is sent as base64. */
function named(header: Headers): string | null {
  const value = header("mcp-name");
  const encoded = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value ?? "")?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, "base64").toString();
}

function isVersion(generation: Generation, version: string): boolean {
  return versions[generation].some((known) => known === version);
}

function refuseVersion(id: RpcId, requested: string): ToolRefusal {
  const supported = [...versions.stateless, ...versions.withHandshake];
  return refuse(id, rpcCodes.unsupportedVersion, "This version of the protocol is not supported.", {
    supported,
    requested: requested.slice(0, 40),
  });
}

function refuse(id: RpcId | null, code: number, message: string, data?: object): ToolRefusal {
  return {
    kind: "refusal",
    status: 400,
    id,
    error: { code, message, ...(data === undefined ? {} : { data }) },
  };
}

function isId(value: unknown): value is RpcId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
