import { triesAllowed } from "@assay/contract/facts";
import type { DeviceView } from "@assay/device/device-view";
import { Button } from "@assay/ui/button";
import { Fold, Folds } from "@assay/ui/fold";
import { FaceInOval } from "@assay/ui/illustrations";
import { Notice } from "@assay/ui/notice";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { displayContext } from "../device/display-context.ts";
import { keepSpeech, wantsSpeech } from "../face/speak.ts";
import { useWords } from "../i18n/language.ts";
import type { PageDevice } from "../reading/page-device.ts";
import { Card, Points, Screen } from "../ui/screen.tsx";
import type { FaceStop } from "./use-face-camera.ts";
import { type NoCameraReason, useLentCamera } from "./use-lent-camera.ts";

export function FaceStep({
  device,
  state,
  onOtherDevice,
  children,
}: {
  device: PageDevice;
  state: DeviceView;
  /** Shows a code for another device; null where this is the other device. */
  onOtherDevice: (() => void) | null;
  children: ReactNode;
}) {
  const { t } = useWords();
  const [problem, setProblem] = useState<NoCameraReason | null>(null);
  const { shown, opening, open, close } = useLentCamera(loadFaceCamera, "user", setProblem);
  const [stopped, setStopped] = useState<FaceStop | null>(null);
  const [stillHead, setStillHead] = useState(false);
  const [speaks, setSpeaks] = useState(wantsSpeech);
  const ways = (
    <Ways
      stillHead={stillHead}
      onStillHead={setStillHead}
      speaks={speaks}
      onSpeaks={(wanted) => {
        keepSpeech(wanted);
        setSpeaks(wanted);
      }}
    />
  );
  const stop = useCallback(
    (why: FaceStop) => {
      device.stopFace();
      setStopped(why);
      close();
    },
    [device, close],
  );
  // On a verdict, a fault, or while the frames are judged, the camera is no longer needed.
  const over = state.phase === "face_check" || state.failure !== null || state.fault !== null;
  useEffect(() => {
    if (over) close();
  }, [over, close]);
  const start = () => {
    // Clears the verdict or fault of the previous try: otherwise the effect above closes the camera at once.
    device.forgetSetbacks();
    setStopped(null);
    void open();
  };

  if (state.phase === "face_check")
    return (
      <Screen key="check" title={t.faceChecking} lead={state.busy ? t.readBusy : t.faceCheckingLead}>
        {children}
        <Card>
          <p className="flex items-center gap-3">
            <span aria-hidden="true" className="size-3 flex-none animate-pulse rounded-full bg-accent" />
            {t.facePrivacy}
          </p>
        </Card>
      </Screen>
    );
  const simulated = state.face === "simulated";
  const again = stopped !== null || over || (state.triesLeft !== null && state.triesLeft.face < triesAllowed);
  // A new key makes a new screen whenever the camera comes or goes, which moves the focus to what happened.
  const episode = shown === null ? `start ${problem ?? stopped}` : "camera";
  return (
    <Screen
      key={episode}
      title={t.faceTitle}
      lead={simulated ? t.faceSimulatedLead : t.faceLead}
      picture={again ? undefined : <FaceInOval className="max-w-52" />}
    >
      {children}
      {state.face === "unavailable" && <Notice look="warn" title={t.faceUnavailable} />}
      {stopped !== null && stopped !== "person" && (
        <Notice look="warn" title={t.faceStopped[stopped]} urgent>
          <p>{t.noTryUsed}</p>
        </Notice>
      )}
      {problem !== null && <NoCamera problem={problem} onOtherDevice={onOtherDevice} />}
      {simulated && (
        <>
          <div className="space-y-2">
            <Button
              className="w-full sm:w-auto"
              busy={state.faceWaits}
              onClick={() => device.startFace("test_document")}
            >
              {state.faceWaits ? t.working : t.faceSimulatedStart}
            </Button>
            {state.faceWaits && <p role="status">{t.faceWaits}</p>}
          </div>
          <Card title={t.faceWithCameraTitle}>
            <p>{t.faceWithCameraText}</p>
            <Flashes />
            {ways}
            <Button look="secondary" className="w-full sm:w-auto" busy={opening} onClick={start}>
              {t.faceUseCamera}
            </Button>
          </Card>
          <Explained />
        </>
      )}
      {state.face === "camera" && (
        <>
          {!again && <Advice />}
          <Flashes />
          {ways}
          <Explained />
          <div className="in-reach">
            <Button className="w-full sm:w-auto" busy={opening} onClick={start}>
              {t.faceStart}
            </Button>
          </div>
        </>
      )}
      {shown !== null && !over && (
        <shown.code.FaceCamera
          device={device}
          state={state}
          stream={shown.stream}
          stillHead={stillHead}
          speaks={speaks}
          onStop={stop}
          onStillHead={() => {
            setStillHead(true);
            stop("person");
          }}
        />
      )}
    </Screen>
  );
}

const loadFaceCamera = () => import("./face-camera.tsx");

/** Other ways through this step: for who cannot turn the head, and for who does not see the instructions. */
function Ways({
  stillHead,
  onStillHead,
  speaks,
  onSpeaks,
}: {
  stillHead: boolean;
  onStillHead: (stillHead: boolean) => void;
  speaks: boolean;
  onSpeaks: (speaks: boolean) => void;
}) {
  const { t } = useWords();
  return (
    <div className="space-y-3">
      {stillHead && (
        <Notice look="info" title={t.faceGentle.title}>
          <p>{t.faceGentle.text}</p>
        </Notice>
      )}
      {/* Its words begin where those around it do. */}
      <Button look="quiet" className="-ms-5" onClick={() => onStillHead(!stillHead)}>
        {stillHead ? t.faceGentle.back : t.faceGentle.choose}
      </Button>
      {"speechSynthesis" in globalThis && (
        <label className="flex items-start gap-3">
          <input type="checkbox" checked={speaks} onChange={(event) => onSpeaks(event.target.checked)} />
          <span>{t.faceSpeak}</span>
        </label>
      )}
    </div>
  );
}

/** Hints at a glance. */
function Advice() {
  const { t } = useWords();
  const { light, bare, alone } = t.faceAdvice;
  return (
    <Points
      points={[
        ["light", light],
        ["glasses", bare],
        ["face", alone],
      ]}
    />
  );
}

/** Flashing light can harm some people, so this is never folded. */
function Flashes() {
  const { t } = useWords();
  const { title, text } = t.faceExplained.colours;
  return (
    <Notice look="warn" title={title}>
      <p>{text}</p>
    </Notice>
  );
}

function Explained() {
  const { t } = useWords();
  const { happens, kept, permission } = t.faceExplained;
  return (
    <Folds>
      <Fold title={happens.title} icon="info">
        <p>{happens.text}</p>
      </Fold>
      <Fold title={kept.title} icon="lock">
        <p>{kept.text}</p>
      </Fold>
      <Fold title={permission.title} icon="camera">
        <p>{permission.text}</p>
      </Fold>
    </Folds>
  );
}

function NoCamera({
  problem,
  onOtherDevice,
}: {
  problem: NoCameraReason;
  onOtherDevice: (() => void) | null;
}) {
  const { t } = useWords();
  return (
    <Notice look="warn" title={t.faceNoCamera[problem].title} urgent>
      <p>{t.faceNoCamera[problem].text}</p>
      {problem === "denied" && displayContext() === "frame" && <p>{t.faceNoCamera.framed.text}</p>}
      <p>{onOtherDevice === null ? t.faceOtherDeviceFromThere : t.faceOtherDevice}</p>
      {onOtherDevice !== null && (
        <Button look="secondary" onClick={onOtherDevice}>
          {t.otherNewCode}
        </Button>
      )}
    </Notice>
  );
}
