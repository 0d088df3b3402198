import type { OperatorConcern } from "@assay/contract/operator";
import type { AsideGroup } from "../db/set-aside.store.ts";
import type { TrustSummary } from "../trust/summarize-trust.ts";
import type { JobStanding, ReportedProcess } from "./process-report.ts";

/** How the installation fares, as far as whoever runs it may know. */
export type InstallationStatus = {
  now: Date;
  concerns: OperatorConcern[];
  health: {
    problem: string | null;
    isOverloaded: boolean;
    version: string;
    startedAt: Date;
    schemaVersion: string | null;
    databaseVersion: string;
  };
  processes: (ReportedProcess & { isSilent: boolean })[];
  jobs: (JobStanding & { setAside: number })[];
  setAside: { count: number; groups: AsideGroup[] };
  /** Null where it could not be found out just now. */
  trust: TrustSummary | null;
  webhooks: Backlog & { oldestDueAt: Date | null; endpointsDue: number; endpointsFailing: number };
  mails: Backlog & { oldestAt: Date | null };
};

type Backlog = { count: number; isCapped: boolean; setAside: number };
