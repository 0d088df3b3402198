import { idLengths } from "@assay/contract/facts";
import type { SessionId } from "@assay/contract/ids";
import type { Queryable } from "../../platform/db/db.ts";
import { knownId } from "../../platform/kernel/ids.ts";
import { embedOriginProblem, parseEmbedOrigin } from "../sessions/embed-origin.ts";
import { findSessionOfPerson, type SessionRow } from "../sessions/session.store.ts";

const sessionIdPattern = new RegExp(`^vs_[A-Za-z0-9]{${idLengths.vs}}$`);

/**
 * The origin that may frame this session's page. Checked on every request: the organization may have lost the
 * domain since, and its new owner must not frame the page.
 */
export async function frameAncestorOf(
  db: Queryable,
  session: Pick<SessionRow, "organizationId" | "sandbox" | "embedOrigin">,
): Promise<string | null> {
  if (session.embedOrigin === null) return null;
  const parsed = parseEmbedOrigin(session.embedOrigin);
  if ("problem" in parsed) return null;
  const asked = { organizationId: session.organizationId, sandbox: session.sandbox };
  const problem = await embedOriginProblem(db, asked, parsed.origin);
  return problem === null ? parsed.origin.origin : null;
}

/** The same for the page at `/verify/TEXT`, for any text. */
export async function findFrameAncestor(db: Queryable, text: string): Promise<string | null> {
  if (!sessionIdPattern.test(text)) return null;
  const session = await findSessionOfPerson(db, knownId<SessionId>(text));
  return session === null ? null : frameAncestorOf(db, session);
}
