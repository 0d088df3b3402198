import { helperRoles, helperStates } from "@assay/contract/operator";
import { isSilent, type ReportedProcess, type SeenHelper } from "./process-report.ts";

/** A process of the role `chip` or `face`, over all processes that call it. */
export type HelperStanding = SeenHelper & {
  /** Whose look this is, and when it was. */
  seenBy: string;
  seenAt: Date;
  /** How many reach it, and the names of those that do not. */
  reachedBy: number;
  unreachableFrom: readonly string[];
};

/** What the running processes see, one entry for each that they call: the latest look of somebody who reaches it, or the latest of all. Pure. */
export function helperStandings(processes: readonly ReportedProcess[], now: Date): HelperStanding[] {
  const looks = processes
    .filter((process) => !isSilent(process, now))
    .flatMap(({ name, seenAt, report }) =>
      (report?.helpers ?? [])
        // A newer release may know more of both.
        .filter(({ role, state }) => helperRoles.includes(role) && helperStates.includes(state))
        .map((seen) => ({ seen, by: name, at: seenAt })),
    );
  const byHelper = Map.groupBy(looks, ({ seen: { role, host, address } }) =>
    JSON.stringify([role, host, address]),
  );
  return [...byHelper]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, of]) => {
      const reached = of.filter(({ seen }) => seen.state !== "unreachable");
      const [told] = [...(reached.length > 0 ? reached : of)].sort((a, b) => b.at.getTime() - a.at.getTime());
      if (told === undefined) return [];
      return [
        {
          ...told.seen,
          seenBy: told.by,
          seenAt: told.at,
          reachedBy: reached.length,
          unreachableFrom: of.filter((look) => !reached.includes(look)).map(({ by }) => by),
        },
      ];
    });
}
