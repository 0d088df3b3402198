import type { ChallengeId, DomainId } from "@assay/contract/ids";
import { shownDomain } from "@assay/contract/shown-domain";
import { recordAct, recordAudit, systemActor } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { MemberCaller } from "../../platform/kernel/caller.ts";
import { later } from "../../platform/kernel/clock.ts";
import { hashToken, newToken, newUuid } from "../../platform/kernel/ids.ts";
import { DnsError } from "../../platform/lib/dns.ts";
import type { NameLookups } from "../../platform/lib/name-lookups.ts";
import { countOfDay } from "../accounts/limit-guesses.ts";
import { mailOwners } from "../organizations/mail-owners.ts";
import { lockOrganization } from "../organizations/organization.store.ts";
import { findApex } from "./apex.ts";
import {
  countOtherChallenges,
  deleteDomain,
  findChallenge,
  findHolder,
  type HolderRow,
  insertChallenge,
  insertDomain,
  lockApex,
  renewDomain,
  spendChallenge,
} from "./domain.store.ts";
import {
  challengeLifetimeMs,
  describeFound,
  provesToken,
  recheckEveryMs,
  recordName,
  recordValue,
} from "./domain.ts";

/** Maximum number of domains with an open challenge per organization. */
const maxOpenChallenges = 20;
/** Maximum number of challenges that a person may start in a day, across organizations. */
const maxChallengesPerDay = 50;

/**
 * A challenge reveals the holder of a domain. Without a limit, a caller could list the customers of the
 * service by trying names.
 */
async function countChallenge(
  core: Pick<Core, "clock" | "ring">,
  tx: Tx,
  caller: MemberCaller,
  apexDomain: string,
  now: Date,
) {
  await lockOrganization(tx, caller.organizationId);
  const others = await countOtherChallenges(tx, caller.organizationId, apexDomain, now);
  if (others >= maxOpenChallenges)
    throw new ApiError("DOMAIN_CHALLENGE_LIMIT_REACHED", {
      hint: `An organization may have open challenges for ${maxOpenChallenges} domains. Publish the records of the open ones, or wait until some expire, 7 days after their start.`,
    });
  const refusal = await countOfDay(core, tx, [
    { what: ["domain challenges by", caller.userId], limit: maxChallengesPerDay },
  ]);
  if (refusal !== null)
    throw new ApiError("DOMAIN_CHALLENGE_LIMIT_REACHED", {
      message: "You have started too many domain challenges today.",
      hint: `A person may start ${maxChallengesPerDay} a day, in all their organizations together. Try again tomorrow (UTC).`,
    });
}

export async function startChallenge(
  core: Pick<Core, "db" | "clock" | "ring">,
  caller: MemberCaller,
  name: string,
) {
  const { db, clock } = core;
  const now = clock.now();
  const { organizationId } = caller;
  const apex = findApex(name);
  if (apex === null) throw new ApiError("APEX_INVALID");
  const id = newUuid<ChallengeId>(now);
  const token = newToken();
  const expiresAt = later(now, challengeLifetimeMs);
  const holder = await db.transaction(async (tx) => {
    await countChallenge(core, tx, caller, apex.ascii, now);
    await insertChallenge(tx, {
      id,
      organizationId,
      apexDomain: apex.ascii,
      tokenHash: hashToken(token),
      recordValue: recordValue(token),
      expiresAt,
      now,
    });
    await recordAct(tx, now, caller, {
      event: "domain.challenge_started",
      targetId: id,
      details: { apex_domain: apex.ascii },
    });
    return findHolder(tx, apex.ascii);
  });
  const conflicts = holder !== null && holder.organizationId !== organizationId;
  return {
    challenge_id: id,
    apex_domain: apex.ascii,
    apex_domain_unicode: apex.unicode,
    record_name: recordName(apex.ascii),
    record_value: recordValue(token),
    expires_at: expiresAt.toISOString(),
    conflict: conflicts ? { organization_name: holder.organizationName } : null,
  };
}

export async function verifyDomain(
  core: Core,
  lookups: NameLookups,
  caller: MemberCaller,
  request: { challengeId: ChallengeId; acknowledgeTakeover: boolean },
) {
  const { db, clock } = core;
  const { organizationId } = caller;
  const challenge = await findChallenge(db, organizationId, request.challengeId);
  if (challenge === null) throw new ApiError("CHALLENGE_NOT_FOUND");
  if (challenge.expiresAt <= clock.now()) throw new ApiError("CHALLENGE_EXPIRED");
  const { apexDomain, tokenHash, recordValue: published } = challenge;
  const proof = { tokenHash, recordValue: published };

  const name = recordName(apexDomain);
  const values = await lookups.run(() => lookUp(core, name));
  if (!provesToken(values, tokenHash)) {
    throw new ApiError("DNS_NOT_PROPAGATED", {
      hint: `${describeFound(name, values)} A new record can take from minutes to a day to become visible; try again then.`,
    });
  }

  const now = clock.now();
  const nextCheckAt = later(now, recheckEveryMs);
  return db.transaction(async (tx) => {
    await lockApex(tx, apexDomain);
    const holder = await findHolder(tx, apexDomain);
    const loser = holder !== null && holder.organizationId !== organizationId ? holder : null;
    if (loser !== null && !request.acknowledgeTakeover) {
      throw new ApiError("APEX_TAKEOVER_REQUIRED", {
        message: `${shownDomain(apexDomain)} is held by the organization "${loser.organizationName}".`,
      });
    }
    if (!(await spendChallenge(tx, organizationId, challenge))) throw new ApiError("CHALLENGE_NOT_FOUND");
    if (loser !== null) await takeFrom(core, tx, loser, now);
    let domainId = newUuid<DomainId>(now);
    if (holder !== null && loser === null) {
      domainId = holder.id;
      await renewDomain(tx, organizationId, holder.id, { ...proof, now, nextCheckAt });
    } else {
      await insertDomain(tx, { id: domainId, organizationId, apexDomain, ...proof, now, nextCheckAt });
    }
    await recordAct(tx, now, caller, {
      event: "domain.verified",
      targetId: domainId,
      details: { apex_domain: apexDomain, takeover: loser !== null },
    });
    return {
      domain_id: domainId,
      apex_domain: apexDomain,
      apex_domain_unicode: shownDomain(apexDomain),
      takeover_from:
        loser === null
          ? null
          : { organization_id: loser.organizationId, organization_name: loser.organizationName },
    };
  });
}

async function lookUp({ dns }: Pick<Core, "dns">, name: string): Promise<string[]> {
  try {
    return await dns.resolveTxt(name);
  } catch (error) {
    if (!(error instanceof DnsError)) throw error;
    throw new ApiError(error.kind === "failed" ? "UPSTREAM_ERROR" : "UPSTREAM_UNAVAILABLE");
  }
}

async function takeFrom(
  core: Pick<Core, "clock" | "ring" | "publicUrl">,
  tx: Tx,
  loser: HolderRow,
  now: Date,
): Promise<void> {
  const name = shownDomain(loser.apexDomain);
  await deleteDomain(tx, loser.organizationId, loser.id);
  await recordAudit(tx, now, {
    environment: null,
    organizationId: loser.organizationId,
    event: "domain.lost",
    actor: systemActor,
    targetId: loser.id,
    details: { apex_domain: loser.apexDomain },
  });
  await mailOwners(core, tx, loser.organizationId, {
    kind: "domain_lost",
    fill: { domain: name, organization: loser.organizationName },
    url: `${core.publicUrl()}/dashboard/domains`,
  });
}
