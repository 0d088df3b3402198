import type { Method, PageLanguage, RequirementName } from "@assay/contract/facts";
import type { AttemptId, EndpointId, OrganizationId, SessionId, TemplateId } from "@assay/contract/ids";
import {
  type AttemptFailureCode,
  type AttemptStatus,
  type countedSessions,
  type Evidence,
  type FailureCode,
  maxCounted,
  type SessionFilterStatus,
  type SessionStatus,
  sessionStatuses,
} from "@assay/contract/sessions";
import type { Static } from "typebox";
import { type AuditEntry, insertAudits } from "../../platform/audit/audit.store.ts";
import { firstRow, type Queryable, type Question, type Tx } from "../../platform/db/db.ts";
import { ownedBy } from "../../platform/db/owned-by.ts";
import { type IdRange, idsOf, newestOf, orderOf, readPage } from "../../platform/db/page.ts";
import { notQuarantined } from "../../platform/db/quarantine.store.ts";
import type { Among } from "../../platform/db/quarantine.ts";
import { noSql, type Sql, sql } from "../../platform/db/sql.ts";
import { isSandbox, type Tenant } from "../../platform/kernel/caller.ts";
import { later } from "../../platform/kernel/clock.ts";
import { idFloor, madeSoonAfter } from "../../platform/kernel/ids.ts";
import type { PageStart } from "../../platform/kernel/page.ts";
import type { Requirements } from "../evidence/kind.ts";
import type { Step } from "../evidence/kinds.ts";
import type { StageBeforeSteps } from "./day-figures.ts";
import { type PlannedStep, plan, type StepsDone } from "./plan.ts";
import {
  isOpen,
  lastExpiredCreation,
  type OpenAttempt,
  type SessionState,
  sessionLifetimeMs,
} from "./session.ts";
import type { ShareFields } from "./share-contract.ts";

export type SessionRow = {
  id: SessionId;
  organizationId: OrganizationId;
  status: SessionStatus;
  failureCode: FailureCode | null;
  unmetRequirement: RequirementName | null;
  steps: StepsDone;
  /** Null: the default methods. */
  methods: Method[] | null;
  /** For sessions that ended before `steps` existed. Dropping these columns needs a migration to `steps`. */
  nfcTriesUsed: number;
  livenessTriesUsed: number;
  contractVersion: number;
  shareFields: ShareFields;
  requirements: Requirements;
  /** Set when the session succeeds, in the same transaction; null in every other state. */
  evidence: Static<typeof Evidence> | null;
  locale: PageLanguage | null;
  redirectUrl: string | null;
  templateId: TemplateId | null;
  /** SHA-256 of what the first browser was given; null until one has opened the session. */
  returnCodeHash: Buffer | null;
  embedOrigin: string | null;
  webhookEndpointId: EndpointId | null;
  clientReferenceId: string | null;
  metadata: Record<string, string>;
  sandbox: boolean;
  expiresAt: Date;
  completedAt: Date | null;
  /** When the person's page was first sent. */
  openedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
};

export const sessionColumns = sql`id, organization_id, status, failure_code, unmet_requirement, steps, methods, nfc_tries_used, liveness_tries_used,
  contract_version, share_fields, requirements, evidence, locale, redirect_url, template_id, return_code_hash, embed_origin, webhook_endpoint_id, client_reference_id, metadata, sandbox, expires_at, completed_at,
  opened_at, created_at, updated_at`;

export type NewSession = {
  id: SessionId;
  organizationId: OrganizationId;
  methods: readonly Method[] | null;
  contractVersion: number;
  shareFields: ShareFields;
  requirements: Requirements;
  locale: PageLanguage | null;
  redirectUrl: string | null;
  templateId: TemplateId | null;
  embedOrigin: string | null;
  webhookEndpointId: EndpointId | null;
  clientReferenceId: string | null;
  metadata: Record<string, string>;
  sandbox: boolean;
  cancelTokenHash: Buffer;
  expiresAt: Date;
  now: Date;
};

/**
 * Inserts a session and its audit entry in one statement. `row` is null if the tenant has `limit` open
 * sessions, counted up to `countUpTo` in the index of the lists, or not at all with 0. The id excludes
 * expired ones without reading the row. A sandbox session with a shorter lifetime counts until the job has
 * ended it.
 */
export async function insertSession(
  db: Queryable,
  session: NewSession,
  audit: AuditEntry,
  { limit, countUpTo }: { limit: number; countUpTo: number },
): Promise<{ row: SessionRow | null; open: number }> {
  const living = (status: "created" | "in_progress") => sql`
    (select from sessions
     where organization_id = ${session.organizationId} and sandbox = ${session.sandbox} and status = ${status}
       and ${idBy.status} >= ${firstLiving("vs", session.now)}
     limit ${countUpTo})`;
  // PostgreSQL plans a count in each execution, because of its limits. Most creations do not count.
  const count =
    countUpTo === 0
      ? sql`select 0::bigint as open`
      : sql`select count(*) as open from (${living("created")} union all ${living("in_progress")}) as living`;
  const { open, ...row } = await db.one<Partial<SessionRow> & { open: number }>(sql`
    with living as (${count}),
    created as (
      insert into sessions (id, organization_id, status, methods, contract_version, share_fields, requirements, locale, redirect_url,
        template_id, embed_origin, webhook_endpoint_id, client_reference_id, metadata, sandbox, cancel_token_hash, expires_at, created_at, updated_at)
      select ${session.id}, ${session.organizationId}::uuid, 'created', ${session.methods}::text[], ${session.contractVersion}::integer,
        ${JSON.stringify(session.shareFields)}::json, ${JSON.stringify(session.requirements)}::jsonb, ${session.locale},
        ${session.redirectUrl}, ${session.templateId}, ${session.embedOrigin}, ${session.webhookEndpointId},
        ${session.clientReferenceId}, ${JSON.stringify(session.metadata)}::json, ${session.sandbox}::boolean,
        ${session.cancelTokenHash}::bytea, ${session.expiresAt}::timestamptz, ${session.now}::timestamptz, ${session.now}::timestamptz
      from living where open < ${limit}
      returning ${sessionColumns}),
    audited as (${insertAudits(session.now, [audit])} where exists (select from created))
    select created.*, open from living left join created on true`);
  return { row: isWhole(row) ? row : null, open };
}

const isWhole = (row: Partial<SessionRow>): row is SessionRow => row.id !== null;

export function findSession(db: Queryable, tenant: Tenant, id: SessionId): Promise<SessionRow | null> {
  return db.first<SessionRow>(
    sql`select ${sessionColumns} from sessions where id = ${id} and ${ownedBy(tenant)}`,
  );
}

/** For the person's pages, which have the session id and no organization. */
export function findSessionOfPerson(db: Queryable, id: SessionId): Promise<SessionRow | null> {
  return db.first<SessionRow>(sql`select ${sessionColumns} from sessions where id = ${id}`);
}

/** The stage of a session without a counted step. */
export const stageBeforeSteps = sql`case
  when exists (select from consents where consents.session_id = sessions.id) then 'agreed'
  when opened_at is not null then 'opened'
  else 'created' end`;

/** Records the first time that the page was sent. Skips a locked session: the next request records it. */
export async function markOpened(db: Queryable, id: SessionId, now: Date): Promise<void> {
  await db.run(sql`
    update sessions set opened_at = ${now}
    where id = (select id from sessions where id = ${id} and opened_at is null for update skip locked)`);
}

/** Gives the session its return code, unless it has one. Of concurrent browsers only one gets true. */
export async function putReturnCode(
  db: Queryable,
  id: SessionId,
  codeHash: Buffer,
  now: Date,
): Promise<boolean> {
  const put = await db.first(sql`
    update sessions set return_code_hash = ${codeHash}
    where id = ${id} and return_code_hash is null and status in ('created', 'in_progress') and expires_at > ${now}
    returning id`);
  return put !== null;
}

/** The latest sessions whose id has this prefix: a range of the index of the lists. */
export function findSessionsByPrefix(
  db: Queryable,
  tenant: Tenant,
  prefix: string,
  limit: number,
): Promise<SessionRow[]> {
  return db.rows<SessionRow>(sql`
    select ${sessionColumns} from sessions
    where ${ownedBy(tenant)} and ${idBy.organization} >= ${prefix} and ${idBy.organization} < ${`${prefix}~`}
    order by ${idBy.organization} desc limit ${limit}`);
}

/**
 * Matches that are sorted to find the latest. Too few: with thousands of similar references the latest is
 * missed. Too many: a search reads more rows.
 */
const maxSearchedReferences = 1_000;

/**
 * The latest sessions whose reference has this prefix. Among thousands, only the highest references are
 * sorted: most partners count upwards, and the cost stays bounded.
 */
export function sessionsOfBeginning(tenant: Tenant, beginning: string, limit: number): Sql {
  return sql`
    select * from (
      select ${sessionColumns} from sessions
      where ${ownedBy(tenant)} and ${beginsWith(beginning)}
      order by client_reference_id using ~>~ limit ${maxSearchedReferences}) found
    order by id desc limit ${limit}`;
}

export function findSessionsOfBeginning(
  db: Queryable,
  tenant: Tenant,
  beginning: string,
  limit: number,
): Promise<SessionRow[]> {
  return db.rows<SessionRow>(sessionsOfBeginning(tenant, beginning, limit));
}

type SessionFilter = PageStart<SessionId> & {
  status?: SessionFilterStatus | undefined;
  createdFrom?: Date | undefined;
  createdTo?: Date | undefined;
  clientReferenceId?: string | undefined;
  referencePrefix?: string | undefined;
  metadata?: Readonly<Record<string, string>> | undefined;
};

/**
 * Ids begin with the creation time, and no session lives longer than an hour, so every condition on time is a
 * range of ids. Each list reads a few index ranges from the newest on, so its cost does not grow with the
 * table. Sessions that are due but still stored as open are a range of the open sessions' index.
 */
export function listSessions(
  db: Queryable,
  tenant: Tenant,
  filter: SessionFilter & { limit: number },
  now: Date,
) {
  const isSearch = filter.metadata !== undefined || filter.referencePrefix !== undefined;
  return readPage<SessionRow>(db, {
    ...filter,
    cursorExists: (id) => sql`select 1 from sessions where id = ${id} and ${ownedBy(tenant)}`,
    rowsAfter: (limit) =>
      isSearch ? searchedSessions(tenant, filter, now, limit) : sessionsPage(tenant, filter, now, limit),
  });
}

/** Sessions of a period in each tab of the list, counted up to `maxCounted` in the index of that tab. */
export function countSessions(
  db: Queryable,
  tenant: Tenant,
  period: Pick<SessionFilter, "createdFrom" | "createdTo">,
  now: Date,
): Promise<Record<"all" | (typeof countedSessions)[number], number>> {
  const count = (status?: SessionFilterStatus) =>
    sql`(select count(*) from (${sessionsPage(tenant, { ...period, status }, now, maxCounted)}) counted)`;
  return db.one(sql`
    select ${count()} as "all", ${count("open")} as open, ${count("succeeded")} as succeeded,
      ${count("failed")} as failed, ${count("expired")} as expired, ${count("cancelled")} as cancelled`);
}

/** Sessions scanned before an index is used. Fewer: more searches sort. More: each reads more rows. */
const maxScannedFirst = 1_000;

/**
 * No index has the matches of a search in the order of the list. Frequent matches are found near the cursor,
 * rare ones by an index and then sorted.
 */
export function searchedSessions(tenant: Tenant, filter: SessionFilter, now: Date, limit: number): Sql[] {
  const { status, clientReferenceId, referencePrefix, metadata } = filter;
  const order = orderOf(filter);
  const { from, before } = sessionsRange(filter, now);
  const hasEntry = metadata === undefined ? noSql : sql`and ${hasMetadata(tenant, metadata)}`;
  const hasPrefix = referencePrefix === undefined ? noSql : sql`and ${beginsWith(referencePrefix)}`;
  const matches = sql`${hasEntry} ${hasPrefix}`;
  // The planner cannot estimate the matches, so `offset 0` keeps it from choosing an index.
  const found = sql`
    select ${sessionColumns} from sessions
    where ${metadata === undefined ? sql`${ownedBy(tenant)} ${hasPrefix}` : hasMetadata(tenant, metadata)} offset 0`;
  return [
    sql`select * from (${sessionsPage(tenant, filter, now, maxScannedFirst)}) as nearest
      where true ${matches} order by id ${order} limit ${limit}`,
    sql`select * from (${found}) as found
      where ${ownedBy(tenant)} ${matches} and id >= ${from} and id < ${before}
        ${clientReferenceId === undefined ? noSql : sql`and client_reference_id = ${clientReferenceId}`}
        ${status === undefined ? noSql : sql`and ${hasStatus(status, now)}`}
      order by id ${order} limit ${limit}`,
  ];
}

/** The index `sessions_metadata` includes the tenant, because many partners have the same entries. */
function hasMetadata(tenant: Tenant, metadata: Readonly<Record<string, string>>): Sql {
  const owned = JSON.stringify({ [`${tenant.organizationId}${isSandbox(tenant)}`]: metadata });
  return sql`metadata::text <> '{}'
    and jsonb_set('{}', array[organization_id::text || sandbox::text], metadata::jsonb) @> ${owned}::jsonb`;
}

/** Compares bytes, as the index `sessions_reference_beginning` does. */
function beginsWith(beginning: string): Sql {
  // No reference has a character after this one.
  const end = `${beginning}\u{10ffff}`;
  return sql`client_reference_id ~>=~ ${beginning} and client_reference_id ~<~ ${end}`;
}

function hasStatus(status: SessionFilterStatus, now: Date): Sql {
  if (status === "open") return sql`status in ('created', 'in_progress') and expires_at > ${now}`;
  if (status === "expired")
    return sql`(status = 'expired' or status in ('created', 'in_progress') and expires_at <= ${now})`;
  return isOpen(status) ? sql`status = ${status} and expires_at > ${now}` : sql`status = ${status}`;
}

/** The id with the collation of the list's index. `0010_sessions.sql` says why it is not the plain id. */
export const idBy = {
  organization: sql`id collate by_organization`,
  status: sql`id collate by_status`,
  reference: sql`id collate by_reference`,
};

/** Ids of sessions and attempts that may still be open start here. */
const firstLiving = (prefix: "vs" | "va", now: Date) => idFloor(prefix, later(lastExpiredCreation(now), 1));

function sessionsRange(filter: SessionFilter, now: Date): IdRange {
  const { from, before } = idsOf("vs", filter);
  const { status } = filter;
  const isLiving = status === "open" || (status !== undefined && isOpen(status));
  return { from: isLiving ? larger(from, firstLiving("vs", now)) : from, before };
}

function sessionsPage(tenant: Tenant, filter: SessionFilter, now: Date, limit: number): Sql {
  const { status, clientReferenceId } = filter;
  const { from, before } = sessionsRange(filter, now);
  const order = orderOf(filter);
  const key =
    clientReferenceId !== undefined ? idBy.reference : status === undefined ? idBy.organization : idBy.status;
  const rows = sql`
    select ${sessionColumns} from sessions
    where ${ownedBy(tenant)}
      ${clientReferenceId === undefined ? noSql : sql`and client_reference_id = ${clientReferenceId}`}`;
  const range = (of: Sql, end: Sql) => sql`
    ${rows} ${of} and ${key} >= ${from} and ${key} < ${end}
    order by ${key} ${order} limit ${limit}`;
  const ofStatus = (of: SessionStatus) => range(sql`and status = ${of}`, sql`${before}`);
  const ofLiving = (of: SessionStatus) => range(sql`and ${hasStatus(of, now)}`, sql`${before}`);

  if (status === "expired") {
    const due = smaller(before, firstLiving("vs", now));
    const ranges = [
      ofStatus("expired"),
      range(sql`and status = 'created'`, sql`${due}`),
      range(sql`and status = 'in_progress'`, sql`${due}`),
    ];
    if (isSandbox(tenant))
      ranges.push(sql`${rows} and ${isDueEarly(now)} and id >= ${from} and id < ${before}`);
    return newestOf(ranges, key, limit, order);
  }
  if (status === "open") return newestOf([ofLiving("created"), ofLiving("in_progress")], key, limit, order);
  if (status !== undefined) return isOpen(status) ? ofLiving(status) : ofStatus(status);
  if (clientReferenceId === undefined) return range(noSql, sql`${before}`);
  return newestOf(sessionStatuses.map(ofStatus), key, limit, order);
}

/**
 * Open sandbox sessions with a lifetime of less than an hour. The index `sessions_short_lived` has the same
 * condition and is ordered by expiry.
 */
const isShortLived = sql`status in ('created', 'in_progress') and expires_at - created_at < interval '1 hour'`;

/** Those that are due and not in the range of ids before `firstLiving`. */
function isDueEarly(now: Date): Sql {
  return sql`${isShortLived} and expires_at <= ${now} and id >= ${firstLiving("vs", now)}`;
}

function larger(a: string, b: string): string {
  return a > b ? a : b;
}

function smaller(a: string, b: string): string {
  return a < b ? a : b;
}

// --- moves -------------------------------------------------------------------------------------------------

/** The session, locked against every other change until the transaction ends. */
export function heldSession(tenant: Tenant, id: SessionId): Question<SessionRow | null> {
  return firstRow<SessionRow>(sql`
    select ${sessionColumns} from sessions
    where id = ${id} and ${ownedBy(tenant)}
    for update`);
}

/** The same for the person, whose request has the session id and no organization. */
export function heldSessionOfPerson(id: SessionId): Question<SessionRow | null> {
  return firstRow<SessionRow>(sql`select ${sessionColumns} from sessions where id = ${id} for update`);
}

export async function lockSessionOfPerson(tx: Tx, id: SessionId): Promise<SessionRow | null> {
  const [session] = await tx.ask(heldSessionOfPerson(id));
  return session;
}

export function stateOf(row: SessionRow): SessionState {
  return { status: row.status, expiresAt: row.expiresAt, plan: plan(row) };
}

/** A conditional update (compare and set): changes nothing if the status is no longer `from`. */
type Move = {
  from: SessionStatus;
  to: SessionStatus;
  failureCode?: FailureCode | null;
  unmetRequirement?: RequirementName | null;
  /** If undefined or null, the value of an earlier status is removed. */
  evidence?: SessionRow["evidence"];
  completedAt: Date | null;
  /** If undefined, the stored steps stay. */
  steps?: StepsDone;
  now: Date;
};

/** The statement that moves a session. */
export function sessionMove(id: SessionId, move: Move): Sql {
  return sql`
    update sessions set status = ${move.to}, failure_code = ${move.failureCode ?? null},
      unmet_requirement = ${move.unmetRequirement ?? null},
      evidence = ${move.evidence == null ? null : JSON.stringify(move.evidence)},
      completed_at = ${move.completedAt}, updated_at = ${move.now}
      ${move.steps === undefined ? noSql : sql`, steps = ${JSON.stringify(move.steps)}`}
    where id = ${id} and status = ${move.from}`;
}

/** The row with this try counted. The first pass stays: repeating a passed step uses up no try. */
export function withTryCounted(
  session: SessionRow,
  { step, number, passed }: { step: Step; number: number; passed: boolean },
  now: Date,
): SessionRow {
  const passedAt = session.steps[step]?.passed_at ?? (passed ? now.toISOString() : undefined);
  const done = { tries: number, ...(passedAt === undefined ? {} : { passed_at: passedAt }) };
  return { ...session, steps: { ...session.steps, [step]: done } };
}

/** Writes the counted try of a session that stays open. */
export function writeSteps(tx: Tx, { id, steps }: Pick<SessionRow, "id" | "steps">, now: Date): void {
  tx.write(sql`update sessions set steps = ${JSON.stringify(steps)}, updated_at = ${now} where id = ${id}`);
}

/** The token may be used once. Null if it is not the session's; `first` is true for its first use. */
export async function spendCancelToken(
  tx: Tx,
  id: SessionId,
  tokenHash: Buffer,
  now: Date,
): Promise<{ first: boolean } | null> {
  const found = await tx.first<{ cancelTokenUsedAt: Date | null }>(sql`
    select cancel_token_used_at from sessions where id = ${id} and cancel_token_hash = ${tokenHash} for update`);
  if (found === null) return null;
  if (found.cancelTokenUsedAt !== null) return { first: false };
  await tx.run(sql`update sessions set cancel_token_used_at = ${now} where id = ${id}`);
  return { first: true };
}

// --- attempts ----------------------------------------------------------------------------------------------

export type VerificationAttemptRow = {
  id: AttemptId;
  sessionId: SessionId;
  status: AttemptStatus;
  failureCode: AttemptFailureCode | null;
  riskScore: number;
  sessionExpiresAt: Date;
  completedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
};

const attemptColumns = sql`id, session_id, status, failure_code, risk_score, session_expires_at, completed_at,
  created_at, updated_at`;

/** Matches the attempts of a session, which begin within its hour. `of`: table alias with its dot. */
export function ofSession(sessionId: SessionId, of: Sql = noSql): Sql {
  const { from, to } = madeSoonAfter("va", sessionId, sessionLifetimeMs);
  return sql`${of}session_id = ${sessionId} and ${of}id >= ${from} and ${of}id < ${to}`;
}

/** The attempt in progress, locked. Always read in a statement after the one that locks the session. */
export function heldOpenAttempt(sessionId: SessionId): Question<OpenAttempt | null> {
  return firstRow<OpenAttempt>(sql`
    select id, device_hash, last_seen_at from attempts
    where ${ofSession(sessionId)} and status = 'in_progress' for update`);
}

export async function lockOpenAttempt(tx: Tx, sessionId: SessionId): Promise<OpenAttempt | null> {
  const [attempt] = await tx.ask(heldOpenAttempt(sessionId));
  return attempt;
}

export function insertAttempt(
  tx: Tx,
  attempt: {
    id: AttemptId;
    sessionId: SessionId;
    organizationId: OrganizationId;
    sandbox: boolean;
    /** Null for an attempt that the page itself makes. */
    deviceHash: Buffer | null;
    sessionExpiresAt: Date;
    now: Date;
  },
): void {
  tx.write(sql`
    insert into attempts (id, session_id, organization_id, sandbox, status, device_hash, last_seen_at, session_expires_at,
      created_at, updated_at)
    values (${attempt.id}, ${attempt.sessionId}, ${attempt.organizationId}, ${attempt.sandbox}, 'in_progress', ${attempt.deviceHash},
      ${attempt.now}, ${attempt.sessionExpiresAt}, ${attempt.now}, ${attempt.now})`);
}

type AttemptEnd = {
  status: Exclude<AttemptStatus, "in_progress">;
  failureCode: AttemptFailureCode | null;
  /** Null keeps the score. */
  riskScore: number | null;
  now: Date;
};

/** The statement that ends the open attempt of a session. */
export function openAttemptEnd(sessionId: SessionId, end: AttemptEnd): Sql {
  return sql`
    update attempts set status = ${end.status}, failure_code = ${end.failureCode},
      risk_score = coalesce(${end.riskScore}, risk_score), completed_at = ${end.now}, updated_at = ${end.now}
    where ${ofSession(sessionId)} and status = 'in_progress'`;
}

/**
 * The device has answered: the session cannot be cancelled for another minute. False if the attempt is over.
 * No index contains `last_seen_at`, so this update is cheap.
 */
export async function touchAttempt(db: Queryable, attemptId: AttemptId, now: Date): Promise<boolean> {
  const touched = await db.run(sql`
    update attempts set last_seen_at = greatest(last_seen_at, ${now})
    where id = ${attemptId} and status = 'in_progress' and session_expires_at > ${now}`);
  return touched === 1;
}

/** Stores a verdict that leaves the attempt open. The reason of a refusal is deleted with the session. */
export function setVerdict(
  tx: Tx,
  attemptId: AttemptId,
  verdict: {
    step: Pick<PlannedStep, "forgivesChallenges">;
    riskScore: number;
    failureCode: FailureCode | null;
    unmetRequirement: RequirementName | null;
  },
  now: Date,
): void {
  tx.write(sql`
    with stored as (
      update attempt_sockets set failure_code = ${verdict.failureCode}, unmet_requirement = ${verdict.unmetRequirement}
        ${verdict.step.forgivesChallenges ? sql`, unanswered_challenges = 0` : noSql}
      where attempt_id = ${attemptId})
    update attempts set risk_score = ${verdict.riskScore}, updated_at = ${now}
    where id = ${attemptId} and status = 'in_progress'`);
}

type AttemptFilter = PageStart<AttemptId> & {
  sessionId: SessionId | undefined;
  status: AttemptStatus | undefined;
  limit: number;
};

export function listAttempts(db: Queryable, tenant: Tenant, filter: AttemptFilter, now: Date) {
  return readPage<VerificationAttemptRow>(db, {
    ...filter,
    cursorExists: (id) => sql`select 1 from attempts where id = ${id} and ${ownedBy(tenant)}`,
    rowsAfter: (limit) => attemptsPage(tenant, filter, now, limit),
  });
}

/**
 * An attempt is never older than its session. So attempts of living sessions are a range of ids too, and
 * those of one session a short range.
 */
function attemptsRange(filter: AttemptFilter, now: Date): IdRange {
  const { sessionId, status } = filter;
  const all = idsOf("va", filter);
  const from = status === "in_progress" ? larger(all.from, firstLiving("va", now)) : all.from;
  if (sessionId === undefined) return { from, before: all.before };
  const own = madeSoonAfter("va", sessionId, sessionLifetimeMs);
  return { from: larger(own.from, from), before: smaller(own.to, all.before) };
}

function attemptsPage(tenant: Tenant, filter: AttemptFilter, now: Date, limit: number): Sql {
  const { sessionId, status } = filter;
  const { from, before } = attemptsRange(filter, now);
  const order = orderOf(filter);
  // A session has few attempts: find, then sort them. By an indexed order the planner might scan all.
  const key =
    sessionId !== undefined
      ? sql`id collate by_session`
      : status === undefined
        ? idBy.organization
        : idBy.status;
  const rows = sql`
    select ${attemptColumns} from attempts
    where ${ownedBy(tenant)}
      ${sessionId === undefined ? noSql : sql`and session_id = ${sessionId}`}`;
  const bounded = sessionId === undefined ? key : sql`id`;
  const newest = (condition: Sql) => sql`
    ${rows} ${condition} and ${bounded} >= ${from} and ${bounded} < ${before}
    order by ${key} ${order} limit ${limit}`;
  switch (status) {
    case undefined:
      return newest(sql``);
    case "in_progress":
      return newest(sql`and status = 'in_progress' and session_expires_at > ${now}`);
    case "failed": {
      // Few attempts are due, and their expiry finds them. So they are not ordered, and the bound on their
      // ids uses no index but the primary key.
      const due = sql`${rows} and status = 'in_progress' and session_expires_at <= ${now} and id >= ${from} and id < ${before}`;
      return newestOf([newest(sql`and status = 'failed'`), due], key, limit, order);
    }
    default:
      return newest(sql`and status = ${status}`);
  }
}

// --- expiry and retention ----------------------------------------------------------------------------------

export type ExpiredSession = Pick<
  SessionRow,
  | "id"
  | "organizationId"
  | "status"
  | "sandbox"
  | "contractVersion"
  | "clientReferenceId"
  | "webhookEndpointId"
  | "steps"
  | "nfcTriesUsed"
  | "livenessTriesUsed"
  | "returnCodeHash"
  | "redirectUrl"
  | "createdAt"
> & { stageBeforeSteps: StageBeforeSteps };

/** The next due sessions, oldest first. Those that another process holds are skipped. */
export async function takeDueSessions(db: Queryable, now: Date, among: Among): Promise<ExpiredSession[]> {
  const ofAge = sql`status in ('created', 'in_progress') and id < ${firstLiving("vs", now)} and expires_at <= ${now}`;
  const due = await db.rows<ExpiredSession>(dueSessions(ofAge, among));
  if (due.length >= among.limit) return due;
  const early = { ...among, limit: among.limit - due.length };
  return [...due, ...(await db.rows<ExpiredSession>(dueSessions(isDueEarly(now), early)))];
}

function dueSessions(condition: Sql, among: Among): Sql {
  return sql`
    select id, organization_id, status, sandbox, contract_version, client_reference_id, webhook_endpoint_id,
      steps, nfc_tries_used, liveness_tries_used, return_code_hash, redirect_url, created_at, ${stageBeforeSteps} as stage_before_steps
    from sessions
    where ${condition} and id > ${among.after} and ${among.where(sql`id`, "text")}
    order by id limit ${among.limit} ${among.lock}`;
}

/** When the next open session expires. In the past if the job has not run since. */
export async function findNextExpiry(db: Queryable): Promise<Date | null> {
  const { expiresAt } = await db.one<{ expiresAt: Date | null }>(sql`
    select least(
      (select expires_at from sessions where status in ('created', 'in_progress') order by id limit 1),
      (select expires_at from sessions where ${isShortLived} order by expires_at limit 1)) as expires_at`);
  return expiresAt;
}

/** Expiry of the oldest session whose expiry is not published, without what `job` has quarantined. */
export function oldestDueSession(job: string, now: Date): Sql {
  const waiting = notQuarantined(job, "sessions", sql`id`, "text", now);
  return sql`
    select least(
      (select expires_at from sessions
       where status in ('created', 'in_progress') and id < ${firstLiving("vs", now)}
         and expires_at <= ${now} and ${waiting}
       order by id limit 1),
      (select expires_at from sessions where ${isDueEarly(now)} and ${waiting} order by expires_at limit 1)) as expires_at`;
}

/**
 * Stores the expiry of locked sessions and of their attempts. All times are those of the expiry, not of the
 * job, so nothing changes for readers.
 */
export async function expireSessionRows(tx: Tx, sessions: readonly ExpiredSession[]): Promise<void> {
  await tx.run(sql`
    update sessions set status = 'expired', completed_at = expires_at, updated_at = expires_at
    where id = any(${sessions.map((session) => session.id)}::text[])`);
  const begun = sessions.filter((session) => session.status === "in_progress").map((session) => session.id);
  if (begun.length > 0) {
    await tx.run(sql`
      update attempts set status = 'failed', failure_code = 'session_expired', completed_at = session_expires_at,
        updated_at = session_expires_at
      where session_id = any(${begun}::text[]) and status = 'in_progress'`);
  }
}

/** The next sessions that ended before `endedBefore`. */
export function takeEndedSessions(
  db: Queryable,
  endedBefore: Date,
  among: Among,
): Promise<{ id: SessionId; organizationId: OrganizationId }[]> {
  // Nothing ends before it was created, so the oldest ends have the lowest ids.
  return db.rows<{ id: SessionId; organizationId: OrganizationId }>(sql`
    select id, organization_id from sessions
    where id > ${among.after} and id < ${idFloor("vs", endedBefore)} and completed_at < ${endedBefore}
      and ${among.where(sql`id`, "text")}
    order by id limit ${among.limit} ${among.lock}`);
}

export async function deleteSessionsWithAttempts(tx: Tx, ids: readonly SessionId[]): Promise<void> {
  await tx.run(sql`delete from sessions where id = any(${ids}::text[])`);
  await tx.run(sql`delete from attempts where session_id = any(${ids}::text[])`);
}

type OldAttempt = { id: AttemptId; sessionId: SessionId; organizationId: OrganizationId };

/** The next attempts that ended before `endedBefore` and still hold more than their outcome. */
export function takeOldAttempts(db: Queryable, endedBefore: Date, among: Among): Promise<OldAttempt[]> {
  return db.rows<OldAttempt>(sql`
    select id, session_id, organization_id from attempts
    where minimised_at is null and id > ${among.after} and id < ${idFloor("va", endedBefore)}
      and completed_at < ${endedBefore} and ${among.where(sql`id`, "text")}
    order by id limit ${among.limit} ${among.lock}`);
}

/** Removes everything from the attempts that is not their outcome. */
export async function minimiseAttempts(tx: Tx, ids: readonly AttemptId[], now: Date): Promise<void> {
  await tx.run(sql`
    update attempts set device_hash = null, last_seen_at = null, minimised_at = ${now}
    where id = any(${ids}::text[])`);
}

/**
 * The backlog of each job, counted up to `cap` so that the query stays cheap. Leaves out what ended in the
 * last hour of its retention: finding it would read everything created in that hour.
 */
export async function countBacklog(
  db: Queryable,
  at: { now: Date; sessionsEndedBefore: Date; attemptsEndedBefore: Date },
  cap: number,
): Promise<{ due: number; purge: number; minimise: number }> {
  return db.one<{ due: number; purge: number; minimise: number }>(sql`
    select
      (select count(*) from (select from sessions where status in ('created', 'in_progress')
        and id < ${firstLiving("vs", at.now)} order by id limit ${cap}) as t)
        + (select count(*) from (select from sessions where ${isDueEarly(at.now)} limit ${cap}) as t) as due,
      (select count(*) from (select from sessions
        where id < ${idFloor("vs", lastExpiredCreation(at.sessionsEndedBefore))}
          and completed_at < ${at.sessionsEndedBefore} order by id limit ${cap}) as t) as purge,
      (select count(*) from (select from attempts where minimised_at is null
        and id < ${idFloor("va", lastExpiredCreation(at.attemptsEndedBefore))}
        and completed_at < ${at.attemptsEndedBefore} order by id limit ${cap}) as t) as minimise`);
}
