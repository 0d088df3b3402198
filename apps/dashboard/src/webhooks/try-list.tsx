import type { WebhookDeliveryAttempt } from "@assay/contract/webhooks";
import type { Static } from "typebox";
import { Code } from "../ui/code.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
import { Badge } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { errorText } from "./delivery-words.ts";

type Attempt = Static<typeof WebhookDeliveryAttempt>;

/** Every try, the latest first, with what was sent and what came back. */
export function TryList({ attempts }: { attempts: readonly Attempt[] }) {
  return (
    <ol className="space-y-5 border-l-2 border-line pl-5">
      {attempts.map((attempt, index) => (
        <li key={attempt.id} className="relative">
          <span
            aria-hidden="true"
            className={`absolute top-2 -left-[1.6rem] size-3 rounded-full border-2 border-card ${attempt.error === null ? "bg-good" : "bg-bad"}`}
          />
          <OneTry attempt={attempt} number={attempts.length - index} open={index === 0} />
        </li>
      ))}
    </ol>
  );
}

function OneTry({ attempt, number, open }: { attempt: Attempt; number: number; open: boolean }) {
  const { error, receiver_answer: answer } = attempt;
  const line =
    answer?.status_line ?? (attempt.status_code === null ? "no answer" : String(attempt.status_code));
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium">Try {number}</span>
        <Badge look={error === null ? "good" : "bad"}>
          <bdi>{line}</bdi>
        </Badge>
        <span className="text-small text-muted">
          <Time exact at={attempt.attempted_at} />, took {attempt.duration_ms.toLocaleString("en")} ms
        </span>
      </p>
      {error === null ? null : <p className="mt-1">{errorText(error)}</p>}
      <Disclosure small title="Request and answer" open={open}>
        <div className="mt-3 space-y-4">
          <Headers headers={attempt.request_headers} />
          {answer === null ? (
            <p className="text-small text-muted">{withoutAnswer(attempt)}</p>
          ) : answer.text === "" ? (
            <p className="text-small text-muted">Your server answered without a text.</p>
          ) : (
            <Code
              wrap
              label={answer.is_cut ? "What your server answered, the beginning" : "What your server answered"}
              text={answer.text}
            />
          )}
        </div>
      </Disclosure>
    </>
  );
}

function withoutAnswer({ error, status_code: status }: Attempt): string {
  if (error === null) return "The text of an answer is kept only where a delivery was refused.";
  return status === null
    ? "No answer came back."
    : "The text of the answer was kept as long as the encrypted body, and is gone with it.";
}

function Headers({ headers }: { headers: Readonly<Record<string, string>> }) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <div>
      <Code wrap label="Headers that we sent" text={lines.join("\n")} />
      {"x-service-signature" in headers ? null : (
        <p className="text-small text-muted">
          The signatures were kept as long as the encrypted body, and are gone with it.
        </p>
      )}
    </div>
  );
}
