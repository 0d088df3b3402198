import type { VerifyFaultCode } from "@assay/contract/verify-protocol";
import type { DeviceView } from "@assay/device/device-view";
import type { ChipSource } from "@assay/device/drive-device";
import { Button } from "@assay/ui/button";
import { HoldPhone } from "@assay/ui/hold-phone";
import { ChipPlace } from "@assay/ui/illustrations";
import { Notice } from "@assay/ui/notice";
import { useEffect, useLayoutEffect, useState, useSyncExternalStore } from "react";
import { shellTransport } from "../device/chip-transport.ts";
import { failureWords, triesWords, useWords } from "../i18n/language.ts";
import type { Messages } from "../i18n/messages.ts";
import type { PageDevice } from "../reading/page-device.ts";
import { countRefusals, isSentBack, nothingRefused } from "../reading/refused-keys.ts";
import { useReaderState } from "../reading/use-reader-state.ts";
import type { Details } from "../session/api.ts";
import type { Session } from "../session/use-session.ts";
import { LostConnection, useOnline, useWhenBack } from "../ui/connection.tsx";
import { loadPart } from "../ui/load-part.ts";
import { Card, Screen, useAnnounce } from "../ui/screen.tsx";
import { usePart } from "../ui/use-part.tsx";
import { AccessByCamera, nothingTyped, type Typing } from "./access-form.tsx";
import { FaceStep } from "./face-step.tsx";
import { RequiredOfDocument } from "./required-of-document.tsx";
import { TestDocuments } from "./test-documents.tsx";
import { WhoHelps } from "./who-helps.tsx";

/** This device reads: it holds the socket, and shows the step whose turn it is. */
export function ReadingScreen({
  session,
  details: { sandbox, requirements, organization },
  onStep,
  onEnded,
  onLeave,
}: {
  session: Session;
  details: Details;
  onStep: (step: string) => void;
  onEnded: () => void;
  onLeave: (() => void) | null;
}) {
  const { t } = useWords();
  const { device, state, notLoaded } = usePageDevice(session);
  const inFace = state?.phase?.startsWith("face") ?? false;
  // With the screen, or the bar above it would show the step before for a moment.
  useLayoutEffect(() => onStep(inFace ? "face" : "chip"), [onStep, inFace]);
  const ended =
    state !== null &&
    (state.outcome !== null || state.refused === "SESSION_ENDED" || state.refused === "SESSION_EXPIRED");
  useEffect(() => {
    if (ended) onEnded();
  }, [ended, onEnded]);
  const [typed, setTyped] = useState(nothingTyped);
  const sentBack = useRefusedKeys(state, () => setTyped(nothingTyped));

  if (notLoaded !== null) return notLoaded;
  if (device === null || state === null) return <Screen title={t.claimTitle} lead={t.claimLead} />;
  if (state.refused !== null && !ended)
    return (
      <Refused
        code={state.refused}
        onLeave={onLeave}
        // The device that agreed can change devices with its consent token; any other needs a new link.
        organization={session.kept.cancelToken === null ? organization : null}
      />
    );
  const connection = <LostConnection connected={state.connection !== "lost"} />;
  if (state.connection === "gone") return <Disconnected onRetry={() => device.retry()} />;
  if (state.phase === null || ended)
    return (
      <Screen title={t.claimTitle} lead={t.claimLead}>
        {connection}
      </Screen>
    );
  if (inFace)
    return (
      <FaceStep key="face" device={device} state={state} onOtherDevice={onLeave}>
        {connection}
        <Setbacks state={state} />
      </FaceStep>
    );
  if (state.reading || state.phase !== "chip")
    return (
      <Progress
        key="progress"
        state={state}
        onBeginAgain={() => {
          // The reader may still show its dialogue for an aborted reading.
          shellTransport()?.cancel();
          device.beginAgain();
        }}
      >
        {connection}
      </Progress>
    );
  return (
    <Choose
      key="choose"
      session={session}
      sandbox={sandbox}
      typing={{ typed, setTyped }}
      onSource={(source) => device.readChip(source)}
    >
      {connection}
      <Setbacks state={state} />
      {sentBack && (
        <Notice look="warn" title={t.scan.refusedTitle} urgent>
          <p>{t.scan.refusedText}</p>
        </Notice>
      )}
      {state.failure === null && <RequiredOfDocument requirements={requirements} />}
    </Choose>
  );
}

/** True after the chip refused three scanned or typed keys in a row; the fields are then cleared. */
function useRefusedKeys(state: DeviceView | null, onSentBack: () => void): boolean {
  const [refused, setRefused] = useState(nothingRefused);
  useEffect(() => setRefused((before) => countRefusals(before, state)), [state]);
  const sentBack = isSentBack(refused);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each time that it happens.
  useEffect(() => {
    if (sentBack) onSentBack();
  }, [sentBack]);
  return sentBack;
}

const neverChanges = () => () => {};
const nothingYet = () => null;

const loadDevice = () => loadPart(() => import("../reading/page-device.ts"));

/**
 * Loads the device's end of the protocol, which consent does not need, and runs it while the screen is shown.
 */
function usePageDevice({ api, kept }: Session) {
  const { part, failed, instead } = usePart(loadDevice);
  const [device, setDevice] = useState<PageDevice | null>(null);
  useEffect(() => {
    if (part === null) return;
    const started = new part.PageDevice(api, kept);
    started.start();
    setDevice(started);
    return () => started.stop();
  }, [part, api, kept]);
  const state = useSyncExternalStore<DeviceView | null>(
    device?.subscribe ?? neverChanges,
    device?.state ?? nothingYet,
  );
  return { device, state, notLoaded: failed ? instead : null };
}

function Disconnected({ onRetry }: { onRetry: () => void }) {
  const { t } = useWords();
  const online = useOnline();
  useWhenBack(onRetry);
  // The page says already that it is offline.
  if (!online) return <Screen title={t.claimTitle} />;
  return (
    <Screen title={t.noAnswerTitle} lead={t.connectionGone} icon="offline">
      <Button onClick={onRetry}>{t.connectionRetry}</Button>
    </Screen>
  );
}

function Choose({
  session,
  sandbox,
  typing,
  onSource,
  children,
}: {
  session: Session;
  sandbox: boolean;
  typing: Typing;
  onSource: (source: ChipSource) => void;
  children: React.ReactNode;
}) {
  const { t } = useWords();
  const shell = shellTransport();
  if (shell !== null && !sandbox)
    return (
      <Screen title={t.accessTitle} lead={t.accessLead} picture={<ChipPlace />}>
        {children}
        <ReaderNotice />
        <AccessByCamera shell={shell} typing={typing} onSource={onSource} />
      </Screen>
    );
  // Without a reader this page continues for a desk, and the process that held the chip has ended.
  if (!sandbox)
    return (
      <Screen title={t.deskAgainTitle} lead={t.deskAgainText} icon="chip">
        {children}
        <p>{t.noTryUsed}</p>
      </Screen>
    );
  return (
    <Screen title={t.pickTitle} lead={t.pickLead}>
      {children}
      <TestDocuments session={session} onSource={onSource} />
      {shell !== null && (
        <Card title={t.readHereTitle}>
          <p>{t.accessLead}</p>
          <ReaderNotice />
          <AccessByCamera shell={shell} typing={typing} onSource={onSource} />
        </Card>
      )}
    </Screen>
  );
}

/** Shown before the person types, and gone when they return from the settings. */
function ReaderNotice() {
  const { t } = useWords();
  const shell = shellTransport();
  const state = useReaderState(shell);
  if (state === "ready") return null;
  if (state === "absent")
    return (
      <Notice look="warn" title={t.nfcAbsent} urgent>
        <p>{t.nfcAbsentText}</p>
      </Notice>
    );
  return (
    <Notice look="warn" title={t.nfcOff} urgent>
      <p>{t.nfcOffText}</p>
      {shell?.openReaderSettings !== undefined && (
        <Button look="secondary" onClick={() => shell.openReaderSettings?.()}>
          {t.nfcOffButton}
        </Button>
      )}
    </Notice>
  );
}

/** Where to hold which document, until the chip is found. */
function HowToHold() {
  const { t } = useWords();
  const antenna = shellTransport()?.antenna ?? null;
  return (
    <div className="space-y-1">
      {antenna !== null && <p className="font-semibold">{t.holdAt[antenna.at]}</p>}
      <p className="text-small text-muted">{t.holdHow}</p>
    </div>
  );
}

/** What failed so far, and what to do about it. */
function Setbacks({ state }: { state: DeviceView }) {
  const { t } = useWords();
  const problems = {
    lost: t.chipLost,
    key: t.chipKeyWrong,
    unreadable: t.chipUnreadable,
    unsupported: t.chipUnsupported,
    device: t.chipReaderFailed,
  } as const;
  const { failure, problem, fault, triesLeft } = state;
  const failed = failure === null ? null : failureWords(t, failure.code, failure.unmetRequirement);
  return (
    <>
      {failure !== null && failed !== null && (
        <Notice look="warn" title={failed.title} urgent>
          <p>
            {failed.text} {failed.next}
          </p>
          {triesLeft !== null && <p className="font-semibold">{triesWords(t, triesLeft[failure.step])}</p>}
        </Notice>
      )}
      {problem !== null && (
        <Notice look="warn" title={problems[problem]} urgent>
          <p>{t.noTryUsed}</p>
        </Notice>
      )}
      {fault !== null && <FaultNotice fault={fault} />}
    </>
  );
}

function FaultNotice({ fault }: { fault: VerifyFaultCode }) {
  const { title, text } = faultWords(useWords().t, fault);
  return (
    <Notice look="warn" title={title} urgent>
      <p>{text}</p>
    </Notice>
  );
}

/** None of them uses up a try. */
function faultWords(t: Messages, fault: VerifyFaultCode): { title: string; text: string } {
  switch (fault) {
    case "FACE_CHECK_BUSY":
      return { title: t.faceBusyTitle, text: t.faceBusyText };
    case "PORTRAIT_UNUSABLE":
      return { title: t.facePortraitTitle, text: t.facePortraitText };
    case "FACE_CHECK_UNAVAILABLE":
      return { title: t.troubleTitle, text: t.faceUnavailable };
    default:
      return { title: t.troubleTitle, text: t.troubleText };
  }
}

const order = ["connecting", "opening", "data", "portrait", "sending", "checking", "proof"] as const;
/** Progress at the start of each step, by about how long the steps take; the portrait takes longest. */
const doneBefore: readonly number[] = [0, 0.05, 0.15, 0.3, 0.75, 0.85, 0.95, 1];

/** Overall progress, with this part of the step. */
function shareDone(at: (typeof order)[number], part: number): number {
  const [from = 0, to = 1] = doneBefore.slice(order.indexOf(at));
  return from + part * (to - from);
}

/**
 * A reader may never answer: its program hangs, or waits for an invisible dialogue. Shorter: people who are
 * still taking out the document get a warning. Longer: they think that the page is dead.
 */
const silentAfterMs = 20_000;

function useSilence(step: DeviceView["step"]): boolean {
  const waitsForChip = step !== null && step.at !== "sending" && step.at !== "checking";
  const [silent, setSilent] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every step and every byte is a sign of life.
  useEffect(() => {
    setSilent(false);
    if (!waitsForChip) return;
    const timer = setTimeout(() => setSilent(true), silentAfterMs);
    return () => clearTimeout(timer);
  }, [step, waitsForChip]);
  return silent;
}

function Progress({
  state,
  onBeginAgain,
  children,
}: {
  state: DeviceView;
  onBeginAgain: () => void;
  children: React.ReactNode;
}) {
  const { t, percent } = useWords();
  const announce = useAnnounce();
  const names = {
    connecting: t.readConnecting,
    opening: t.readOpening,
    data: t.readData,
    portrait: t.readPortrait,
    sending: t.readSending,
    checking: t.readChecking,
    proof: t.readProof,
  } as const;
  const { step } = state;
  const online = useOnline();
  // Without a network the chip is not the cause.
  const silent = useSilence(step) && online;
  const at = step?.at ?? (state.phase === "chip_proof" ? "proof" : "checking");
  useEffect(() => announce(names[at]), [announce, at, names[at]]);
  const share = shareDone(at, step !== null && "totalBytes" in step ? step.readBytes / step.totalBytes : 0);
  const finding = at === "connecting";
  return (
    <Screen
      title={t.readingTitle}
      lead={t.holdStill}
      picture={<HoldPhone antenna={shellTransport()?.antenna ?? null} found={!finding} />}
    >
      {children}
      <Card>
        <div className="flex items-baseline justify-between gap-3">
          <p className="min-w-0 text-part font-semibold">{names[at]}</p>
          {/* The bar says the same to who does not see it. */}
          {!finding && (
            <p aria-hidden="true" className="text-title leading-none font-bold tabular-nums">
              {percent(share)}
            </p>
          )}
        </div>
        <progress aria-label={names[at]} max={1} value={share} className="block h-3 w-full" />
      </Card>
      {finding && shellTransport() !== null && <HowToHold />}
      {finding && <ReaderNotice />}
      {state.busy && <Notice look="info" title={t.readBusy} urgent />}
      {silent && (
        <Notice look="warn" title={t.readerSilent} urgent>
          <p>{t.readerSilentText}</p>
          <Button look="secondary" onClick={onBeginAgain}>
            {t.beginAgain}
          </Button>
        </Notice>
      )}
    </Screen>
  );
}

function Refused({
  code,
  onLeave,
  organization,
}: {
  code: string;
  onLeave: (() => void) | null;
  organization: Details["organization"] | null;
}) {
  const { t } = useWords();
  const texts: Readonly<Record<string, readonly [string, string]>> = {
    HANDOFF_TOKEN_EXPIRED: [t.handoffExpiredTitle, t.handoffExpiredText],
    HANDOFF_TOKEN_CONSUMED: [t.handoffConsumedTitle, t.handoffConsumedText],
    HANDOFF_TOKEN_INVALID: [t.handoffInvalidTitle, t.handoffInvalidText],
    HANDOFF_DEVICE_MISMATCH: [t.handoffMismatchTitle, t.handoffMismatchText],
    REPLACED: [t.takenTitle, t.takenText],
  };
  const [title, text] = texts[code] ?? [t.troubleTitle, t.troubleText];
  return (
    <Screen title={title} lead={text} icon={code.startsWith("HANDOFF") ? "code" : "phone"}>
      {code === "HANDOFF_DEVICE_MISMATCH" && organization !== null ? (
        <>
          <p>{t.handoffLostAll(organization.name)}</p>
          <WhoHelps organization={organization} />
        </>
      ) : (
        onLeave !== null && (
          <Button className="w-full sm:w-auto" onClick={onLeave}>
            {t.tryAgain}
          </Button>
        )
      )}
    </Screen>
  );
}
