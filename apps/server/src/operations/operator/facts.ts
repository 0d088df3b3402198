import type { Found } from "@assay/cli/checks";
import type { Migration } from "../../platform/db/migrate.ts";
import type { Pooler } from "../../platform/db/pooler.ts";
import type { QuarantineGroup } from "../../platform/db/quarantine.store.ts";
import type { AppliedMigration } from "../../platform/db/schema-version.ts";
import type { TrustSummary } from "../../verification/trust/summarize-trust.ts";
import type { WalletSummary } from "../../verification/wallet-identity/summarize-wallet.ts";
import type { JobSummary, ReportedProcess } from "./process-report.ts";

type Backlog = { count: number; isCapped: boolean; quarantined: number };

/** What the database records about finished and waiting work. */
export type Work = {
  /** Whether a process has ever run on this database. */
  hasRun: boolean;
  processes: readonly (ReportedProcess & { isSilent: boolean })[];
  jobs: readonly (JobSummary & { quarantined: number })[];
  quarantined: { count: number; groups: readonly QuarantineGroup[] };
  mails: Backlog & { oldestAt: Date | null };
};

type Webhooks = Backlog & {
  oldestDueAt: Date | null;
  /** Without endpoints that currently fail: their deliveries wait for a retry. */
  oldestSendableAt: Date | null;
  endpointsDue: number;
  endpointsFailing: number;
};

/**
 * The known state of an installation, by subject. The doctor reads most of it, the operator's page the part
 * that a running process knows.
 */
export type Facts = {
  /** Why this process should get no requests. */
  self: { problem: string | null };
  configuration: { problem: string | null };
  node: { version: string };
  /** Modes are null if the folder, or the key ring in it, does not exist. */
  folder: { path: string; mode: number | null; isWritable: boolean; ringMode: number | null };
  disk: { free: number; size: number };
  /** Null if the system reports no limit. */
  openFiles: { limit: number | "unlimited" | null };
  publicAddress: {
    /** PUBLIC_URL, empty if unset, and the address that was checked. */
    url: string;
    base: string;
    answer: "ours" | "foreign" | "untrusted" | "unknown_name" | "none" | "not_asked";
    /** The status or error code of an answer that is not from this service. */
    detail: string;
    certificate: Found | null;
  };
  mail:
    | { kind: "files"; folder: string }
    | { kind: "refused"; host: string; code: string; message: string }
    | { kind: "answers"; host: string; certificate: Found | null };
  readingDevices: { apps: readonly string[]; desks: boolean };
  dns: { resolvers: number; silent: readonly string[] };
  attestation: { revokedFile: string };
  face: { failure: string | null; hasNetwork: boolean };
  database:
    | { kind: "unreadable"; problem: string }
    | { kind: "empty"; earlierUse: readonly string[] }
    | { kind: "answers"; version: string; takesWrites: boolean };
  /**
   * The pooler behind DATABASE_URL, whether it keeps the prepared statements of its clients apart, and the
   * pooler behind DATABASE_DIRECT_URL.
   */
  pooler: {
    pooler: Pooler;
    supportsPreparedStatements: boolean;
    direct: Pooler | null;
    preparedStatements: "named" | "off";
  };
  schema: {
    known: readonly Migration[];
    /** Null in an empty database. */
    applied: readonly (AppliedMigration & { checksum: string })[] | null;
    earlierUse: readonly string[];
  };
  clock: { skewMs: number };
  keyRing: { isLoaded: boolean; knownKeys: number; mismatches: readonly string[] };
  mailFiles: { smtpUrl: string; machines: readonly string[] };
  trust: TrustSummary;
  wallet: WalletSummary;
  work: Work;
  webhooks: Webhooks;
  backup: { lastAt: Date | null; isEmbedded: boolean };
};
