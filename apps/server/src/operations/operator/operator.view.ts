import type { OperatorStatus, OrganizationSize } from "@assay/contract/operator";
import type { Static } from "typebox";
import { secondMs } from "../../platform/kernel/clock.ts";
import type { OrganizationSizeRow } from "./installation.store.ts";
import type { FaceFigures } from "./process-report.ts";
import type { InstallationStatus } from "./read-status.ts";

type Status = Static<typeof OperatorStatus>;

const textOf = (at: Date | null) => at?.toISOString() ?? null;

export function viewInstallationStatus(status: InstallationStatus): Status {
  const { now, concerns, health, webhooks } = status;
  const { processes, jobs, quarantined, mails } = status.work;
  return {
    at: now.toISOString(),
    concerns,
    health: {
      is_ready: health.problem === null,
      problem: health.problem,
      is_overloaded: health.isOverloaded,
      version: health.version,
      node_version: process.versions.node,
      started_at: health.startedAt.toISOString(),
      schema_version: health.schemaVersion?.replace(/\.sql$/, "") ?? null,
      database_version: health.databaseVersion,
    },
    processes: processes.map(({ name, role, version, startedAt, seenAt, isSilent, report }) => ({
      name,
      role,
      version,
      started_at: startedAt.toISOString(),
      seen_at: seenAt.toISOString(),
      is_silent: isSilent,
      problem: report?.problem ?? null,
      is_overloaded: report?.isOverloaded ?? false,
      face: viewFace(report?.face ?? null),
    })),
    jobs: jobs.map((job) => ({
      name: job.name,
      state: job.state,
      every_seconds: job.everyMs / secondMs,
      last_run_at: textOf(job.lastEndedAt),
      last_failed_at: textOf(job.lastFailedAt),
      running_since: textOf(job.runningSince),
      late_seconds: job.lateSeconds,
      set_aside: job.quarantined,
    })),
    set_aside: {
      count: quarantined.count,
      groups: quarantined.groups.map(({ oldestAt, nextTryAt, ...group }) => ({
        ...group,
        oldest_at: oldestAt.toISOString(),
        next_try_at: nextTryAt.toISOString(),
      })),
    },
    trust: viewTrust(status),
    webhooks: {
      due: webhooks.count,
      is_capped: webhooks.isCapped,
      oldest_due_at: textOf(webhooks.oldestDueAt),
      endpoints_due: webhooks.endpointsDue,
      endpoints_failing: webhooks.endpointsFailing,
      set_aside: webhooks.quarantined,
    },
    mails: {
      waiting: mails.count,
      is_capped: mails.isCapped,
      oldest_at: textOf(mails.oldestAt),
      set_aside: mails.quarantined,
    },
  };
}

function viewFace(face: FaceFigures | null): Status["processes"][number]["face"] {
  if (face === null) return null;
  const { workers, waiting, judged, faults, meanSeconds, nineOfTenWithinSeconds } = face;
  return {
    workers,
    waiting,
    judged,
    faults,
    mean_seconds: meanSeconds,
    nine_of_ten_within_seconds: nineOfTenWithinSeconds,
  };
}

function viewTrust({ trust }: InstallationStatus): Status["trust"] {
  if (trust === null) return null;
  return {
    version: trust.version,
    changed_at: trust.changedAt.toISOString(),
    countries: trust.countries,
    authorities: trust.authorities,
    valid_authorities: trust.validAuthorities,
    revocation_lists: trust.revocationLists.map(({ state, countries, oldestListAt }) => ({
      state,
      countries,
      oldest_list_at: textOf(oldestListAt),
    })),
    sources: trust.sources.map(({ address, editionAt, succeededAt, failures, problem }) => ({
      address,
      edition_at: textOf(editionAt),
      succeeded_at: textOf(succeededAt),
      failures,
      problem,
    })),
    held_removals: trust.heldRemovals,
  };
}

export function viewOrganizationSize(row: OrganizationSizeRow): Static<typeof OrganizationSize> {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    environment: row.environment,
    members: row.members,
    api_keys: { live: row.liveKeys, sandbox: row.sandboxKeys },
    webhook_endpoints: { live: row.liveEndpoints, sandbox: row.sandboxEndpoints },
    ended_sessions: { live: row.liveSessions, sandbox: row.sandboxSessions },
    refused_requests: row.refusedRequests,
    pending_deletion_at: textOf(row.pendingDeletionAt),
    created_at: row.createdAt.toISOString(),
  };
}
