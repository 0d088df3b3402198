import { Type } from "typebox";
import { environments } from "./facts.ts";
import type { OrganizationId } from "./ids.ts";
import { OrganizationName, Slug } from "./organizations.ts";
import { pageQuery } from "./page.ts";
import { routesOf } from "./route.ts";
import { Nullable, OneOf, open, Timestamp, UuidOf } from "./schema.ts";

const route = routesOf("Operator");

/** Counting stops here; the figure then means "at least". */
export const operatorLimits = { counted: 100_000, groups: 200, days: 30 } as const;

/** Problems that need attention, most severe first. */
export const operatorConcerns = [
  "not_ready",
  "no_worker",
  "nothing_trusted",
  "wallet_identity_missing",
  "wallet_list_over",
  "overloaded",
  "process_not_ready",
  "process_silent",
  "versions_differ",
  "jobs_failing",
  "jobs_late",
  "webhooks_wait",
  "mails_wait",
  "trust_source_failing",
  "wallet_identity_ends",
  "wallet_list_stale",
  "rows_set_aside",
] as const;
export type OperatorConcern = (typeof operatorConcerns)[number];

export const processRoles = ["api", "worker", "all"] as const;
export const jobStates = ["not_run_yet", "waiting", "running", "late", "failing"] as const;
export const revocationListStates = ["fresh", "stale", "missing"] as const;

const Count = (description: string) => Type.Integer({ minimum: 0, description });
const CappedCount = (what: string) => Count(`${what}, counted up to ${operatorLimits.counted}.`);
const Version = Type.String({ description: "Version of the service.", examples: ["0.1.0"] });
const JobName = Type.String({ description: "Name of the job.", examples: ["send-mails"] });
const When = (description: string) => Nullable({ ...Timestamp, description });

const FaceQueue = open("FaceQueue", {
  workers: Count("Judgements that this process makes at the same time (`FACE_WORKERS`)."),
  waiting: Count("Tries that wait for a worker."),
  judged: Count("Judgements since the process started."),
  faults: Count("Judgements that failed because of a fault of the service."),
  mean_seconds: Nullable(
    Type.Number({ minimum: 0, description: "Duration of a judgement, including its time in the queue." }),
  ),
  nine_of_ten_within_seconds: Nullable(
    Type.Number({
      minimum: 0,
      description: "Rounded up to one of 1, 2, 4 … 64. Null without judgements, and above 64.",
    }),
  ),
});

const Process = open("OperatorProcess", {
  name: Type.String({ description: "Process and machine.", examples: ["process 4711 on assay-1"] }),
  role: OneOf(processRoles, { description: "Whether it answers requests, does background work, or both." }),
  version: Version,
  started_at: { ...Timestamp, description: "When it was started." },
  seen_at: { ...Timestamp, description: "Its last heartbeat. Processes send one every 10 seconds." },
  is_silent: Type.Boolean({
    description: "Whether half a minute has passed without a heartbeat: it crashed or hangs.",
  }),
  problem: Nullable(
    Type.String({
      description: "Why its key ring keeps it from serving requests.",
      examples: ['The key ring has no key "2", and data in the database needs it.'],
    }),
  ),
  is_overloaded: Type.Boolean({ description: "Whether it refused requests because of overload." }),
  face: Nullable(FaceQueue),
});

const Job = open("OperatorJob", {
  name: JobName,
  state: OneOf(jobStates, {
    description:
      "`failing`: its last run failed and is repeated. `late`: it should have run a minute ago or more.",
  }),
  every_seconds: Type.Number({ minimum: 0, description: "How often it looks for work by itself." }),
  last_run_at: When("When a run last finished, in any process."),
  last_failed_at: When("When a run last failed."),
  running_since: When("Start of the current run."),
  late_seconds: Count("Seconds since it should have run."),
  set_aside: Count("Rows that it has quarantined."),
});

const SetAsideGroup = open("SetAsideGroup", {
  job: JobName,
  kind: Type.String({ description: "The table of the rows.", examples: ["mails"] }),
  reason: Type.String({
    description: "Error state or kind, and its place in the code. Never data of a row.",
    examples: ["22P02"],
  }),
  count: Type.Integer({ minimum: 1, description: "Rows with this reason." }),
  oldest_at: { ...Timestamp, description: "When the first of them was quarantined." },
  next_try_at: { ...Timestamp, description: "When the next of them is retried." },
});

const TrustState = open("TrustState", {
  version: Count("Version of what is trusted."),
  changed_at: { ...Timestamp, description: "When it last changed." },
  countries: Count("Countries with a trusted authority."),
  authorities: Count("Trusted authorities."),
  valid_authorities: Count("Those of them that are valid now."),
  revocation_lists: Type.Array(
    open("RevocationListState", {
      state: OneOf(revocationListStates, { description: "State of the newest list of a country." }),
      countries: Count("Countries whose list is in this state."),
      oldest_list_at: When("When the oldest of these lists was issued."),
    }),
    { description: "One entry for each state." },
  ),
  sources: Type.Array(
    open("TrustSourceState", {
      address: Type.String({
        description: "Without credentials and query.",
        examples: ["https://example.com/masterlist.ml"],
      }),
      edition_at: When("When the edition in use was signed."),
      succeeded_at: When("When the source was last fetched."),
      failures: Count("Failed fetches in a row."),
      problem: Nullable(
        Type.String({ description: "Why the last fetch failed.", examples: ["it answered 404"] }),
      ),
    }),
    { description: "The sources that are followed (`TRUST_SOURCES`)." },
  ),
  held_removals: Count(
    "Entries that a later edition lacks. They are removed unless the operator keeps them.",
  ),
});

export const OperatorStatus = open("OperatorStatus", {
  at: { ...Timestamp, description: "When this was measured." },
  concerns: Type.Array(OneOf(operatorConcerns), {
    description: "Problems that need attention, most severe first; empty if there are none.",
  }),
  health: open("OperatorHealth", {
    is_ready: Type.Boolean({ description: "Whether `/readyz` of the process that answered says ready." }),
    problem: Nullable(
      Type.String({ description: "Why not, in words.", examples: ["the database is read-only"] }),
    ),
    is_overloaded: Type.Boolean({ description: "Whether it refuses requests because of overload." }),
    version: Version,
    node_version: Type.String({ description: "Version of Node.", examples: ["24.0.0"] }),
    started_at: { ...Timestamp, description: "When the process that answered was started." },
    schema_version: Nullable(
      Type.String({ description: "The last migration.", examples: ["0076_operators"] }),
    ),
    database_version: Type.String({ description: "Version of PostgreSQL.", examples: ["17.2"] }),
  }),
  processes: Type.Array(Process, { description: "Processes with a heartbeat within an hour." }),
  jobs: Type.Array(Job, { description: "Background jobs, over all processes." }),
  set_aside: open("SetAsideRows", {
    count: Count("Quarantined rows."),
    groups: Type.Array(SetAsideGroup, {
      maxItems: operatorLimits.groups,
      description: "By job, table and reason, the largest first.",
    }),
  }),
  trust: Nullable(TrustState),
  webhooks: open("WebhookBacklog", {
    due: CappedCount("Deliveries that are due and not being sent"),
    is_capped: Type.Boolean({ description: "Whether there are more." }),
    oldest_due_at: When("Since when the oldest of them is due."),
    endpoints_due: Count("Endpoints with such deliveries."),
    endpoints_failing: Count("Enabled endpoints whose latest delivery failed."),
    set_aside: Count("Quarantined deliveries."),
  }),
  mails: open("MailBacklog", {
    waiting: CappedCount("Mails that are not sent yet"),
    is_capped: Type.Boolean({ description: "Whether there are more." }),
    oldest_at: When("When the oldest of them was queued, without quarantined ones."),
    set_aside: Count("Quarantined mails."),
  }),
});

export const operatorStatus = route("GET /v1/operator/status", {
  id: "operatorStatus",
  summary: "Show the state of the installation",
  description:
    "Health, processes, jobs and their quarantined rows, trust, queues. Only counts, times and texts of the service; no data of partners or people.",
  access: { operator: true },
  reply: { status: 200, data: OperatorStatus },
});

const CountByEnvironment = open("CountByEnvironment", {
  live: Count("In live."),
  sandbox: Count("In the sandbox."),
});

export const OrganizationSize = open("OrganizationSize", {
  id: UuidOf<OrganizationId>(),
  name: OrganizationName,
  slug: Slug,
  environment: OneOf(environments, { description: "`live` once live is open." }),
  members: Count("Members."),
  api_keys: CountByEnvironment,
  webhook_endpoints: CountByEnvironment,
  ended_sessions: CountByEnvironment,
  refused_requests: Count(
    "Requests with API keys in the last day that were beyond `ORGANIZATION_REQUESTS_PER_SECOND`.",
  ),
  pending_deletion_at: When("When it will be deleted, while that is scheduled."),
  created_at: Timestamp,
});

export const listOrganizationSizes = route("GET /v1/operator/organizations", {
  id: "listOrganizationSizes",
  summary: "List all organizations with their sizes",
  description: `The newest first. \`ended_sessions\` were created within the last ${operatorLimits.days} days (UTC), today included, and have ended. The service counts them with each outcome, so the cost does not depend on the number of sessions.`,
  access: { operator: true },
  query: pageQuery(UuidOf<OrganizationId>(), {}),
  reply: { status: 200, list: OrganizationSize },
});

export const operatorRoutes = route.declared;
