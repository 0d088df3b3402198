import { useCallback, useEffect, useState } from "react";
import {
  type Language,
  loadWords,
  sessionLanguage,
  useWords,
  type Words,
  WordsContext,
} from "./i18n/language.ts";
import { shellTransport } from "./reading/chip-transport.ts";
import { CancelControl } from "./screens/cancel.tsx";
import { ConsentScreen } from "./screens/consent.tsx";
import { FollowScreen } from "./screens/follow.tsx";
import { DevicesHelp, HandoffScreen } from "./screens/handoff.tsx";
import { MessageScreen, OutcomeScreen } from "./screens/outcome.tsx";
import { ReadingScreen } from "./screens/reading.tsx";
import { hasEnded } from "./session/follow-status.ts";
import { type Session, useSession } from "./session/use-session.ts";
import { Button } from "./ui/button.tsx";
import { Layout } from "./ui/layout.tsx";
import { Screen } from "./ui/screen.tsx";

export type Address = { sessionId: string; handoffToken: string | null; socketToken: string | null };

/** `chosen`: the person has chosen a language before, so the partner's is not asked for. */
export function App({
  address,
  words: initial,
  chosen: chosenBefore,
}: {
  address: Address;
  words: Words;
  chosen: boolean;
}) {
  const [words, setWords] = useState(initial);
  const [chosen, setChosen] = useState(chosenBefore);
  useEffect(() => {
    document.documentElement.lang = words.language;
  }, [words]);
  const choose = (language: Language) => {
    setChosen(true);
    void loadWords(language).then(setWords);
    try {
      localStorage.setItem("assay:language", language);
    } catch {
      // The choice then lasts until the page is left.
    }
  };
  return (
    <WordsContext value={words}>
      <Page address={address} chosen={chosen} onWords={setWords} onLanguage={choose} />
    </WordsContext>
  );
}

function Page({
  address,
  chosen,
  onWords,
  onLanguage,
}: {
  address: Address;
  chosen: boolean;
  onWords: (words: Words) => void;
  onLanguage: (language: Language) => void;
}) {
  const session = useSession(address.sessionId);
  const settled = useSessionLanguage(session, chosen, onWords);
  const { details, status, clock } = session;
  const [step, setStep] = useState(0);
  const open = status !== null && !hasEnded(status);
  const shownStep = () => {
    if (status === null || session.problem !== null) return null;
    if (open) return status.consent_given ? Math.max(1, step) : 0;
    // A session that did not succeed has no last step to show as done.
    return status.status === "succeeded" && details?.consent?.withdrawn_at == null ? 3 : null;
  };
  return (
    <Layout
      sandbox={details?.sandbox ?? false}
      step={shownStep()}
      deadline={open && clock !== null ? { clock, expiresAt: status.expires_at } : null}
      onLanguage={onLanguage}
      actions={
        open && status.consent_given && details !== null ? (
          <CancelControl session={session} name={details.organization.name} />
        ) : null
      }
    >
      {settled ? <Current session={session} address={address} onStep={setStep} /> : <Loading />}
    </Layout>
  );
}

function Loading() {
  const { t } = useWords();
  return <p>{t.loading}</p>;
}

/**
 * Turns the page to the language of the session, once. False until that is done, so that nobody begins to read in one language and goes
 * on in another. Words that cannot be loaded leave the page as it is.
 */
function useSessionLanguage({ details }: Session, chosen: boolean, onWords: (words: Words) => void): boolean {
  const { language } = useWords();
  const [settled, setSettled] = useState(false);
  const wanted = details === null ? null : sessionLanguage(chosen, details);
  const turns = wanted !== null && wanted !== language;
  const known = details !== null;
  useEffect(() => {
    if (!known || settled) return;
    if (!turns) {
      setSettled(true);
      return;
    }
    let left = false;
    const settle = (words: Words | null) => {
      if (left) return;
      if (words !== null) onWords(words);
      setSettled(true);
    };
    loadWords(wanted).then(settle, () => settle(null));
    return () => {
      left = true;
    };
  }, [known, settled, turns, wanted, onWords]);
  return settled || !known || !turns;
}

/** The screen follows from what the service says and from what this tab has begun. */
function Current({
  session,
  address,
  onStep,
}: {
  session: Session;
  address: Address;
  onStep: (step: number) => void;
}) {
  const { t } = useWords();
  const { details, status, problem, kept, reload } = session;
  const [declined, setDeclined] = useState(false);
  const [newCode, setNewCode] = useState(false);
  const [reading, setReading] = useState(() => {
    if (address.handoffToken !== null && kept.reading?.handoffToken !== address.handoffToken)
      kept.reading = { handoffToken: address.handoffToken, socketToken: null };
    if (address.handoffToken !== null) kept.onDevice = true;
    if (address.socketToken !== null) {
      kept.reading = { handoffToken: null, socketToken: address.socketToken };
      kept.onDevice = false;
    }
    return kept.reading !== null;
  });
  const { onDevice } = kept;
  const inStatus = status?.status;
  const attempt = status?.attempt?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new device means that the code has done its work.
  useEffect(() => setNewCode(false), [attempt]);
  useEffect(() => {
    if (inStatus !== undefined && inStatus !== "created") void reload();
  }, [inStatus, reload]);
  const stepOfOther = status?.attempt?.step ?? null;
  useEffect(() => {
    if (!reading) onStep(stepOfOther?.startsWith("face") ? 2 : 1);
  }, [reading, stepOfOther, onStep]);
  const readHere = useCallback(() => {
    kept.reading = { handoffToken: null, socketToken: null };
    kept.onDevice = false;
    setReading(true);
  }, [kept]);
  const leaveReading = useCallback(() => {
    kept.reading = null;
    setReading(false);
    setNewCode(true);
  }, [kept]);
  const ended = useCallback(() => void reload(), [reload]);

  if (problem === "not_found") return <MessageScreen title={t.notFoundTitle} text={t.notFoundText} />;
  if (problem !== null && details === null)
    return (
      <MessageScreen
        title={problem === "no_answer" ? t.noAnswerTitle : t.troubleTitle}
        text={problem === "no_answer" ? t.noAnswerText : t.troubleText}
      >
        <Button onClick={() => void reload()}>{t.tryAgain}</Button>
      </MessageScreen>
    );
  if (details === null || status === null) return <Loading />;
  if (hasEnded(status))
    return (
      <OutcomeScreen key="outcome" session={session} details={details} status={status} onDevice={onDevice} />
    );
  if (!status.consent_given) {
    if (declined)
      return (
        <MessageScreen key="declined" title={t.declinedTitle} text={t.declinedText}>
          <Button look="secondary" onClick={() => setDeclined(false)}>
            {t.declinedBack}
          </Button>
        </MessageScreen>
      );
    return (
      <ConsentScreen
        key="consent"
        session={session}
        details={details}
        onAgreed={ended}
        onDeclined={() => setDeclined(true)}
      />
    );
  }
  if (reading) {
    // A device that cannot read must not take the session from one that can. One that continues for a desk reader uses
    // the desk's own attempt and takes nothing.
    const goesOn = kept.reading !== null && kept.reading.socketToken !== null;
    if (!details.sandbox && shellTransport() === null && !goesOn)
      return (
        <Screen key="no-reader" title={t.noReaderTitle} lead={t.noReaderText} look="neutral">
          <DevicesHelp open />
        </Screen>
      );
    return (
      <ReadingScreen
        session={session}
        sandbox={details.sandbox}
        requirements={details.requirements}
        onStep={onStep}
        onEnded={ended}
        onLeave={onDevice ? null : leaveReading}
      />
    );
  }
  if (status.status === "in_progress" && !newCode)
    return <FollowScreen key="follow" session={session} status={status} onNewCode={() => setNewCode(true)} />;
  return <HandoffScreen key="handoff" session={session} sandbox={details.sandbox} onReadHere={readHere} />;
}
