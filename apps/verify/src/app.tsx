import { Actions, Button } from "@assay/ui/button";
import { useCallback, useEffect, useLayoutEffect, useState } from "react";
import { shellTransport } from "./device/chip-transport.ts";
import { type DeviceKind, deviceKindOf, readDeviceSigns } from "./device/device-kind.ts";
import { displayContext } from "./device/display-context.ts";
import { wayOf } from "./device/ways.ts";
import {
  ConsentGate,
  ConsentInTabScreen,
  ForgottenNotice,
  MovedScreen,
  TabButton,
} from "./embed/frame-parts.tsx";
import { usePartnerPage } from "./embed/use-partner-page.ts";
import {
  type Language,
  loadWords,
  markLanguage,
  sessionLanguage,
  useWords,
  type Words,
  WordsContext,
} from "./i18n/language.ts";
import { BeginInAppScreen, CounterScreen, ElsewhereScreen } from "./screens/begin.tsx";
import { OpenHere, OtherBrowserScreen } from "./screens/bound.tsx";
import { ConsentScreen } from "./screens/consent.tsx";
import { LeaveControl } from "./screens/leave.tsx";
import { Later, useLaterSoon } from "./screens/show-later.tsx";
import { canObserveVisibility } from "./session/consent-sight.ts";
import { hasEnded } from "./session/follow-status.ts";
import type { Given } from "./session/given.ts";
import { type Offer, offerMark, takesWallets } from "./session/offers.ts";
import {
  chooseStep,
  hasWalletFailed,
  isAtWallet,
  stepOfPhase,
  stepsOf,
  walletStep,
} from "./session/steps.ts";
import { troubleWords } from "./session/trouble.ts";
import { useOffer } from "./session/use-offer.ts";
import { type Session, useSession } from "./session/use-session.ts";
import { useStarted } from "./session/use-started.ts";
import { Loading } from "./ui/connection.tsx";
import { Layout, type StepNames } from "./ui/layout.tsx";
import { Screen } from "./ui/screen.tsx";
import { useWalletPart } from "./wallet/use-wallet-part.tsx";

export type Address = {
  sessionId: string;
  handoffToken: string | null;
  socketToken: string | null;
  /** A wallet has sent the person back with it. */
  responseCode: string | null;
  /** Chosen on the device that showed the code. */
  offer: Offer | null;
  /** The phone opened this address because the app that it was meant for is not there. */
  appMissing: boolean;
};

/** `chosen`: the person has already chosen a language, so the partner's does not apply. */
export function App({
  address,
  given,
  words: initial,
  chosen: chosenBefore,
}: {
  address: Address;
  given: Given | null;
  words: Words;
  chosen: boolean;
}) {
  const [words, setWords] = useState(initial);
  const [chosen, setChosen] = useState(chosenBefore);
  // Together with the words themselves: a voice that reads them must not begin in the language before.
  useLayoutEffect(() => {
    markLanguage(words.language);
  }, [words]);
  const choose = (language: Language) => {
    setChosen(true);
    // If the texts cannot be loaded, the page stays as it is; the redraw resets the selection.
    loadWords(language).then(setWords, () => setWords((now) => ({ ...now })));
    try {
      localStorage.setItem("assay:language", language);
    } catch {
      // The choice then lasts until the page is left.
    }
  };
  return (
    <WordsContext value={words}>
      <Page address={address} given={given} chosen={chosen} onWords={setWords} onLanguage={choose} />
    </WordsContext>
  );
}

function Page({
  address,
  given,
  chosen,
  onWords,
  onLanguage,
}: {
  address: Address;
  given: Given | null;
  chosen: boolean;
  onWords: (words: Words) => void;
  onLanguage: (language: Language) => void;
}) {
  const { t } = useWords();
  useLaterSoon();
  const session = useSession(address.sessionId, given);
  const settled = useSessionLanguage(session, chosen, onWords);
  const { details, status, clock } = session;
  const [step, setStep] = useState<string | null>(null);
  const [stepNames, setStepNames] = useState<StepNames>({});
  const open = status !== null && !hasEnded(status);
  const shownStep = () => {
    if (status === null || session.problem !== null) return null;
    if (open) return status.consent_given ? (step ?? stepOfPhase(status, null)?.name ?? null) : "consent";
    // A session that did not succeed has no last step to show as done.
    return status.status === "succeeded" && details?.consent?.withdrawn_at == null ? "done" : null;
  };
  usePartnerPage(session, shownStep());
  const [moved, setMoved] = useState(false);
  const move = useCallback(() => setMoved(true), []);
  return (
    <Layout
      ready={session.problem !== null || (details !== null && settled)}
      details={details}
      // A page that could not be loaded says why itself.
      tellsOffline={session.problem === null || details !== null}
      steps={status === null ? [] : stepsOf(status, open && step === chooseStep ? step : shownStep())}
      step={shownStep()}
      stepNames={stepNames}
      deadline={open && clock !== null ? { clock, expiresAt: status.expires_at } : null}
      onLanguage={onLanguage}
      actions={
        open && status.consent_given && details !== null ? (
          <LeaveControl session={session} name={details.organization.name}>
            {t.cancelButton}
          </LeaveControl>
        ) : open && !moved && canObserveVisibility() ? (
          // If the browser cannot report visibility, the screen itself leads to a tab.
          <TabButton look="quiet" onOpened={move} />
        ) : null
      }
    >
      {details !== null && <ForgottenNotice session={session} name={details.organization.name} />}
      {!settled ? (
        <Loading />
      ) : moved && open ? (
        <MovedScreen hasBegun={status.consent_given} onStay={() => setMoved(false)} />
      ) : (
        <Current
          session={session}
          address={address}
          onStep={setStep}
          onStepNames={setStepNames}
          onMoved={move}
        />
      )}
    </Layout>
  );
}

/**
 * Switches the page to the session's language, once. False until then, so that the language does not change
 * while the person reads. If the texts cannot be loaded, the page stays as it is.
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
  onStepNames,
  onMoved,
}: {
  session: Session;
  address: Address;
  onStep: (step: string | null) => void;
  onStepNames: (names: StepNames) => void;
  /** The person continues in a tab that this framed page opened. */
  onMoved: () => void;
}) {
  const { t } = useWords();
  const { details, status, problem, kept, reload } = session;
  const [kind] = useState<DeviceKind>(() =>
    deviceKindOf(
      readDeviceSigns({ hasBridge: shellTransport() !== null, fromDesk: address.socketToken !== null }),
    ),
  );
  const [otherDevice, setOtherDevice] = useState(kept.otherDevice);
  const [newCode, setNewCode] = useState(false);
  const [responseCode, setResponseCode] = useState(address.responseCode);
  const wallet = useWalletPart(details !== null && takesWallets(details));
  const way = details && wayOf(kind, details.reader_apps, details.sandbox);
  const { offers, offer, choose } = useOffer(session, { kind, way, given: address.offer });
  const byWallet = offer !== null && offer !== "chip";
  const chooses = offer === null && offers.length > 1;
  const stepWords = wallet.part?.words.step;
  const [isStarted, onStarted] = useStarted(kept);
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
  const stepOfOther =
    status === null ? null : (stepOfPhase(status, status.attempt?.step ?? null)?.name ?? null);
  // With the screen, or the bar above it would show the step before for a moment.
  useLayoutEffect(() => {
    if (byWallet) onStep(walletStep);
    else if (chooses) onStep(chooseStep);
    else if (!reading) onStep(stepOfOther);
  }, [byWallet, chooses, reading, stepOfOther, onStep]);
  useLayoutEffect(() => {
    if (stepWords !== undefined)
      onStepNames({
        [walletStep]: stepWords[offer === "age" ? "age" : "wallet"],
        [chooseStep]: stepWords.choose,
      });
  }, [stepWords, offer, onStepNames]);
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
  const readWith = (device: "this" | "other") => {
    kept.otherDevice = device === "other";
    setOtherDevice(device === "other");
  };
  const takeOtherDevice = () => readWith("other");
  const ended = useCallback(() => void reload(), [reload]);
  const cameBack = useCallback(() => setResponseCode(null), []);

  if (problem === "not_found") return <Screen title={t.notFoundTitle} lead={t.notFoundText} icon="link" />;
  // The operator's certificate or registration may have expired since:
  // then no way is left, and none is offered.
  const isStuck = status !== null && !hasEnded(status) && details?.ways?.length === 0;
  const trouble = isStuck ? "service" : details === null ? problem : null;
  if (trouble !== null) {
    const { title, text } = troubleWords(t, trouble);
    return (
      <Screen key={title} title={title} lead={text} icon={trouble === "service" ? "alert" : "offline"}>
        <Button className="w-full sm:w-auto" onClick={() => void reload()}>
          {t.tryAgain}
        </Button>
      </Screen>
    );
  }
  if (details === null || status === null || way === null) return <Loading />;
  if (takesWallets(details) && wallet.part === null) return wallet.instead;
  const words = wallet.part?.words;
  const canReadHere = details.sandbox || shellTransport() !== null;
  const isBound = details.requirements.binding === "required";
  const screen = { session, details, way, appMissing: address.appMissing };
  const elsewhere = (
    <ElsewhereScreen
      key="elsewhere"
      session={session}
      details={details}
      phone={kind === "iphone" ? "iphone" : "android"}
      onOtherDevice={takeOtherDevice}
    />
  );
  if (hasEnded(status)) {
    const outcome = { session, details, status, onDevice };
    return wallet.part !== null && hasWalletFailed(status) ? (
      <wallet.part.screens.WalletFailed {...outcome} words={wallet.part.words} />
    ) : (
      <Later show={{ screen: "outcome", ...outcome }} />
    );
  }
  if (wallet.part !== null && responseCode !== null)
    return (
      <wallet.part.screens.BackScreen
        session={session}
        code={responseCode}
        onDone={cameBack}
        words={wallet.part.words}
      />
    );
  const onlyChip = offers.length === 1 && offer === "chip";
  if (!status.consent_given || kept.isAgreeing) {
    if (onlyChip && way.by === "app" && !details.sandbox && !otherDevice)
      return (
        <BeginInAppScreen
          key="app"
          session={session}
          details={details}
          way={way}
          missing={address.appMissing}
          onOtherDevice={takeOtherDevice}
        />
      );
    if (onlyChip && way.by === "elsewhere" && !otherDevice) return elsewhere;
    if (onlyChip && way.by === "counter" && !otherDevice)
      return <CounterScreen key="counter" session={session} details={details} onHere={takeOtherDevice} />;
    // A wallet is asked in a tab, which is another browser to the service than the frame that agreed.
    const needsTab = !canObserveVisibility() || (!onlyChip && (isBound || !offers.includes("chip")));
    if (displayContext() === "frame" && needsTab)
      return <ConsentInTabScreen key="tab" details={details} onOpened={onMoved} />;
    if (onlyChip && isBound && !canReadHere) return <OtherBrowserScreen name={details.organization.name} />;
    return (
      <OpenHere key="consent" session={session} details={details}>
        <ConsentGate onOpened={onMoved}>
          <ConsentScreen
            session={session}
            details={details}
            way={way}
            offers={offers}
            wallet={wallet.part?.screens.consentToWallet(wallet.part.words, details, offers) ?? null}
            onAgreed={ended}
            onThisDevice={otherDevice ? () => readWith("this") : null}
          />
        </ConsentGate>
      </OpenHere>
    );
  }
  if (wallet.part !== null && offer !== "chip") {
    if (isBound && kept.returnCode === null) return <OtherBrowserScreen name={details.organization.name} />;
    return (
      <wallet.part.screens.WalletWay
        {...{ session, details, status, kind, offers, offer, onMoved }}
        cameBack={address.responseCode !== null}
        onOffer={choose}
        words={wallet.part.words}
      />
    );
  }
  // A device that cannot read must not take the session from one that can. One that continues for a desk
  // reader uses the desk's attempt and takes nothing.
  const goesOn = kept.reading !== null && kept.reading.socketToken !== null;
  if (reading && canReadHere && kept.reading?.handoffToken != null && !isStarted)
    return <Later show={{ screen: "started", details, onStarted }} />;
  if (reading && (canReadHere || goesOn))
    return (
      <Later
        show={{
          screen: "reading",
          session,
          details,
          onStep,
          onEnded: ended,
          onLeave: onDevice ? null : leaveReading,
        }}
      />
    );
  if (status.status === "in_progress" && !isAtWallet(status) && !newCode)
    return (
      <Later
        show={{
          screen: "follow",
          session,
          status,
          onNewCode: onDevice ? null : () => setNewCode(true),
          onResume: canReadHere && kept.hasTakenPart() ? readHere : null,
        }}
      />
    );
  if (reading) return <Later show={{ screen: "scanned", ...screen, kind }} />;
  if (isBound && kept.returnCode === null) return <OtherBrowserScreen name={details.organization.name} />;
  const isElsewhere = way.by === "elsewhere" && !otherDevice;
  const mark = onlyChip ? "" : `&${offerMark}=chip`;
  return (
    <div className="space-y-5">
      {isElsewhere ? (
        elsewhere
      ) : (
        <Later show={{ screen: "handoff", ...screen, mark, onReadHere: readHere, onDevice: readWith }} />
      )}
      {!onlyChip && (
        <Actions>
          <Button look="secondary" onClick={() => choose(null)}>
            {words?.choose.back}
          </Button>
        </Actions>
      )}
    </div>
  );
}
