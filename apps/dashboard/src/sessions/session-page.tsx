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
import { useMay, usePlace } from "../shell/organization-context.ts";
import { Button, LinkButton } from "../ui/button.tsx";
import { Copy, CopyButton, CopyId, Id } from "../ui/copy.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { inWords } from "../ui/filters.tsx";
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
import { followMs, SessionTimeline } from "./timeline.tsx";

type WithConsent = Static<typeof SessionWithConsent>;

const idPattern = new RegExp(`^vs_[A-Za-z0-9]{${idLengths.vs}}$`);
const crumb = { label: "Sessions", to: "/dashboard/sessions" } as const;

export function SessionPage() {
  const { sessionId } = useParams({ from: "/shell/dashboard/sessions/$sessionId" });
  const isId = idPattern.test(sessionId);
  const session = useData(
    getSession,
    { params: { id: sessionId } },
    { enabled: isId, refetchInterval: followMs },
  );
  if (!isId || hasCode(session.error, "SESSION_NOT_FOUND")) return <NoSession mayBeElsewhere={isId} />;
  return (
    <LoadedObject kind="Session" crumb={crumb} query={session}>
      {(data) => <OneSessionPage session={data} />}
    </LoadedObject>
  );
}

/** One page for an identifier that is none, that was cut off, or whose session is in the other environment. */
function NoSession({ mayBeElsewhere }: { mayBeElsewhere: boolean }) {
  const { organization, environment } = usePlace();
  const other = environment === "live" ? "sandbox" : "live";
  return (
    <>
      <Heading title="Session not found" crumbs={[crumb]} />
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
                  Look in {other === "live" ? "live" : "the sandbox"}
                </Button>
              ) : null}
              <LinkButton to="/dashboard/sessions">All sessions</LinkButton>
            </div>
          }
        >
          {mayBeElsewhere
            ? `No session in ${environment === "live" ? "live" : "the sandbox"} has this ID. It may have been deleted, or belong to another organization.`
            : "This address doesn't end in a session ID. It may be cut off."}
        </Empty>
      </Card>
    </>
  );
}

function OneSessionPage({ session }: { session: WithConsent }) {
  const isOpen = session.status === "created" || session.status === "in_progress";
  const refetchInterval = isOpen ? followMs : false;
  const times = useData(readTimeline, { params: { id: session.id } }, { refetchInterval });
  // Both are followed while the session is open, and read once more when it has ended.
  useEffect(() => {
    if (!isOpen) void refresh(readTimeline, listAttempts);
  }, [isOpen]);
  const mayChange = useMay("admin");
  const [cancelling, setCancelling] = useState(false);
  return (
    <ObjectPage
      crumb={crumb}
      title={sessionTitle(session)}
      status={<Status of={session.status} />}
      object={session}
      facts={factsOf(session)}
      primary={
        isOpen ? (
          <CopyButton look="primary" value={session.verification_url} what="verification link">
            Copy link
          </CopyButton>
        ) : null
      }
      menu={
        isOpen
          ? [
              {
                label: "Open verification page",
                icon: "outside",
                run: () => window.open(session.verification_url, "_blank", "noopener"),
              },
              ...(mayChange
                ? [
                    {
                      label: "Cancel session",
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
      <Section title="Timeline">
        <SessionTimeline session={session} times={times.data?.data ?? null} />
      </Section>
      {session.evidence === null ? null : (
        <Section title="Evidence">
          <EvidenceFacts evidence={session.evidence} />
        </Section>
      )}
      <Section title="Requested data and consent">
        <Agreement session={session} />
      </Section>
      <Attempts sessionId={session.id} refetchInterval={refetchInterval} />
      {cancelling ? (
        <ConfirmDialog
          title="Cancel this session?"
          explanation="The person can no longer complete it. Your webhooks are notified."
          confirm="Cancel session"
          done="Session cancelled."
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
  const { organization } = usePlace();
  return (
    <Section title="Share the link">
      <div className="flex flex-wrap items-start gap-6">
        <QrCode value={session.verification_url} label="QR code of the verification link" />
        <div className="min-w-0 flex-1 basis-64">
          <Copy label="Verification link" value={session.verification_url} />
          <p className="mt-2">
            <a href={mailLink(session.verification_url, organization.name)}>Send by email</a>
          </p>
          <p className="text-small text-muted">
            Anyone with the link can use it. Only share it with the person being verified.
          </p>
        </div>
      </div>
    </Section>
  );
}

/** What each device did. A session that no device has opened has none. */
function Attempts(props: { sessionId: string; refetchInterval: number | false }) {
  const { sessionId, refetchInterval } = props;
  const attempts = useList(listAttempts, { query: { session_id: sessionId } }, { refetchInterval });
  if (attempts.items.length === 0) return null;
  return (
    <Section title="Attempts">
      <Table
        caption="Attempts, the latest first"
        rows={attempts.items}
        rowKey={({ id }) => id}
        columns={[
          { header: "Attempt", cell: (attempt) => <Id value={attempt.id} /> },
          { header: "Status", phone: "end", cell: (attempt) => <Status of={attempt.status} /> },
          {
            header: "Reason",
            cell: (attempt) => (attempt.failure_code === null ? "–" : inWords(attempt.failure_code)),
          },
          { header: "Risk", cell: (attempt) => attempt.risk_score.toLocaleString("en") },
          { header: "Started", cell: (attempt) => <Time at={attempt.created_at} /> },
          { header: "Ended", cell: (attempt) => <Time at={attempt.completed_at} /> },
        ]}
      />
    </Section>
  );
}

function factsOf(session: WithConsent) {
  const unmet = unmetText(session);
  return [
    ...(session.failure_code === null ? [] : [["Reason", inWords(session.failure_code)] as const]),
    ...(unmet === null ? [] : [["Unmet requirement", unmet] as const]),
    ["Reference", <bdi key="reference">{session.client_reference_id ?? "–"}</bdi>],
    ...(session.template_id === null
      ? []
      : [
          [
            "Template",
            <Link
              key="template"
              to="/dashboard/templates/$templateId"
              params={{ templateId: session.template_id }}
            >
              <Id value={session.template_id} />
            </Link>,
          ] as const,
        ]),
    ["Created", <Time key="created" full at={session.created_at} />],
    session.completed_at === null
      ? (["Expires", <Time key="until" full ahead at={session.expires_at} />] as const)
      : (["Ended", <Time key="ended" full at={session.completed_at} />] as const),
    ["Methods", session.methods.map(inWords).join(", ")],
    ...(session.methods.includes("document_chip")
      ? [
          ["Chip attempts", String(session.nfc_tries_used)] as const,
          ["Face attempts", String(session.liveness_tries_used)] as const,
        ]
      : []),
    ...demandFacts(session),
    ["Language", session.locale === null ? "Automatic" : languageName(session.locale)],
    [
      "Return URL",
      <span key="redirect" className="break-all">
        {session.redirect_url}
      </span>,
    ],
    ...Object.entries(session.metadata).map(
      ([name, value]) => [`Metadata: ${name}`, <bdi key={name}>{value}</bdi>] as const,
    ),
    ["ID", <CopyId key="id" value={session.id} />],
  ] as const;
}
