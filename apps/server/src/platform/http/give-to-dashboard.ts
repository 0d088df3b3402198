import { getAccount } from "@assay/contract/accounts";
import { dashboardLanguages } from "@assay/contract/facts";
import type { OrganizationId } from "@assay/contract/ids";
import { listOrganizations } from "@assay/contract/organizations";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { acceptedLanguage } from "./accept.ts";
import type { Authenticator } from "./identify.ts";
import { sessionTokenOf } from "./session-cookie.ts";
import type { Filling } from "./web-apps.ts";

/** What the dashboard needs before it can show anything, as `apps/dashboard/src/shell/given.ts` reads it. */
type Given =
  | { account: unknown; organizations: unknown; active_organization_id: OrganizationId | null }
  | { account: null };

type Options = { publicUrl: () => string; byToken: Authenticator["byToken"] };

/**
 * Embeds the account and its organizations in the page. The routes themselves answer, inside of the process
 * and with the page's cookie, so that access and shape are decided in one place. A visitor without a session
 * gets `null`: browsers would show a 401 as an error.
 */
export function givingToDashboard(
  app: FastifyInstance,
  { publicUrl, byToken }: Options,
): (request: FastifyRequest) => Promise<Filling> {
  const answerTo = async (request: FastifyRequest, url: string): Promise<unknown> => {
    const answer = await app.inject({
      method: "GET",
      url,
      remoteAddress: request.ip,
      headers: {
        cookie: request.headers.cookie ?? "",
        "user-agent": request.headers["user-agent"] ?? "",
        "x-request-id": request.id,
      },
    });
    if (answer.statusCode !== 200) throw new Error(`${url} was answered with ${answer.statusCode}`);
    return JSON.parse(answer.payload);
  };
  return async (request) => {
    const language = acceptedLanguage(request.headers["accept-language"], dashboardLanguages) ?? "en";
    const token = sessionTokenOf(request.headers.cookie, publicUrl().startsWith("https:"));
    const caller = token === null ? null : await byToken(token);
    if (caller === null) return { language, data: { account: null } satisfies Given, leadsElsewhere: true };
    const [account, organizations] = await Promise.all([
      answerTo(request, getAccount.path),
      answerTo(request, `${listOrganizations.path}?limit=100`),
    ]);
    const given: Given = {
      account,
      organizations,
      active_organization_id: caller.membership?.organizationId ?? null,
    };
    return { language, data: given };
  };
}
