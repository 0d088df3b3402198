import {
  acceptRpTerms,
  type businessTypes,
  type GoLivePoint,
  type GoLiveReadiness,
  goLive,
  readBusinessDetails,
  readGoLive,
  readRpTerms,
  readRpTermsText,
  updateBusinessDetails,
} from "@assay/contract/go-live";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Static } from "typebox";
import { call } from "../api/call.ts";
import { rememberEnvironment, switchEnvironment } from "../api/chosen-environment.ts";
import { refresh, useData } from "../api/queries.ts";
import { Filled } from "../i18n/filled.tsx";
import { t } from "../i18n/words.ts";
import { refreshOrganization, useMay, useWorkspace } from "../shell/organization-context.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmButton, Dialog } from "../ui/dialog.tsx";
import { Checkbox, Field, Select } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Icon } from "../ui/icon.tsx";
import { Notice } from "../ui/notice.tsx";
import { Badge, Card, Facts, Heading, Loaded } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { LiveResults, type Results } from "./live-results.tsx";
import { textBlocks } from "./text-blocks.ts";

type BusinessType = (typeof businessTypes)[number];

type Point = Static<typeof GoLiveReadiness>["points"][number];

/** Where a user completes a point. */
function whereToComplete(point: GoLivePoint): ReactNode {
  const { where, points } = t.organization;
  switch (point) {
    case "terms_accepted":
      return <a href="#terms">{where.terms}</a>;
    case "business_details_complete":
      return <a href="#business-details">{where.details}</a>;
    case "domain_verified":
      return <Link to="/dashboard/domains">{points.domain_verified.name}</Link>;
    case "state_trusted":
      return where.operator;
    case "results_received":
      return null;
    case "reading_app_configured":
      return where.operatorOptional;
  }
}

export function GoLivePage() {
  const { organization } = useWorkspace();
  const readiness = useData(readGoLive, {});
  const details = useData(readBusinessDetails, {});
  const [results, setResults] = useState<Results>("webhooks");
  return (
    <>
      <Heading title={t.shell.pages.goLive} />
      <div className="mb-6">{organization.environment === "live" ? <LiveIsOpen /> : <WhatLiveIs />}</div>
      <Card
        title={
          organization.environment === "live"
            ? t.organization.goLive.liveStatus
            : t.organization.goLive.checklist
        }
      >
        <Loaded query={readiness} lines={5}>
          {({ data }) => (
            <>
              {data.environment === "live" ? null : <Progress points={data.points} results={results} />}
              <ol className="mb-5 divide-y divide-line">
                {data.points.map((point) => (
                  <Step key={point.point} point={point} results={results}>
                    {point.point === "results_received" && !point.done && data.environment !== "live" ? (
                      <LiveResults value={results} onChange={setResults} />
                    ) : null}
                  </Step>
                ))}
              </ol>
              {data.environment === "live" ? null : (
                <GoLiveButton
                  ready={data.points.every((point) => !point.required || isSettled(point, results))}
                  results={results}
                />
              )}
            </>
          )}
        </Loaded>
      </Card>
      <Terms />
      <Card title={t.organization.business.title} id="business-details">
        <Loaded query={details}>
          {({ data }) => <BusinessForm key={JSON.stringify(data)} details={data} />}
        </Loaded>
      </Card>
    </>
  );
}

/** What changes and what stays the same. */
function WhatLiveIs() {
  return (
    <div className="grid gap-4 md:grid-cols-3">
      {(
        [
          ["sessions", t.organization.goLive.changes, t.organization.goLive.changesText],
          ["shield", t.organization.goLive.stays, t.organization.goLive.staysText],
          ["key", t.organization.goLive.next, t.organization.goLive.nextText],
        ] as const
      ).map(([icon, title, text]) => (
        <div
          key={title}
          className="rounded-card border border-line bg-card p-4 shadow-raised dark:shadow-none"
        >
          <Icon name={icon} className="mb-2 size-6 text-accent" />
          <h2 className="font-semibold">{title}</h2>
          <p className="text-small text-muted">{text}</p>
        </div>
      ))}
    </div>
  );
}

/** Done, or replaced by the chosen alternative. */
function isSettled(point: Point, results: Results): boolean {
  return point.done || (point.instead !== null && point.instead === results);
}

function Progress({ points: all, results }: { points: readonly Point[]; results: Results }) {
  const needed = all.filter(({ required }) => required);
  const done = needed.filter((point) => isSettled(point, results)).length;
  return (
    <p className="mb-2 flex flex-wrap items-center gap-3 text-small text-muted">
      <progress
        value={done}
        max={needed.length}
        aria-label={t.organization.goLive.completed}
        className="h-2 w-40 appearance-none overflow-hidden rounded-full border-0 bg-soft [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-soft [&::-webkit-progress-value]:bg-accent"
      />
      {t.organization.goLive.progress({ done, total: needed.length })}
    </p>
  );
}

function LiveIsOpen() {
  const { organization, environment } = useWorkspace();
  return (
    <Notice kind="good">
      <p className="font-semibold">
        <Filled text={t.organization.goLive.isLive} name={<bdi>{organization.name}</bdi>} />
      </p>
      <p>
        <Filled
          text={t.organization.goLive.each}
          keys={<Link to="/dashboard/api-keys">{t.organization.goLive.keys}</Link>}
          endpoints={<Link to="/dashboard/webhooks">{t.organization.goLive.endpoints}</Link>}
        />
      </p>
      {environment === "live" ? null : (
        <p className="pt-1">
          <Button small onClick={() => switchEnvironment(organization, "live")}>
            {t.organization.goLive.switch}
          </Button>
        </p>
      )}
    </Notice>
  );
}

function GoLiveButton({ ready, results }: { ready: boolean; results: Results }) {
  const { organization } = useWorkspace();
  const mayGoLive = useMay("owner");
  if (!mayGoLive) return <p className="text-muted">{t.organization.goLive.onlyOwner}</p>;
  return (
    <>
      {ready ? null : <p className="mb-3 text-muted">{t.organization.goLive.missing}</p>}
      <ConfirmButton
        look="primary"
        disabled={!ready}
        done={t.organization.goLive.done}
        title={t.organization.goLive.ask}
        explanation={t.organization.goLive.askText}
        confirm={t.ui.goLive}
        run={async () => {
          await call(goLive, { body: results === "poll_only" ? { results } : {} });
          // Opening it does not switch the environment.
          rememberEnvironment(organization, "sandbox");
          await Promise.all([refreshOrganization(), refresh(readGoLive)]);
        }}
      >
        {t.ui.goLive}
      </ConfirmButton>
    </>
  );
}

function Step({ point, results, children }: { point: Point; results: Results; children?: ReactNode }) {
  const { name, why } = t.organization.points[point.point];
  const where = whereToComplete(point.point);
  const { state } = t.organization.goLive;
  const settled = isSettled(point, results);
  return (
    <li className="flex items-start gap-3 py-3 max-sm:flex-col max-sm:gap-1">
      <span className="shrink-0 sm:w-28">
        <Badge look={settled ? "good" : "warn"}>
          {point.done
            ? state.done
            : settled
              ? state.notNeeded
              : point.required
                ? state.missing
                : state.warning}
        </Badge>
      </span>
      <div className="min-w-0 max-w-3xl">
        <p className="font-medium">{name}</p>
        <p className="text-small text-muted">{why}</p>
        <p className="mt-1 flex flex-wrap gap-x-4 text-small text-muted">
          {point.done || where === null ? null : <span>{where}</span>}
          <a href={point.docs} aria-label={t.organization.goLive.moreAbout(name)}>
            {t.organization.goLive.more}
          </a>
        </p>
        {children}
      </div>
    </li>
  );
}

function BusinessForm(props: {
  details: {
    businessType: BusinessType;
    businessName: string | null;
    businessJurisdiction: string | null;
    businessRegistrationNumber: string | null;
  };
}) {
  const { details } = props;
  const mayChange = useMay("admin");
  if (!mayChange)
    return (
      <Facts
        facts={[
          [t.organization.business.kind, t.organization.business.kinds[details.businessType]],
          [t.ui.name, details.businessName ?? "–"],
          [t.organization.business.jurisdiction, details.businessJurisdiction ?? "–"],
          [t.organization.business.number, details.businessRegistrationNumber ?? "–"],
        ]}
      />
    );
  return (
    <div className="max-w-xl">
      <Form
        submit={t.ui.save}
        look="plain"
        saved={t.organization.business.saved}
        onSubmit={async (values) => {
          await call(updateBusinessDetails, {
            body: {
              business_type: values.raw("business_type") as BusinessType,
              business_name: values.text("business_name") || null,
              business_jurisdiction: values.text("business_jurisdiction") || null,
              business_registration_number: values.text("business_registration_number") || null,
            },
          });
          await refresh(readBusinessDetails, readGoLive);
        }}
      >
        <Select
          label={t.organization.business.kind}
          name="business_type"
          defaultValue={details.businessType}
          options={(["business", "sole"] as const).map((value) => ({
            value,
            label: t.organization.business.kinds[value],
          }))}
        />
        <Field
          label={t.organization.business.registeredName}
          name="business_name"
          optional="quiet"
          hint={t.organization.business.nameHint}
          maxLength={200}
          defaultValue={details.businessName ?? ""}
        />
        <Field
          label={t.organization.business.jurisdiction}
          name="business_jurisdiction"
          optional="quiet"
          hint={t.organization.business.jurisdictionHint}
          maxLength={120}
          defaultValue={details.businessJurisdiction ?? ""}
        />
        <Field
          label={t.organization.business.number}
          name="business_registration_number"
          optional="quiet"
          maxLength={100}
          hint={t.organization.business.numberHint}
          defaultValue={details.businessRegistrationNumber ?? ""}
        />
      </Form>
    </div>
  );
}

function Terms() {
  const terms = useData(readRpTerms, {});
  const mayAccept = useMay("owner");
  const [reading, setReading] = useState(false);
  return (
    <Card title={t.organization.terms.title} id="terms">
      <Loaded query={terms}>
        {({ data }) => (
          <>
            <Facts
              facts={[
                [t.organization.terms.current, `${data.current.terms_version}, ${data.current.jurisdiction}`],
                [
                  t.organization.terms.accepted,
                  data.acceptance === null ? (
                    t.ui.notYet
                  ) : (
                    <span key="accepted">
                      <Filled
                        text={t.organization.terms.acceptedVersion}
                        version={data.acceptance.terms_version}
                        time={<Time at={data.acceptance.accepted_at} />}
                      />
                    </span>
                  ),
                ],
              ]}
            />
            {data.acceptance !== null && !data.current_accepted ? (
              <Notice kind="warn">{t.organization.terms.changed}</Notice>
            ) : null}
            <div className="mt-4">
              <Button onClick={() => setReading(true)}>
                {data.current_accepted || !mayAccept
                  ? t.organization.terms.read
                  : t.organization.terms.readAndAccept}
              </Button>
            </div>
            {reading ? (
              <TermsDialog
                mayAccept={mayAccept && !data.current_accepted}
                onClose={() => setReading(false)}
              />
            ) : null}
          </>
        )}
      </Loaded>
    </Card>
  );
}

/** The terms without their Markdown syntax. */
function TermsText({ text }: { text: string }) {
  return (
    <div className="space-y-3">
      {textBlocks(text).map((block, index) => {
        // The text does not change while it is shown.
        const key = String(index);
        if (block.kind === "heading")
          return (
            <h3 key={key} className={block.level === 1 ? "text-part font-semibold" : "pt-2 font-semibold"}>
              {block.text}
            </h3>
          );
        if (block.kind === "paragraph") return <p key={key}>{block.text}</p>;
        return (
          <ul key={key} className="list-disc space-y-1 ps-5">
            {block.items.map((item) => (
              <li key={item}>{item}</li>
            ))}
          </ul>
        );
      })}
    </div>
  );
}

function TermsDialog({ mayAccept, onClose }: { mayAccept: boolean; onClose: () => void }) {
  const text = useData(readRpTermsText, {});
  return (
    <Dialog title={t.organization.terms.title} onClose={onClose} wide>
      <Loaded query={text}>
        {({ data }) => (
          <>
            <div className="rounded-control border border-line p-4">
              <TermsText text={data.text} />
            </div>
            <p className="my-3 text-small break-all text-muted">
              {t.organization.terms.versionHash({ version: data.terms_version, hash: data.terms_hash })}
            </p>
            {mayAccept ? (
              <Form
                submit={t.organization.terms.accept}
                onSubmit={async () => {
                  await call(acceptRpTerms, {
                    body: { terms_version: data.terms_version, terms_hash: data.terms_hash },
                  });
                  await refresh(readRpTerms, readGoLive);
                  onClose();
                }}
              >
                <Checkbox name="agree" required label={t.organization.terms.agree} />
              </Form>
            ) : null}
          </>
        )}
      </Loaded>
    </Dialog>
  );
}
