import {
  createRedirectUri,
  deleteRedirectUri,
  listDomains,
  listRedirectUris,
  removeDomain,
  startDomainChallenge,
  verifyDomain,
} from "@assay/contract/domains";
import { hasRole } from "@assay/contract/route";
import { useState } from "react";
import { call, hasCode } from "../api/call.ts";
import { refresh, useData, useList } from "../api/queries.ts";
import { useMay, usePlace } from "../shell/organization-context.ts";
import { ActionButton, Button, buttonClass } from "../ui/button.tsx";
import { Copy } from "../ui/copy.tsx";
import { ConfirmButton, Dialog } from "../ui/dialog.tsx";
import { Checkbox, Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Icon } from "../ui/icon.tsx";
import { Notice } from "../ui/notice.tsx";
import { Badge, Card, Heading, Loaded } from "../ui/page.tsx";
import { Empty, ListTable, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

export function DomainsPage() {
  const { organization } = usePlace();
  const frozen = organization.pending_deletion_at !== null;
  return (
    <>
      <Heading
        title="Domains"
        about="Live sessions return people only to domains you have verified. In the sandbox any https address works."
      />
      {!hasRole(organization.role, "owner") ? (
        <Notice kind="info">Only owners can manage domains.</Notice>
      ) : frozen ? (
        <Notice kind="info">Domains are hidden while the organization is scheduled for deletion.</Notice>
      ) : (
        <VerifiedDomains />
      )}
      <RedirectUris />
    </>
  );
}

/** A record to publish; without a challenge it belongs to a domain that is verified. */
type Shown = {
  challengeId: string | null;
  domain: string;
  name: string;
  value: string;
  heldBy: string | null;
};

function VerifiedDomains() {
  const domains = useData(listDomains, {});
  const [adding, setAdding] = useState(false);
  const [shown, setShown] = useState<Shown | null>(null);
  return (
    <Card
      title="Verified domains"
      actions={
        <Button small onClick={() => setAdding(true)}>
          Verify domain
        </Button>
      }
    >
      <Loaded query={domains}>
        {({ data }) => (
          <>
            {data.domains.length === 0 ? (
              <Empty icon="globe">No verified domains yet. Verify one with a DNS record.</Empty>
            ) : (
              <Table
                caption="Verified domains"
                rows={data.domains}
                rowKey={({ id }) => id}
                columns={[
                  {
                    header: "Domain",
                    cell: (domain) => (
                      <BothForms shown={domain.apexDomainUnicode} ascii={domain.apexDomain} />
                    ),
                  },
                  {
                    header: "Status",
                    phone: "end",
                    cell: (domain) =>
                      domain.downgradedAt === null ? (
                        <Badge look="good">Verified</Badge>
                      ) : (
                        <>
                          <Badge look="bad">Record missing</Badge>
                          <span className="block text-small">
                            Since <Time at={domain.downgradedAt} />. Publish it again.
                          </span>
                        </>
                      ),
                  },
                  { header: "Verified", cell: (domain) => <Time at={domain.verifiedAt} /> },
                  {
                    header: "Last checked",
                    cell: (domain) => <Time at={domain.lastCheckedAt} never="Not yet" />,
                  },
                  {
                    header: "Actions",
                    cell: (domain) => (
                      <div className="flex flex-wrap gap-2">
                        <ShowRecord domain={domain} challengeId={null} onShow={setShown} />
                        <ConfirmButton
                          small
                          label={`Remove ${domain.apexDomainUnicode}`}
                          title={`Remove ${domain.apexDomainUnicode}?`}
                          explanation="Its redirect URIs are removed too, and live sessions can no longer return people there."
                          confirm="Remove domain"
                          done="Domain removed."
                          run={async () => {
                            await call(removeDomain, { params: { id: domain.id } });
                            await refresh(listDomains, listRedirectUris);
                          }}
                        >
                          Remove
                        </ConfirmButton>
                      </div>
                    ),
                  },
                ]}
              />
            )}
            {data.challenges.length === 0 ? null : (
              <div className="mt-6">
                <h3 className="mb-2 font-semibold">Pending verification</h3>
                <Table
                  caption="Domains pending verification"
                  rows={data.challenges}
                  rowKey={({ id }) => id}
                  columns={[
                    {
                      header: "Domain",
                      cell: (challenge) => (
                        <BothForms shown={challenge.apexDomainUnicode} ascii={challenge.apexDomain} />
                      ),
                    },
                    { header: "Expires", cell: (challenge) => <Time ahead at={challenge.expiresAt} /> },
                    {
                      header: "Actions",
                      cell: (challenge) => (
                        <div className="flex flex-wrap gap-2">
                          <ShowRecord domain={challenge} challengeId={challenge.id} onShow={setShown} />
                          <VerifyButton challengeId={challenge.id} domain={challenge.apexDomainUnicode} />
                        </div>
                      ),
                    },
                  ]}
                />
              </div>
            )}
          </>
        )}
      </Loaded>
      {adding ? (
        <Dialog title="Verify domain" onClose={() => setAdding(false)}>
          <Form
            submit="Continue"
            onSubmit={async (values) => {
              const { data } = await call(startDomainChallenge, {
                body: { apex_domain: values.text("apex_domain") },
              });
              setShown({
                challengeId: data.challenge_id,
                domain: data.apex_domain_unicode,
                name: data.record_name,
                value: data.record_value,
                heldBy: data.conflict?.organization_name ?? null,
              });
              setAdding(false);
              await refresh(listDomains);
            }}
          >
            <Field label="Domain" name="apex_domain" hint="For example, example.com." maxLength={253} />
          </Form>
        </Dialog>
      ) : null}
      {shown === null ? null : <RecordDialog shown={shown} onClose={() => setShown(null)} />}
    </Card>
  );
}

function RecordDialog({ shown, onClose }: { shown: Shown; onClose: () => void }) {
  const { organization } = usePlace();
  return (
    <Dialog title={`DNS record for ${shown.domain}`} onClose={onClose} wide>
      <p className="mb-3">
        Add this TXT record to the DNS of the domain
        {shown.challengeId === null ? "" : " within 7 days"} and keep it: we check it every day. It is not
        secret.
      </p>
      {shown.heldBy === null ? null : (
        <Notice kind="warn">
          <bdi>{shown.heldBy}</bdi> has this domain now. If you verify it, it moves to you and their owners
          are notified.
        </Notice>
      )}
      <Copy label="Record name" value={shown.name} />
      <Copy label="Record value" value={shown.value} />
      <div className="mt-4 flex flex-wrap gap-3">
        {shown.challengeId === null ? null : (
          <VerifyButton challengeId={shown.challengeId} domain={shown.domain} onVerified={onClose} />
        )}
        <a href={instructionsMail(shown, organization.name)} className={buttonClass("plain", true)}>
          <Icon name="mail" className="size-4" />
          Email it to your DNS admin
        </a>
      </div>
    </Dialog>
  );
}

/** A letter in the reader's own mail program, to whomever they choose. */
function instructionsMail({ domain, name, value }: Shown, organization: string): string {
  const lines = [
    `Please add this record to the DNS of ${domain}. It proves that ${organization} controls the domain.`,
    "",
    "Type: TXT",
    `Name: ${name}`,
    `Value: ${value}`,
    "TTL: 3600",
    "",
    "Please keep it: it is checked every day.",
  ];
  return `mailto:?subject=${encodeURIComponent(`TXT record for ${domain}`)}&body=${encodeURIComponent(lines.join("\r\n"))}`;
}

/** What was begun before records were kept has none to show. */
function ShowRecord(props: {
  domain: { apexDomainUnicode: string; recordName: string; recordValue: string | null };
  challengeId: string | null;
  onShow: (shown: Shown) => void;
}) {
  const { apexDomainUnicode: domain, recordName: name, recordValue: value } = props.domain;
  if (value === null) return null;
  return (
    <Button
      small
      label={`View record of ${domain}`}
      onClick={() => props.onShow({ challengeId: props.challengeId, domain, name, value, heldBy: null })}
    >
      View record
    </Button>
  );
}

/** A name with letters outside of ASCII, and the form that the DNS knows. */
function BothForms({ shown, ascii }: { shown: string; ascii: string }) {
  return (
    <>
      <bdi className="font-medium">{shown}</bdi>
      {shown === ascii ? null : (
        <code dir="ltr" className="block font-mono text-small break-all">
          {ascii}
        </code>
      )}
    </>
  );
}

function VerifyButton(props: { challengeId: string; domain: string; onVerified?: () => void }) {
  const [takeover, setTakeover] = useState(false);
  const verify = async (acknowledged: boolean) => {
    await call(verifyDomain, {
      body: { challenge_id: props.challengeId, ...(acknowledged ? { acknowledge_takeover: true } : {}) },
    });
    await refresh(listDomains);
    props.onVerified?.();
  };
  if (takeover)
    return (
      <Form submit="Take it over" look="danger" onSubmit={() => verify(true)}>
        <p>Another organization has {props.domain}. Your record proves that you control it.</p>
        <Checkbox
          name="agree"
          required
          label="Take over this domain. The other organization loses it, and its owners are notified."
        />
      </Form>
    );
  return (
    <ActionButton
      small
      label={`Check now: ${props.domain}`}
      run={async () => {
        try {
          await verify(false);
        } catch (error) {
          if (!hasCode(error, "APEX_TAKEOVER_REQUIRED")) throw error;
          setTakeover(true);
        }
      }}
    >
      Check now
    </ActionButton>
  );
}

function RedirectUris() {
  const mayChange = useMay("admin");
  const uris = useList(listRedirectUris);
  return (
    <Card title="Redirect URIs">
      <p className="mb-4 text-muted">
        Without redirect URIs, any https address on a verified domain is allowed. Once a domain has one,
        addresses on it must match.
      </p>
      <ListTable
        caption="Redirect URIs"
        list={uris}
        rowKey={({ id }) => id}
        empty="No redirect URIs."
        columns={[
          {
            header: "Pattern",
            cell: (uri) => <code className="font-mono text-small break-all">{uri.pattern}</code>,
          },
          { header: "Added", cell: (uri) => <Time at={uri.createdAt} /> },
          {
            header: "Actions",
            cell: (uri) =>
              mayChange ? (
                <ConfirmButton
                  small
                  label={`Remove ${uri.pattern}`}
                  title="Remove this redirect URI?"
                  explanation={uri.pattern}
                  confirm="Remove"
                  done="Redirect URI removed."
                  run={async () => {
                    await call(deleteRedirectUri, { params: { id: uri.id } });
                    await refresh(listRedirectUris);
                  }}
                >
                  Remove
                </ConfirmButton>
              ) : null,
          },
        ]}
      />
      {mayChange ? (
        <div className="mt-6 max-w-xl">
          <Form
            submit="Add"
            look="plain"
            saved="Redirect URI added."
            resetWhenDone
            onSubmit={async (values) => {
              await call(createRedirectUri, { body: { pattern: values.text("pattern") } });
              await refresh(listRedirectUris);
            }}
          >
            <Field
              label="New redirect URI"
              name="pattern"
              maxLength={2048}
              hint="https://host/path on a verified domain. Includes all paths below it; *. matches one subdomain label."
            />
          </Form>
        </div>
      ) : null}
    </Card>
  );
}
