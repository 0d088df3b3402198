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
import { Filled } from "../i18n/filled.tsx";
import { t } from "../i18n/words.ts";
import { useMay, useWorkspace } from "../shell/organization-context.ts";
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
  const { organization } = useWorkspace();
  const frozen = organization.pending_deletion_at !== null;
  return (
    <>
      <Heading title={t.shell.pages.domains} about={t.domains.about} />
      {!hasRole(organization.role, "owner") ? (
        <Notice kind="info">{t.domains.onlyOwners}</Notice>
      ) : frozen ? (
        <Notice kind="info">{t.domains.frozen}</Notice>
      ) : (
        <VerifiedDomains />
      )}
      <RedirectUris />
    </>
  );
}

/** A DNS record to publish. Without a challenge, the domain is verified already. */
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
      title={t.domains.verifiedDomains}
      actions={
        <Button small onClick={() => setAdding(true)}>
          {t.domains.verify}
        </Button>
      }
    >
      <Loaded query={domains}>
        {({ data }) => (
          <>
            {data.domains.length === 0 ? (
              <Empty icon="globe">{t.domains.empty}</Empty>
            ) : (
              <Table
                caption={t.domains.verifiedDomains}
                rows={data.domains}
                rowKey={({ id }) => id}
                columns={[
                  {
                    header: t.domains.domain,
                    cell: (domain) => (
                      <BothForms shown={domain.apexDomainUnicode} ascii={domain.apexDomain} />
                    ),
                  },
                  {
                    header: t.ui.status,
                    phone: "end",
                    cell: (domain) =>
                      domain.downgradedAt === null ? (
                        <Badge look="good">{t.domains.verified}</Badge>
                      ) : (
                        <>
                          <Badge look="bad">{t.domains.recordMissing}</Badge>
                          <span className="block text-small">
                            <Filled text={t.domains.missingSince} time={<Time at={domain.downgradedAt} />} />
                          </span>
                        </>
                      ),
                  },
                  { header: t.domains.verified, cell: (domain) => <Time at={domain.verifiedAt} /> },
                  {
                    header: t.domains.lastChecked,
                    cell: (domain) => <Time at={domain.lastCheckedAt} never={t.ui.notYet} />,
                  },
                  {
                    header: t.ui.actions,
                    cell: (domain) => (
                      <div className="flex flex-wrap gap-2">
                        <ShowRecord domain={domain} challengeId={null} onShow={setShown} />
                        <ConfirmButton
                          small
                          label={t.domains.removeOne(domain.apexDomainUnicode)}
                          title={t.domains.removeAsk(domain.apexDomainUnicode)}
                          explanation={t.domains.removeText}
                          confirm={t.domains.removeSubmit}
                          done={t.domains.removed}
                          run={async () => {
                            await call(removeDomain, { params: { id: domain.id } });
                            await refresh(listDomains, listRedirectUris);
                          }}
                        >
                          {t.ui.remove}
                        </ConfirmButton>
                      </div>
                    ),
                  },
                ]}
              />
            )}
            {data.challenges.length === 0 ? null : (
              <div className="mt-6">
                <h3 className="mb-2 font-semibold">{t.domains.pending}</h3>
                <Table
                  caption={t.domains.pendingCaption}
                  rows={data.challenges}
                  rowKey={({ id }) => id}
                  columns={[
                    {
                      header: t.domains.domain,
                      cell: (challenge) => (
                        <BothForms shown={challenge.apexDomainUnicode} ascii={challenge.apexDomain} />
                      ),
                    },
                    {
                      header: t.ui.expires,
                      cell: (challenge) => <Time ahead at={challenge.expiresAt} />,
                    },
                    {
                      header: t.ui.actions,
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
        <Dialog title={t.domains.verify} onClose={() => setAdding(false)}>
          <Form
            submit={t.ui.continue}
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
            <Field label={t.domains.domain} name="apex_domain" hint={t.domains.domainHint} maxLength={253} />
          </Form>
        </Dialog>
      ) : null}
      {shown === null ? null : <RecordDialog shown={shown} onClose={() => setShown(null)} />}
    </Card>
  );
}

function RecordDialog({ shown, onClose }: { shown: Shown; onClose: () => void }) {
  const { organization } = useWorkspace();
  return (
    <Dialog title={t.domains.recordFor(shown.domain)} onClose={onClose} wide>
      <p className="mb-3">{shown.challengeId === null ? t.domains.publish : t.domains.publishSoon}</p>
      {shown.heldBy === null ? null : (
        <Notice kind="warn">
          <Filled text={t.domains.heldBy} organization={<bdi>{shown.heldBy}</bdi>} />
        </Notice>
      )}
      <Copy label={t.domains.recordName} value={shown.name} />
      <Copy label={t.domains.recordValue} value={shown.value} />
      <div className="mt-4 flex flex-wrap gap-3">
        {shown.challengeId === null ? null : (
          <VerifyButton challengeId={shown.challengeId} domain={shown.domain} onVerified={onClose} />
        )}
        <a href={instructionsMail(shown, organization.name)} className={buttonClass("plain", true)}>
          <Icon name="mail" className="size-4" />
          {t.domains.mailIt}
        </a>
      </div>
    </Dialog>
  );
}

/** A prepared mail in the reader's own mail program, to any recipient. */
function instructionsMail({ domain, name, value }: Shown, organization: string): string {
  const words = t.domains.mail;
  const lines = [
    words.please({ domain, organization }),
    "",
    words.type,
    words.name(name),
    words.value(value),
    "TTL: 3600",
    "",
    words.keep,
  ];
  return `mailto:?subject=${encodeURIComponent(words.subject(domain))}&body=${encodeURIComponent(lines.join("\r\n"))}`;
}

/** A verification that began before the service stored records has none to show. */
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
      label={t.domains.viewRecordOf(domain)}
      onClick={() => props.onShow({ challengeId: props.challengeId, domain, name, value, heldBy: null })}
    >
      {t.domains.viewRecord}
    </Button>
  );
}

/** An internationalized domain name, and its ASCII form in the DNS. */
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
      <Form submit={t.domains.takeOver} look="danger" onSubmit={() => verify(true)}>
        <p>{t.domains.takeOverText(props.domain)}</p>
        <Checkbox name="agree" required label={t.domains.takeOverAgree} />
      </Form>
    );
  return (
    <ActionButton
      small
      label={t.domains.checkOne(props.domain)}
      run={async () => {
        try {
          await verify(false);
        } catch (error) {
          if (!hasCode(error, "APEX_TAKEOVER_REQUIRED")) throw error;
          setTakeover(true);
        }
      }}
    >
      {t.domains.check}
    </ActionButton>
  );
}

function RedirectUris() {
  const mayChange = useMay("admin");
  const uris = useList(listRedirectUris);
  return (
    <Card title={t.domains.uris}>
      <p className="mb-4 text-muted">{t.domains.urisAbout}</p>
      <ListTable
        caption={t.domains.uris}
        list={uris}
        rowKey={({ id }) => id}
        empty={t.domains.noUris}
        columns={[
          {
            header: t.domains.pattern,
            cell: (uri) => <code className="font-mono text-small break-all">{uri.pattern}</code>,
          },
          { header: t.ui.added, cell: (uri) => <Time at={uri.createdAt} /> },
          {
            header: t.ui.actions,
            cell: (uri) =>
              mayChange ? (
                <ConfirmButton
                  small
                  label={t.domains.removeOne(uri.pattern)}
                  title={t.domains.removeUriAsk}
                  explanation={uri.pattern}
                  confirm={t.ui.remove}
                  done={t.domains.uriRemoved}
                  run={async () => {
                    await call(deleteRedirectUri, { params: { id: uri.id } });
                    await refresh(listRedirectUris);
                  }}
                >
                  {t.ui.remove}
                </ConfirmButton>
              ) : null,
          },
        ]}
      />
      {mayChange ? (
        <div className="mt-6 max-w-xl">
          <Form
            submit={t.ui.add}
            look="plain"
            saved={t.domains.uriAdded}
            resetWhenDone
            onSubmit={async (values) => {
              await call(createRedirectUri, { body: { pattern: values.text("pattern") } });
              await refresh(listRedirectUris);
            }}
          >
            <Field label={t.domains.newUri} name="pattern" maxLength={2048} hint={t.domains.newUriHint} />
          </Form>
        </div>
      ) : null}
    </Card>
  );
}
