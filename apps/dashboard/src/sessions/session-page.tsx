import { idLengths } from "@assay/contract/facts";
import {
  cancelSession,
  getSession,
  listAttempts,
  listSessions,
  type SessionWithConsent,
} from "@assay/contract/sessions";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { Static } from "typebox";
import { call, hasCode } from "../api/call.ts";
import { rememberEnvironment } from "../api/chosen-environment.ts";
import { refresh, useData, useList } from "../api/queries.ts";
import { useMay, usePlace } from "../shell/organization-context.ts";
import { Button, LinkButton } from "../ui/button.tsx";
import { Copy, CopyId, CopyValue, Id } from "../ui/copy.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { inWords } from "../ui/filters.tsx";
import { Menu } from "../ui/menu.tsx";
import { Badge, Card, Facts, Heading, Loading, ProblemNotice } from "../ui/page.tsx";
import { pageLanguageNames } from "../ui/page-languages.ts";
import { QrCode } from "../ui/qr-code.tsx";
import { Empty, ListTable } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { zonedTime } from "../ui/times.ts";
import { SessionEvents } from "../webhooks/session-events.tsx";
import { Agreement } from "./agreement.tsx";
import { demandFacts, EvidenceFacts, unmetText } from "./evidence.tsx";
import { StatusBadge } from "./sessions-page.tsx";
import { Timeline } from "./timeline.tsx";

type WithConsent = Static<typeof SessionWithConsent>;

const idPattern = new RegExp(`^vs_[A-Za-z0-9]{${idLengths.vs}}$`);

const attemptLooks = { in_progress: "warn", succeeded: "good", failed: "bad", cancelled: "plain" } as const;

export function SessionPage() {
  const { sessionId } = useParams({ from: "/shell/dashboard/sessions/$sessionId" });
  const isId = idPattern.test(sessionId);
  // A session changes while somebody holds a phone to a document; the page follows.
  const session = useData(
    getSession,
    { params: { id: sessionId } },
    { enabled: isId, refetchInterval: 4_000 },
  );
  if (!isId || hasCode(session.error, "SESSION_NOT_FOUND")) return <NoSession mayBeElsewhere={isId} />;
  const data = session.data?.data;
  if (data !== undefined) return <OneSessionPage session={data} />;
  return (
    <>
      <Heading title="Session" crumbs={crumbs} />
      {session.error === null ? (
        <Loading lines={6} />
      ) : (
        <ProblemNotice error={session.error} retry={session.refetch} />
      )}
    </>
  );
}

const crumbs = [{ label: "Sessions", to: "/dashboard/sessions" }] as const;

/** One page for an identifier that is none, that was cut off, or whose session is in the other environment. */
function NoSession({ mayBeElsewhere }: { mayBeElsewhere: boolean }) {
  const { organization, environment } = usePlace();
  const other = environment === "live" ? "sandbox" : "live";
  return (
    <>
      <Heading title="There is no such session" crumbs={crumbs} />
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
            ? `No session in ${environment === "live" ? "live" : "the sandbox"} has this identifier. It may be deleted, or of another organization.`
            : "The address does not end in the identifier of a session. It may be cut off."}
        </Empty>
      </Card>
    </>
  );
}

function OneSessionPage({ session }: { session: WithConsent }) {
  const isOpen = session.status === "created" || session.status === "in_progress";
  const attempts = useList(listAttempts, { query: { session_id: session.id } }, { refetchInterval: 4_000 });
  return (
    <>
      <Heading
        title={session.client_reference_id ?? `Verification of ${zonedTime(new Date(session.created_at))}`}
        mark={<StatusBadge status={session.status} />}
        crumbs={crumbs}
      >
        <SessionActions session={session} isOpen={isOpen} />
      </Heading>
      <div className="grid items-start gap-x-6 lg:grid-cols-[minmax(0,1fr)_21rem]">
        <div className="min-w-0">
          {isOpen ? <ShareLink session={session} /> : null}
          {session.evidence === null ? null : (
            <Card title="What the success rests on">
              <EvidenceFacts evidence={session.evidence} />
            </Card>
          )}
          <Card title="What is asked for, and what was agreed">
            <Agreement session={session} />
          </Card>
          <SessionEvents sessionId={session.id} />
          <Attempts list={attempts} />
        </div>
        {/* On a narrow screen how far it has come stands first, and what is looked up now and then last. */}
        <div className="min-w-0 max-lg:contents">
          <div className="min-w-0 max-lg:order-first">
            <Card title="Progress">
              <Timeline session={session} />
            </Card>
          </div>
          <div className="min-w-0 max-lg:order-last">
            <Card title="Details">
              <Facts narrow facts={factsOf(session)} />
            </Card>
          </div>
        </div>
      </div>
    </>
  );
}

function SessionActions({ session, isOpen }: { session: WithConsent; isOpen: boolean }) {
  const mayChange = useMay("admin");
  const [cancelling, setCancelling] = useState(false);
  if (!isOpen) return null;
  return (
    <>
      <CopyValue look="primary" value={session.verification_url}>
        Copy link
      </CopyValue>
      {mayChange ? (
        <Menu
          label="More actions"
          items={[{ label: "Cancel the session", icon: "x", danger: true, run: () => setCancelling(true) }]}
        />
      ) : null}
      {cancelling ? (
        <ConfirmDialog
          title="Cancel this session?"
          explanation="The person can no longer complete it. Your webhooks are told."
          confirm="Cancel the session"
          done="The session is cancelled."
          onClose={() => setCancelling(false)}
          run={async () => {
            await call(cancelSession, { params: { id: session.id } });
            await refresh(getSession, listSessions, listAttempts);
          }}
        />
      ) : null}
    </>
  );
}

function ShareLink({ session }: { session: WithConsent }) {
  return (
    <Card title="Open it on a phone">
      <div className="flex flex-wrap items-start gap-6">
        <QrCode value={session.verification_url} label="QR code of the verification link" />
        <div className="min-w-0 flex-1 basis-64">
          <Copy label="Verification link" value={session.verification_url} />
          <p className="mt-2">
            <a href={session.verification_url} target="_blank" rel="noreferrer">
              Open it in a new tab
            </a>
          </p>
          <p className="mt-3 text-small text-muted">
            Whoever has the link can use it. Give it to the person who is to be verified only.
          </p>
        </div>
      </div>
    </Card>
  );
}

function Attempts({ list }: { list: ReturnType<typeof useList<typeof listAttempts>> }) {
  return (
    <Card title="Attempts">
      <ListTable
        caption="Attempts, the latest first"
        list={list}
        rowKey={({ id }) => id}
        emptyIcon="phone"
        empty="No device has opened the session yet."
        columns={[
          { header: "Attempt", cell: (attempt) => <Id value={attempt.id} /> },
          {
            header: "Status",
            phone: "end",
            cell: (attempt) => <Badge look={attemptLooks[attempt.status]}>{inWords(attempt.status)}</Badge>,
          },
          {
            header: "Reason",
            cell: (attempt) => (attempt.failure_code === null ? "–" : inWords(attempt.failure_code)),
          },
          { header: "Risk", cell: (attempt) => attempt.risk_score.toLocaleString("en") },
          { header: "Begun", cell: (attempt) => <Time at={attempt.created_at} /> },
          { header: "Ended", cell: (attempt) => <Time at={attempt.completed_at} /> },
        ]}
      />
    </Card>
  );
}

function factsOf(session: WithConsent) {
  const unmet = unmetText(session);
  const metadata = Object.entries(session.metadata);
  return [
    ...(session.failure_code === null ? [] : [["Reason", inWords(session.failure_code)] as const]),
    ...(unmet === null ? [] : [["Unmet", unmet] as const]),
    ["Your reference", <bdi key="reference">{session.client_reference_id ?? "–"}</bdi>],
    ["Open until", <Time key="until" full ahead at={session.expires_at} />],
    ["Methods", session.methods.map(inWords).join(", ")],
    ...(session.methods.includes("document_chip")
      ? [
          ["Chip reads", String(session.nfc_tries_used)] as const,
          ["Liveness captures", String(session.liveness_tries_used)] as const,
        ]
      : []),
    ...demandFacts(session),
    ["Language of the page", session.locale === null ? "the browser's" : pageLanguageNames[session.locale]],
    [
      "Sent afterwards to",
      <span key="redirect" className="break-all">
        {session.redirect_url}
      </span>,
    ],
    ["Ended", <Time key="ended" full at={session.completed_at} />],
    ...metadata.map(([name, value]) => [`Note: ${name}`, <bdi key={name}>{value}</bdi>] as const),
    ["Identifier", <CopyId key="id" value={session.id} />],
  ] as const;
}
