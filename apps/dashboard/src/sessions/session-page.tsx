import {
  cancelSession,
  getSession,
  listAttempts,
  listSessions,
  type Session,
} from "@assay/contract/sessions";
import { useParams } from "@tanstack/react-router";
import type { Static } from "typebox";
import { call } from "../api/call.ts";
import { refresh, useData, useList } from "../api/queries.ts";
import { useMay } from "../shell/organization-context.ts";
import { Copy, CopyId, Id } from "../ui/copy.tsx";
import { ConfirmButton } from "../ui/dialog.tsx";
import { inWords } from "../ui/filters.tsx";
import { Badge, Card, Facts, Heading, Loaded } from "../ui/page.tsx";
import { QrCode } from "../ui/qr-code.tsx";
import { shortId } from "../ui/short-id.ts";
import { ListTable } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { SessionEvents } from "../webhooks/session-events.tsx";
import { Agreement } from "./agreement.tsx";
import { demandFacts, EvidenceFacts, unmetText } from "./evidence.tsx";
import { pageLanguageNames } from "./page-languages.ts";
import { StatusBadge } from "./sessions-page.tsx";

type OneSession = Static<typeof Session>;

const attemptLooks = { in_progress: "warn", succeeded: "good", failed: "bad", cancelled: "plain" } as const;

export function SessionPage() {
  const { sessionId } = useParams({ from: "/shell/dashboard/sessions/$sessionId" });
  const params = { id: sessionId };
  // A session changes while somebody holds a phone to a document; the page follows.
  const session = useData(getSession, { params }, { refetchInterval: 4_000 });
  const attempts = useList(listAttempts, { query: { session_id: sessionId } }, { refetchInterval: 4_000 });
  const mayChange = useMay("admin");
  return (
    <>
      <Heading
        title={`Session ${shortId(sessionId)}`}
        crumbs={[{ label: "Sessions", to: "/dashboard/sessions" }]}
      />
      <Loaded query={session}>
        {({ data }) => {
          const open = data.status === "created" || data.status === "in_progress";
          return (
            <>
              <Card>
                <Facts facts={factsOf(data)} />
                {mayChange && open ? (
                  <div className="mt-5">
                    <ConfirmButton
                      title="Cancel this session?"
                      explanation="The person can no longer complete it. Your webhooks are told."
                      confirm="Cancel the session"
                      done="The session is cancelled."
                      run={async () => {
                        await call(cancelSession, { params });
                        await refresh(getSession, listSessions, listAttempts);
                      }}
                    >
                      Cancel the session
                    </ConfirmButton>
                  </div>
                ) : null}
              </Card>
              {open ? (
                <Card title="Open it on a phone">
                  <div className="flex flex-wrap items-start gap-6">
                    <QrCode value={data.verification_url} label="QR code of the verification link" />
                    <div className="min-w-0 flex-1 basis-64">
                      <Copy label="Verification link" value={data.verification_url} />
                      <p className="mt-2">
                        <a href={data.verification_url} target="_blank" rel="noreferrer">
                          Open it in a new tab
                        </a>
                      </p>
                      <p className="mt-3 text-small text-muted">
                        Whoever has the link can use it. Give it to the person who is to be verified only.
                      </p>
                    </div>
                  </div>
                </Card>
              ) : null}
              {data.evidence === null ? null : (
                <Card title="What the success rests on">
                  <EvidenceFacts evidence={data.evidence} />
                </Card>
              )}
              <Card title="What the document must be able to do">
                <Facts facts={demandFacts(data)} />
              </Card>
              <Card title="What is asked for, and what was agreed">
                <Agreement session={data} />
              </Card>
            </>
          );
        }}
      </Loaded>
      <SessionEvents sessionId={sessionId} />
      <Card title="Attempts">
        <ListTable
          caption="Attempts, the latest first"
          list={attempts}
          rowKey={({ id }) => id}
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
    </>
  );
}

function factsOf(session: OneSession) {
  const unmet = unmetText(session);
  const metadata = Object.entries(session.metadata);
  return [
    ["Status", <StatusBadge key="status" status={session.status} />],
    ...(session.failure_code === null ? [] : [["Reason", inWords(session.failure_code)] as const]),
    ...(unmet === null ? [] : [["Unmet", unmet] as const]),
    ["Environment", session.sandbox ? "sandbox" : "live"],
    ["Your reference", <bdi key="reference">{session.client_reference_id ?? "–"}</bdi>],
    ["Chip reads", String(session.nfc_tries_used)],
    ["Liveness captures", String(session.liveness_tries_used)],
    ["Language of the page", session.locale === null ? "the browser's" : pageLanguageNames[session.locale]],
    [
      "Sent afterwards to",
      <span key="redirect" className="break-all">
        {session.redirect_url}
      </span>,
    ],
    ["Created", <Time key="created" full at={session.created_at} />],
    ["Open until", <Time key="until" full ahead at={session.expires_at} />],
    ["Ended", <Time key="ended" full at={session.completed_at} />],
    ...metadata.map(([name, value]) => [`Note: ${name}`, <bdi key={name}>{value}</bdi>] as const),
    ["Identifier", <CopyId key="id" value={session.id} />],
  ] as const;
}
