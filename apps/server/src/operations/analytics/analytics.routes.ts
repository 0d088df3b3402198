import * as contract from "@assay/contract/analytics";
import { environmentHeader } from "@assay/contract/facts";
import { readDeliveryHealth } from "../../delivery/webhooks/delivery-health.store.ts";
import type { Core } from "../../platform/core.ts";
import { type Binding, bind } from "../../platform/http/mount.ts";
import { ApiError, badField } from "../../platform/kernel/api-error.ts";
import { isSandbox } from "../../platform/kernel/caller.ts";
import { dayMs, later } from "../../platform/kernel/clock.ts";
import { isDay, parseTime } from "../../platform/kernel/times.ts";
import {
  type Day,
  dayOf,
  daysBetween,
  startOfDay,
  summarize,
} from "../../verification/sessions/day-figures.ts";
import { readFigures } from "../../verification/sessions/session-day.store.ts";
import { viewDeliveryHealth } from "./delivery-health.view.ts";

const { days: maxDays, defaultDays } = contract.analyticsLimits;

export function analyticsRoutes({ db, clock }: Pick<Core, "db" | "clock">): Binding[] {
  return [
    bind(contract.sessionsOverview, async ({ caller, query }) => {
      const now = clock.now();
      const { from, to } = periodOf(query, now);
      const sandbox = isSandbox(caller);
      if (query.sandbox !== undefined && query.sandbox !== sandbox)
        throw new ApiError("OTHER_ENVIRONMENT", {
          message: `\`sandbox\` names the other environment: this request is for ${caller.environment}.`,
          hint: `Use a key of the other environment. With a user session, set the header ${environmentHeader}.`,
        });
      const rows = await readFigures(db, caller, { from, to }, now);
      const overview = summarize(daysBetween(from, to), rows);
      return {
        from,
        to,
        sandbox,
        totals: overview.totals,
        days: overview.days.map(({ day, medianSeconds, ...counts }) => ({
          date: day,
          ...counts,
          median_seconds_to_complete: medianSeconds,
        })),
        success_rate: overview.successRate,
        median_seconds_to_complete: overview.medianSecondsToComplete,
        p90_seconds_to_complete: overview.ninetiethSecondsToComplete,
        durations: overview.durations.map(({ upToSeconds, count }) => ({
          up_to_seconds: upToSeconds,
          count,
        })),
        funnel: overview.funnel,
        methods: overview.methods,
        failure_codes: overview.failureCodes,
      };
    }),
    bind(contract.webhooksOverview, async ({ caller, query }) => {
      const { from, to } = periodOf(query, clock.now());
      const period = { from: startOfDay(from), before: later(startOfDay(to), dayMs) };
      const health = await readDeliveryHealth(db, caller, period, contract.analyticsLimits.deliveries);
      return { from, to, sandbox: isSandbox(caller), ...viewDeliveryHealth(health) };
    }),
  ];
}

function periodOf(query: { from?: string; to?: string }, now: Date): { from: Day; to: Day } {
  const to = parseDay("to", query.to) ?? dayOf(now);
  const from = parseDay("from", query.from) ?? dayOf(later(startOfDay(to), -(defaultDays - 1) * dayMs));
  if (from > to) throw new ApiError("PERIOD_INVALID", { message: "`from` must not be later than `to`." });
  if (startOfDay(to).getTime() - startOfDay(from).getTime() >= maxDays * dayMs) {
    throw new ApiError("PERIOD_INVALID", {
      message: `\`from\` and \`to\` must lie at most ${maxDays} days apart.`,
      hint: "Split the period into several requests.",
    });
  }
  return { from, to };
}

function parseDay(field: string, text: string | undefined): Day | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) {
    const time = parseTime(field, text);
    // PostgreSQL does not parse the ISO form of years before 1 and after 9999.
    if (time.getUTCFullYear() < 1 || time.getUTCFullYear() > 9999)
      throw badField(field, "is too far from today");
    return dayOf(time);
  }
  if (!isDay(text) || text < "0001")
    throw badField(field, "must be a day like 2026-03-01, or a time with a zone");
  return text;
}
