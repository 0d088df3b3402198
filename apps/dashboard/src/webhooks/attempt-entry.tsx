import type { WebhookDeliveryAttempt } from "@assay/contract/webhooks";
import type { Static } from "typebox";
import { t } from "../i18n/words.ts";
import { Code } from "../ui/code.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
import { countText } from "../ui/numbers.ts";
import { Badge } from "../ui/page.tsx";
import { Entry } from "../ui/timeline.tsx";
import { errorText } from "./delivery-words.ts";

type Attempt = Static<typeof WebhookDeliveryAttempt>;

/** An attempt in the time line of its delivery, with what was sent and what came back. */
export function AttemptEntry({ attempt, number, open }: { attempt: Attempt; number: number; open: boolean }) {
  const { error, receiver_answer: answer } = attempt;
  const line =
    answer?.status_line ??
    (attempt.status_code === null ? t.webhooks.noResponse : String(attempt.status_code));
  return (
    <Entry
      name={
        <span className="inline-flex flex-wrap items-center gap-x-3 gap-y-1">
          {t.webhooks.attempt(number)}
          <Badge look={error === null ? "good" : "bad"}>
            <bdi>{line}</bdi>
          </Badge>
        </span>
      }
      state={error === null ? "done" : "failed"}
      at={attempt.attempted_at}
      note={`${countText(attempt.duration_ms)} ms`}
    >
      {error === null ? null : <p className="mt-1">{errorText(error)}</p>}
      <Disclosure small title={t.webhooks.requestAndResponse} open={open}>
        <div className="space-y-4">
          <Headers headers={attempt.request_headers} />
          {answer === null ? (
            <p className="text-small text-muted">{withoutAnswer(attempt)}</p>
          ) : answer.text === "" ? (
            <p className="text-small text-muted">{t.webhooks.emptyBody}</p>
          ) : (
            <Code
              wrap
              label={answer.is_cut ? t.webhooks.responseBodyCut : t.webhooks.responseBody}
              text={answer.text}
            />
          )}
        </div>
      </Disclosure>
    </Entry>
  );
}

function withoutAnswer({ error, status_code: status }: Attempt): string {
  if (error === null) return t.webhooks.bodiesOfFailed;
  return status === null ? t.webhooks.noResponseReceived : t.webhooks.bodyDeleted;
}

function Headers({ headers }: { headers: Readonly<Record<string, string>> }) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <div>
      <Code wrap label={t.webhooks.requestHeaders} text={lines.join("\n")} />
      {"x-service-signature" in headers ? null : (
        <p className="mt-1 text-small text-muted">{t.webhooks.signaturesDeleted}</p>
      )}
    </div>
  );
}
