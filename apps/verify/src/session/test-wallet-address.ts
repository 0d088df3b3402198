/** The page of the sandbox's own wallet. The request is in the fragment, which no server gets to see. */
const page = /^\/verify\/([^/]+)\/test-wallet$/;
const requestMark = "request";

export function testWalletAddress(sessionId: string, link: string): string {
  return `/verify/${sessionId}/test-wallet#${new URLSearchParams({ [requestMark]: link })}`;
}

/** Null where another page is shown. */
export function readTestWalletAddress(
  address: Pick<Location, "pathname" | "hash">,
): { sessionId: string; link: string } | null {
  const sessionId = page.exec(address.pathname)?.[1];
  if (sessionId === undefined) return null;
  return { sessionId, link: new URLSearchParams(address.hash.slice(1)).get(requestMark) ?? "" };
}
