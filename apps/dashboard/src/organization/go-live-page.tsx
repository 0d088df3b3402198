import { listDomains } from "@assay/contract/domains";
import {
  acceptRpTerms,
  type businessTypes,
  goLive,
  readBusinessDetails,
  readRpTerms,
  readRpTermsText,
  updateBusinessDetails,
} from "@assay/contract/go-live";
import { hasRole } from "@assay/contract/route";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { call } from "../api/call.ts";
import { refresh, useData } from "../api/queries.ts";
import { refreshOrganization, useMay, usePlace } from "../shell/organization-context.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmButton, Dialog } from "../ui/dialog.tsx";
import { Checkbox, Field, Select } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Notice } from "../ui/notice.tsx";
import { Badge, Card, Facts, Heading, Loaded, Time } from "../ui/page.tsx";

type BusinessType = (typeof businessTypes)[number];

export function GoLivePage() {
  const { organization } = usePlace();
  const isOwner = hasRole(organization.role, "owner");
  const mayGoLive = useMay("owner");
  const frozen = organization.pending_deletion_at !== null;
  const details = useData(readBusinessDetails, {});
  const terms = useData(readRpTerms, {});
  const domains = useData(listDomains, {}, { enabled: isOwner && !frozen });
  const business = details.data?.data;
  const detailsDone =
    business !== undefined &&
    business.businessName !== null &&
    business.businessJurisdiction !== null &&
    (business.businessType === "sole" || business.businessRegistrationNumber !== null);
  const termsDone = terms.data?.data.current_accepted === true;
  const domainDone = domains.data?.data.domains.some((domain) => domain.downgradedAt === null) === true;
  const live = organization.environment === "live";
  return (
    <>
      <Heading title="Going live" />
      {live ? (
        <Notice kind="good">
          <bdi>{organization.name}</bdi> is live: real documents are accepted, test documents are not.
        </Notice>
      ) : (
        <Card title="What is needed">
          <ol className="mb-5 space-y-2">
            <Step done={termsDone} name="The relying-party terms are accepted by an owner" />
            <Step done={detailsDone} name="The business details are complete" />
            {isOwner ? (
              <Step done={domainDone} name="A domain is verified">
                <Link to="/dashboard/domains">Verify a domain</Link>
              </Step>
            ) : null}
            {terms.data === undefined ? null : (
              <Step
                done={terms.data.data.operator_ready}
                name="The operator of this service trusts at least one issuing authority."
              >
                Only the operator can do this: until then no real document can be accepted here.
              </Step>
            )}
          </ol>
          {mayGoLive ? (
            <ConfirmButton
              look="plain"
              title="Leave the sandbox for good?"
              explanation="From then on sessions accept real documents only, and send people only to verified domains. There is no way back into the sandbox; for tests create another organization."
              confirm="Go live"
              run={async () => {
                await call(goLive, {});
                await refreshOrganization();
              }}
            >
              Go live
            </ConfirmButton>
          ) : (
            <p className="text-muted">Only an owner can do this.</p>
          )}
        </Card>
      )}
      <Terms />
      <Card title="Business details">
        <Loaded query={details}>
          {({ data }) => <BusinessForm key={JSON.stringify(data)} details={data} />}
        </Loaded>
      </Card>
    </>
  );
}

function Step({ done, name, children }: { done: boolean; name: string; children?: ReactNode }) {
  return (
    <li className="flex items-start gap-3">
      <Badge look={done ? "good" : "warn"}>{done ? "Done" : "Missing"}</Badge>
      <span>
        {name} {done ? null : children}
      </span>
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
          ["Kind", details.businessType === "sole" ? "sole trader" : "business"],
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
        done="The business details are saved."
        onSubmit={async (values) => {
          await call(updateBusinessDetails, {
            body: {
              business_type: values.raw("business_type") as BusinessType,
              business_name: values.text("business_name") || null,
              business_jurisdiction: values.text("business_jurisdiction") || null,
              business_registration_number: values.text("business_registration_number") || null,
            },
          });
          await refresh(readBusinessDetails);
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
          optional
          maxLength={200}
          defaultValue={details.businessName ?? ""}
        />
        <Field
          label="Jurisdiction"
          name="business_jurisdiction"
          optional
          maxLength={120}
          defaultValue={details.businessJurisdiction ?? ""}
        />
        <Field
          label="Registration number"
          name="business_registration_number"
          optional
          maxLength={100}
          hint="Not needed for a sole trader."
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
    <Card title="Relying-party terms">
      <Loaded query={terms}>
        {({ data }) => (
          <>
            <Facts
              facts={[
                ["Current version", `${data.current.terms_version}, ${data.current.jurisdiction}`],
                [
                  "Accepted",
                  data.acceptance === null ? (
                    "not yet"
                  ) : (
                    <span key="accepted">
                      version {data.acceptance.terms_version}, <Time at={data.acceptance.accepted_at} />
                    </span>
                  ),
                ],
              ]}
            />
            {data.acceptance !== null && !data.current_accepted ? (
              <Notice kind="warn">
                The terms have changed since. An owner has to accept the new version.
              </Notice>
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

function TermsDialog({ mayAccept, onClose }: { mayAccept: boolean; onClose: () => void }) {
  const text = useData(readRpTermsText, {});
  return (
    <Dialog title="Relying-party terms" onClose={onClose} wide>
      <Loaded query={text}>
        {({ data }) => (
          <>
            <div className="rounded-lg border border-line p-4">
              <p className="whitespace-pre-wrap">{data.text}</p>
            </div>
            <p className="my-3 text-sm break-all text-muted">
              Version {data.terms_version}, {data.terms_hash}
            </p>
            {mayAccept ? (
              <Form
                submit="Accept the terms"
                onSubmit={async () => {
                  await call(acceptRpTerms, {
                    body: { terms_version: data.terms_version, terms_hash: data.terms_hash },
                  });
                  await refresh(readRpTerms);
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
