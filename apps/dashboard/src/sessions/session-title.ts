import { titleTime } from "../ui/times.ts";

/** What a session is called: by the partner's reference, else by when it was created. Never by a cut identifier. */
export function sessionTitle(session: { client_reference_id: string | null; created_at: string }): string {
  return (
    session.client_reference_id ?? `Verification of ${titleTime(new Date(session.created_at), new Date())}`
  );
}
