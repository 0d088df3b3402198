import { t } from "../i18n/words.ts";
import { titleTime } from "../ui/times.ts";

/** A session's title: the partner's reference, else its creation time. Never a shortened identifier. */
export function sessionTitle(session: { client_reference_id: string | null; created_at: string }): string {
  const { client_reference_id: reference, created_at: created } = session;
  return reference ?? t.sessions.titleByTime(titleTime(new Date(created), new Date()));
}
