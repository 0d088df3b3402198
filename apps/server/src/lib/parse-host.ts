/** Splits `name:port`, `address:port` and `[address]:port`. */
export function parseHost(host: string): { name: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(host);
  const port = Number(match?.[3]);
  const name = match?.[1] ?? match?.[2];
  if (name === undefined || !(port >= 1 && port <= 65_535))
    throw new Error(`"${host}" is not of the form name:port`);
  return { name, port };
}
