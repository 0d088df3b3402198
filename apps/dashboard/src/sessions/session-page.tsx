import { idLengths } from "@assay/contract/facts";
import {
  cancelSession,
  getSession,
  listAttempts,
  listSessions,
  readTimeline,
  type SessionWithConsent,
} from "@assay/contract/sessions";
import { Link, useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { Static } from "typebox";
import { call, hasCode } from "../api/call.ts";
import { rememberEnvironment } from "../api/chosen-environment.ts";
import { refresh, useData, useList } from "../api/queries.ts";
import { intlTag, t } from "../i18n/words.ts";
import { useMay, useWorkspace } from "../shell/organization-context.ts";
import { Button, LinkButton } from "../ui/button.tsx";
import { Copy, CopyButton, CopyId, Id } from "../ui/copy.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { inSentence } from "../ui/in-sentence.ts";
import { LoadedObject, ObjectPage, Section } from "../ui/object-page.tsx";
import { Card, Heading } from "../ui/page.tsx";
import { languageName } from "../ui/page-languages.ts";
import { QrCode } from "../ui/qr-code.tsx";
import { Status } from "../ui/status.tsx";
import { Empty, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { Agreement } from "./agreement.tsx";
import { demandFacts, EvidenceFacts, unmetText } from "./evidence.tsx";
import { mailLink } from "./mail-link.ts";
import { sessionTitle } from "./session-title.ts";
import { pollIntervalMs, SessionTimeline } from "./timeline.tsx";

type WithConsent = Static<typeof SessionWithConsent>;

const idPattern = new RegExp(`^vs_[A-Za-z0-9]{${idLengths.vs}}$`);
const crumb = () => ({ label: t.shell.pages.sessions, to: "/dashboard/sessions" }) as const;

export function SessionPage() {
  const { sessionId } = useParams({ from: "/shell/dashboard/sessions/$sessionId" });
  const isId = idPattern.test(sessionId);
  const session = useData(
    getSession,
    { params: { id: sessionId } },
    { enabled: isId, refetchInterval: pollIntervalMs },
  );
  if (!isId || hasCode(session.error, "SESSION_NOT_FOUND")) return <NoSession mayBeElsewhere={isId} />;
  return (
    <LoadedObject kind={t.ui.session} crumb={crumb()} query={session}>
      {(data) => <OneSessionPage session={data} />}
    </LoadedObject>
  );
}

/** One page for an invalid or truncated identifier, and for a session of the other environment. */
function NoSession({ mayBeElsewhere }: { mayBeElsewhere: boolean }) {
  const { organization, environment } = useWorkspace();
  const other = environment === "live" ? "sandbox" : "live";
  return (
    <>
      <Heading title={t.sessions.notFound} crumbs={[crumb()]} />
      <Card>
        <Empty
          icon="sessions"
          action={
            <div className="flex flex-wrap justify-center gap-3">
              {mayBeElsewhere && organization.environment === "live" ? (
                <Button
                  look="primary"
                  onClick={() => {
                    rememberEnvironment(organization, other);
                    window.location.assign(window.location.pathname);
                  }}
                >
                  {t.sessions.lookIn[other]}
                </Button>
              ) : null}
              <LinkButton to="/dashboard/sessions">{t.sessions.allSessions}</LinkButton>
            </div>
          }
        >
          {mayBeElsewhere ? t.sessions.notIn[environment] : t.sessions.notAnId}
        </Empty>
      </Card>
    </>
  );
}

function OneSessionPage({ session }: { session: WithConsent }) {
  const isOpen = session.status === "created" || session.status === "in_progress";
  const refetchInterval = isOpen ? pollIntervalMs : false;
  const times = useData(readTimeline, { params: { id: session.id } }, { refetchInterval });
  // Both are refetched while the session is open, and once more when it has ended.
  useEffect(() => {
    if (!isOpen) void refresh(readTimeline, listAttempts);
  }, [isOpen]);
  const mayChange = useMay("admin");
  const [cancelling, setCancelling] = useState(false);
  return (
    <ObjectPage
      crumb={crumb()}
      title={sessionTitle(session)}
      status={<Status of={session.status} />}
      object={session}
      facts={factsOf(session)}
      primary={
        isOpen ? (
          <CopyButton look="primary" value={session.verification_url} what={inSentence(t.sessions.link)}>
            {t.sessions.copyLink}
          </CopyButton>
        ) : null
      }
      menu={
        isOpen
          ? [
              {
                label: t.sessions.openPage,
                icon: "outside",
                run: () => window.open(session.verification_url, "_blank", "noopener"),
              },
              ...(mayChange
                ? [
                    {
                      label: t.sessions.cancel,
                      icon: "x",
                      danger: true,
                      run: () => setCancelling(true),
                    } as const,
                  ]
                : []),
            ]
          : []
      }
    >
      {isOpen ? <ShareLink session={session} /> : null}
      <Section title={t.ui.timeline}>
        <SessionTimeline session={session} times={times.data?.data ?? null} />
      </Section>
      {session.evidence === null ? null : (
        <Section title={t.sessions.evidence}>
          <EvidenceFacts evidence={session.evidence} />
        </Section>
      )}
      <Section title={t.sessions.agreement}>
        <Agreement session={session} />
      </Section>
      <Attempts sessionId={session.id} refetchInterval={refetchInterval} />
      {cancelling ? (
        <ConfirmDialog
          title={t.sessions.cancelTitle}
          explanation={t.sessions.cancelText}
          confirm={t.sessions.cancel}
          done={t.sessions.cancelled}
          onClose={() => setCancelling(false)}
          run={async () => {
            await call(cancelSession, { params: { id: session.id } });
            await refresh(getSession, listSessions, listAttempts);
          }}
        />
      ) : null}
    </ObjectPage>
  );
}

function ShareLink({ session }: { session: WithConsent }) {
  const { organization } = useWorkspace();
  return (
    <Section title={t.sessions.share}>
      <div className="flex flex-wrap items-start gap-6">
        <QrCode value={session.verification_url} label={t.sessions.qrCode} />
        <div className="min-w-0 flex-1 basis-64">
          <Copy label={t.sessions.link} value={session.verification_url} />
          <p className="mt-2">
            <a href={mailLink(session.verification_url, organization.name)}>{t.sessions.byMail}</a>
          </p>
          <p className="text-small text-muted">{t.sessions.shareWarning}</p>
        </div>
      </div>
    </Section>
  );
}

/** What each device did. Empty if no device has opened the session. */
function Attempts(props: { sessionId: string; refetchInterval: number | false }) {
  const { sessionId, refetchInterval } = props;
  const attempts = useList(listAttempts, { query: { session_id: sessionId } }, { refetchInterval });
  if (attempts.items.length === 0) return null;
  return (
    <Section title={t.ui.attempts}>
      <Table
        caption={t.sessions.attemptsCaption}
        rows={attempts.items}
        rowKey={({ id }) => id}
        columns={[
          { header: t.sessions.attempt, cell: (attempt) => <Id value={attempt.id} /> },
          {
            header: t.ui.status,
            phone: "end",
            cell: ({ status, failure_code: failure }) => (
              <>
                <Status of={status} />
                {failure === null ? null : (
                  <span className="block text-small text-muted">{t.sessions.failure[failure]}</span>
                )}
              </>
            ),
          },
          { header: t.sessions.risk, cell: (attempt) => attempt.risk_score.toLocaleString(intlTag) },
          { header: t.sessions.started, cell: (attempt) => <Time at={attempt.created_at} /> },
          { header: t.sessions.ended, cell: (attempt) => <Time at={attempt.completed_at} /> },
        ]}
      />
    </Section>
  );
}

function factsOf(session: WithConsent) {
  const unmet = unmetText(session);
  return [
    ...(session.failure_code === null
      ? []
      : [[t.sessions.reason, t.sessions.failure[session.failure_code]] as const]),
    ...(unmet === null ? [] : [[t.sessions.unmet, unmet] as const]),
    [t.sessions.reference, <bdi key="reference">{session.client_reference_id ?? "–"}</bdi>],
    ...(session.template_id === null
      ? []
      : [
          [
            t.ui.template,
            <Link
              key="template"
              to="/dashboard/templates/$templateId"
              params={{ templateId: session.template_id }}
            >
              <Id value={session.template_id} />
            </Link>,
          ] as const,
        ]),
    [t.ui.created, <Time key="created" full at={session.created_at} />],
    session.completed_at === null
      ? ([t.ui.expires, <Time key="until" full ahead at={session.expires_at} />] as const)
      : ([t.sessions.ended, <Time key="ended" full at={session.completed_at} />] as const),
    [t.sessions.methods, session.methods.map((method) => t.sessions.method[method]).join(", ")],
    ...(session.methods.includes("document_chip")
      ? [
          [t.sessions.chipAttempts, String(session.nfc_tries_used)] as const,
          [t.sessions.faceAttempts, String(session.liveness_tries_used)] as const,
        ]
      : []),
    ...demandFacts(session),
    [t.ui.language, session.locale === null ? t.sessions.automatic : languageName(session.locale)],
    [
      t.sessions.returnUrl,
      <span key="redirect" className="break-all">
        {session.redirect_url}
      </span>,
    ],
    ...Object.entries(session.metadata).map(
      ([name, value]) => [t.sessions.metadata(name), <bdi key={name}>{value}</bdi>] as const,
    ),
    ["ID", <CopyId key="id" value={session.id} />],
  ] as const;
}
