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
import { refreshOrganization, useMay, usePlace } from "../shell/organization-context.ts";
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

/** What each point is, why it matters, and where it is done. The links lead to where a person here can do it. */
const points: Record<GoLivePoint, { name: string; why: string; where: ReactNode }> = {
  terms_accepted: {
    name: "Accept the relying-party terms",
    why: "They govern how you may use the data that people share. An owner must accept the current version.",
    where: <a href="#terms">Review terms</a>,
  },
  business_details_complete: {
    name: "Complete your business details",
    why: "Name, jurisdiction and, for a business, registration number. They identify who is responsible for the data.",
    where: <a href="#business-details">Add details</a>,
  },
  domain_verified: {
    name: "Verify a domain",
    why: "Live sessions only return people to domains you have verified.",
    where: <Link to="/dashboard/domains">Verify a domain</Link>,
  },
  state_trusted: {
    name: "Trust at least one issuing authority",
    why: "Without a trusted issuing authority no real document can be verified.",
    where: "Only the operator can do this.",
  },
  results_received: {
    name: "Set up a live endpoint",
    why: "It receives the data that people share, which is stored nowhere else. It must be enabled, have an encryption key and be subscribed to successes.",
    where: null,
  },
  reading_app_configured: {
    name: "Configure a document reader",
    why: "A phone app or desk readers. Live sessions are rejected until one is configured.",
    where: "Only the operator can do this. You can go live without it.",
  },
};

export function GoLivePage() {
  const { organization } = usePlace();
  const readiness = useData(readGoLive, {});
  const details = useData(readBusinessDetails, {});
  const [results, setResults] = useState<Results>("webhooks");
  return (
    <>
      <Heading title="Going live" />
      <div className="mb-6">{organization.environment === "live" ? <LiveIsOpen /> : <WhatLiveIs />}</div>
      <Card title={organization.environment === "live" ? "Live status" : "Checklist"}>
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
      <Card title="Business details" id="business-details">
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
          [
            "sessions",
            "What changes",
            "Sessions are for real people with real documents. The sandbox accepts test documents only.",
          ],
          [
            "shield",
            "What stays the same",
            "Your sandbox and everything in it. Switch between the two at the top of any page.",
          ],
          [
            "key",
            "Next steps",
            "Create live API keys and webhook endpoints. Members, domains and terms are shared.",
          ],
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

/** Done, or replaced by what was chosen in its place. */
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
        aria-label="Completed items"
        className="h-2 w-40 appearance-none overflow-hidden rounded-full border-0 bg-soft [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-soft [&::-webkit-progress-value]:bg-accent"
      />
      {done} of {needed.length} complete
    </p>
  );
}

function LiveIsOpen() {
  const { organization, environment } = usePlace();
  return (
    <Notice kind="good">
      <p className="font-semibold">
        <bdi>{organization.name}</bdi> is live. Your sandbox is unchanged.
      </p>
      <p>
        Each has its own <Link to="/dashboard/api-keys">API keys</Link>,{" "}
        <Link to="/dashboard/webhooks">webhook endpoints</Link>, sessions and stats. Live accepts real
        documents only, the sandbox test documents only. Domains, redirect URIs, members, business details and
        terms are shared.
      </p>
      {environment === "live" ? null : (
        <p className="pt-1">
          <Button small onClick={() => switchEnvironment(organization, "live")}>
            Switch to live
          </Button>
        </p>
      )}
    </Notice>
  );
}

function GoLiveButton({ ready, results }: { ready: boolean; results: Results }) {
  const { organization } = usePlace();
  const mayGoLive = useMay("owner");
  if (!mayGoLive) return <p className="text-muted">Only an owner can go live.</p>;
  return (
    <>
      {ready ? null : <p className="mb-3 text-muted">Complete the missing items to go live.</p>}
      <ConfirmButton
        look="primary"
        disabled={!ready}
        done="You're live."
        title="Go live?"
        explanation="Live runs next to your sandbox, which does not change. This cannot be undone. Next, create live API keys."
        confirm="Go live"
        run={async () => {
          await call(goLive, { body: results === "poll_only" ? { results } : {} });
          // Opening it does not switch the environment.
          rememberEnvironment(organization, "sandbox");
          await Promise.all([refreshOrganization(), refresh(readGoLive)]);
        }}
      >
        Go live
      </ConfirmButton>
    </>
  );
}

function Step({ point, results, children }: { point: Point; results: Results; children?: ReactNode }) {
  const { name, why, where } = points[point.point];
  const settled = isSettled(point, results);
  return (
    <li className="flex items-start gap-3 py-3 max-sm:flex-col max-sm:gap-1">
      <span className="shrink-0 sm:w-24">
        <Badge look={settled ? "good" : "warn"}>
          {point.done ? "Done" : settled ? "Not needed" : point.required ? "Missing" : "Warning"}
        </Badge>
      </span>
      <div className="min-w-0 max-w-3xl">
        <p className="font-medium">{name}</p>
        <p className="text-small text-muted">{why}</p>
        <p className="mt-1 flex flex-wrap gap-x-4 text-small text-muted">
          {point.done || where === null ? null : <span>{where}</span>}
          <a href={point.docs}>
            More<span className="sr-only"> about: {name}</span>
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
          ["Kind", details.businessType === "sole" ? "Sole trader" : "Business"],
          ["Name", details.businessName ?? "–"],
          ["Jurisdiction", details.businessJurisdiction ?? "–"],
          ["Registration number", details.businessRegistrationNumber ?? "–"],
        ]}
      />
    );
  return (
    <div className="max-w-xl">
      <Form
        submit="Save"
        look="plain"
        saved="Business details saved."
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
          label="Kind"
          name="business_type"
          defaultValue={details.businessType}
          options={[
            { value: "business", label: "Business" },
            { value: "sole", label: "Sole trader" },
          ]}
        />
        <Field
          label="Registered name"
          name="business_name"
          optional="quiet"
          hint="Required for live. As registered."
          maxLength={200}
          defaultValue={details.businessName ?? ""}
        />
        <Field
          label="Jurisdiction"
          name="business_jurisdiction"
          optional="quiet"
          hint="Required for live. The country or state of registration."
          maxLength={120}
          defaultValue={details.businessJurisdiction ?? ""}
        />
        <Field
          label="Registration number"
          name="business_registration_number"
          optional="quiet"
          maxLength={100}
          hint="Required for live, except for sole traders."
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
    <Card title="Relying-party terms" id="terms">
      <Loaded query={terms}>
        {({ data }) => (
          <>
            <Facts
              facts={[
                ["Current version", `${data.current.terms_version}, ${data.current.jurisdiction}`],
                [
                  "Accepted",
                  data.acceptance === null ? (
                    "Not yet"
                  ) : (
                    <span key="accepted">
                      Version {data.acceptance.terms_version}, <Time at={data.acceptance.accepted_at} />
                    </span>
                  ),
                ],
              ]}
            />
            {data.acceptance !== null && !data.current_accepted ? (
              <Notice kind="warn">The terms have changed. An owner must accept the new version.</Notice>
            ) : null}
            <div className="mt-4">
              <Button onClick={() => setReading(true)}>
                {data.current_accepted || !mayAccept ? "Read the terms" : "Read and accept"}
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

/** The terms as they are written, without the marks of the Markdown. */
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
    <Dialog title="Relying-party terms" onClose={onClose} wide>
      <Loaded query={text}>
        {({ data }) => (
          <>
            <div className="rounded-control border border-line p-4">
              <TermsText text={data.text} />
            </div>
            <p className="my-3 text-small break-all text-muted">
              Version {data.terms_version}, {data.terms_hash}
            </p>
            {mayAccept ? (
              <Form
                submit="Accept the terms"
                onSubmit={async () => {
                  await call(acceptRpTerms, {
                    body: { terms_version: data.terms_version, terms_hash: data.terms_hash },
                  });
                  await refresh(readRpTerms, readGoLive);
                  onClose();
                }}
              >
                <Checkbox
                  name="agree"
                  required
                  label="I have read the terms and accept them for the organization."
                />
              </Form>
            ) : null}
          </>
        )}
      </Loaded>
    </Dialog>
  );
}
