import { type Api, expectData } from "./api.ts";
import { readRequest, type WalletRequest } from "./foreign-wallet.ts";
import { agree } from "./verify.ts";

/** A person with one browser, up to the moment at which the wallet has read the request. */
export type Begun = {
  id: string;
  path: string;
  requestId: string;
  link: string;
  /** Of the browser that asked the wallet. */
  cookie: string;
  request: WalletRequest;
};

export async function beginWithWallet(
  partner: Api,
  person: Api,
  asked: { method: string; fields: Record<string, boolean>; requirements?: Record<string, string> },
): Promise<Begun> {
  const session = expectData(
    await partner.post("/v1/sessions", {
      methods: [asked.method],
      share_fields: Object.fromEntries(
        Object.entries(asked.fields).map(([key, required]) => [key, { required, reason: "We need it." }]),
      ),
      ...(asked.requirements === undefined ? {} : { requirements: asked.requirements }),
    }),
    201,
  );
  const path = `/v1/verify/session/${session.id}`;
  const details = expectData(await person.get(`${path}/details`));
  await agree(person, session.id, Object.keys(details.share_fields));
  return { id: session.id, path, ...(await askWallet(person, path, asked.method)) };
}

export async function askWallet(person: Api, path: string, method: string) {
  const channel = method === "wallet_age" ? "age_link" : "redirect";
  const started = await person.post(`${path}/wallet`, { channel, method });
  const { request_id: requestId, link } = expectData(started, 201);
  const cookie = started.headers
    .getSetCookie()
    .map((header) => header.split(";")[0])
    .join("; ");
  return { requestId, link, cookie, request: await readRequest(link) };
}

export function responseCodeOf(redirectUri: string | null): string | null {
  return new URLSearchParams(new URL(redirectUri ?? "about:blank").hash.slice(1)).get("response_code");
}

/** The wallet opens the address that the service gave it, in the browser that has this cookie. */
export function comeBack(person: Api, path: string, redirectUri: string | null, cookie: string) {
  return person.post(
    `${path}/wallet/complete`,
    { response_code: responseCodeOf(redirectUri) },
    cookie === "" ? {} : { cookie },
  );
}
