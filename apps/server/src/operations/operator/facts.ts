import type { Found } from "@assay/cli/checks";
import type { Migration } from "../../platform/db/migrate.ts";
import type { Pooler } from "../../platform/db/pooler.ts";
import type { AppliedMigration } from "../../platform/db/schema-version.ts";
import type { AsideGroup } from "../../platform/db/set-aside.store.ts";
import type { TrustSummary } from "../../verification/trust/summarize-trust.ts";
import type { WalletSummary } from "../../verification/wallet-identity/summarize-wallet.ts";
import type { JobStanding, ReportedProcess } from "./process-report.ts";

type Backlog = { count: number; isCapped: boolean; setAside: number };

/** What the tables say about the work that is done and that waits. */
export type Work = {
  /** Whether a process has ever run on this database. */
  hasRun: boolean;
  processes: readonly (ReportedProcess & { isSilent: boolean })[];
  jobs: readonly (JobStanding & { setAside: number })[];
  setAside: { count: number; groups: readonly AsideGroup[] };
  mails: Backlog & { oldestAt: Date | null };
};

type Webhooks = Backlog & {
  oldestDueAt: Date | null;
  /** Without endpoints that fail now, whose deliveries wait for them. */
  oldestSendableAt: Date | null;
  endpointsDue: number;
  endpointsFailing: number;
};

/** What is known of an installation, by what it is about. The doctor looks at most of it, the operator's page at what a running process knows. */
export type Facts = {
  /** Why the process that looks should get no requests. */
  self: { problem: string | null };
  /** What is wrong with the settings. */
  configuration: { problem: string | null };
  node: { version: string };
  /** Permissions are null where there is no folder, or no key ring in it. */
  folder: { path: string; mode: number | null; isWritable: boolean; ringMode: number | null };
  disk: { free: number; size: number };
  /** Null where the system does not name a limit. */
  openFiles: { limit: number | "unlimited" | null };
  publicAddress: {
    /** PUBLIC_URL, empty where it is not set, and where the service was looked for. */
    url: string;
    base: string;
    answer: "ours" | "foreign" | "untrusted" | "unknown_name" | "none" | "not_asked";
    /** The status or the code of an answer that is not ours. */
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
    | { kind: "empty"; earlierLife: readonly string[] }
    | { kind: "answers"; version: string; takesWrites: boolean };
  /** What DATABASE_URL leads through, whether each client has names of its own for statements, and what DATABASE_DIRECT_URL leads through. */
  pooler: {
    pooler: Pooler;
    namesApart: boolean;
    direct: Pooler | null;
    preparedStatements: "named" | "off";
  };
  schema: {
    known: readonly Migration[];
    /** Null in an empty database. */
    applied: readonly (AppliedMigration & { checksum: string })[] | null;
    earlierLife: readonly string[];
  };
  clock: { skewMs: number };
  keyRing: { isLoaded: boolean; knownKeys: number; misfits: readonly string[] };
  mailFiles: { smtpUrl: string; machines: readonly string[] };
  trust: TrustSummary;
  wallet: WalletSummary;
  work: Work;
  webhooks: Webhooks;
  backup: { lastAt: Date | null; isEmbedded: boolean };
};
