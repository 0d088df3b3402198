import { triesAllowed } from "@assay/contract/facts";
import type { DeviceView } from "@assay/device/device-flow";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { placeNow } from "../embed/place.ts";
import { type CameraProblem, closeCamera, openCamera } from "../face/camera.ts";
import { useWords } from "../i18n/language.ts";
import type { PageDevice } from "../reading/page-device.ts";
import { Button } from "../ui/button.tsx";
import { Notice } from "../ui/notice.tsx";
import { Card, Screen } from "../ui/screen.tsx";
import type { FaceCamera } from "./face-camera.tsx";
import type { FaceStop } from "./use-face-camera.ts";

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
  const { shown, problem, opening, open, close } = useCamera();
  const [stopped, setStopped] = useState<FaceStop | null>(null);
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
    // Clears the verdict or fault of the previous try: while there is one, the effect above closes the camera at once.
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
    <Screen key={episode} title={t.faceTitle} lead={simulated ? t.faceSimulatedLead : t.faceLead}>
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
          <Button busy={state.faceWaits} onClick={() => device.startFace("test_document")}>
            {state.faceWaits ? t.working : t.faceSimulatedStart}
          </Button>
          {state.faceWaits && <p role="status">{t.faceWaits}</p>}
          <Card title={t.faceWithCameraTitle}>
            <p>{t.faceWithCameraText}</p>
            <Explanation again={again} />
            <Button look="secondary" busy={opening} onClick={start}>
              {t.faceUseCamera}
            </Button>
          </Card>
        </>
      )}
      {state.face === "camera" && (
        <>
          <Card>
            <Explanation again={again} />
          </Card>
          <Button busy={opening} onClick={start}>
            {t.faceStart}
          </Button>
        </>
      )}
      {shown !== null && !over && (
        <shown.FaceCamera device={device} state={state} stream={shown.stream} onStop={stop} />
      )}
    </Screen>
  );
}

type NoCameraReason = CameraProblem | "not_loaded";

/** Opens the camera, and loads its code only now, because not everybody gets this far. */
function useCamera() {
  const [shown, setShown] = useState<{ stream: MediaStream; FaceCamera: typeof FaceCamera } | null>(null);
  const [problem, setProblem] = useState<NoCameraReason | null>(null);
  const [opening, setOpening] = useState(false);
  const current = useRef<MediaStream | null>(null);
  const left = useRef(false);
  const close = useCallback(() => {
    if (current.current !== null) closeCamera(current.current);
    current.current = null;
    setShown(null);
  }, []);
  useEffect(() => {
    left.current = false;
    return () => {
      left.current = true;
      close();
    };
  }, [close]);
  const open = useCallback(async () => {
    setOpening(true);
    setProblem(null);
    const loaded = await import("./face-camera.tsx").catch(() => null);
    const stream = loaded === null ? "not_loaded" : await openCamera();
    setOpening(false);
    if (typeof stream === "string") setProblem(stream);
    else if (left.current) closeCamera(stream);
    else if (loaded !== null) {
      current.current = stream;
      setShown({ stream, FaceCamera: loaded.FaceCamera });
    }
  }, []);
  return { shown, problem, opening, open, close };
}

/** Explains what will happen before the camera is on. On a second visit it is folded, so that the button is within reach. */
function Explanation({ again }: { again: boolean }) {
  const { t } = useWords();
  if (!again) return <Everything />;
  return (
    <details>
      <summary className="cursor-pointer font-semibold">{t.faceExplained.happens.title}</summary>
      <div className="mt-3 space-y-3">
        <Everything />
      </div>
    </details>
  );
}

function Everything() {
  const { t } = useWords();
  const { happens, colours, kept, permission } = t.faceExplained;
  return (
    <>
      <Explained {...happens} />
      <Notice look="warn" title={colours.title} level={3}>
        <p>{colours.text}</p>
      </Notice>
      <Explained {...kept} />
      <Explained {...permission} />
    </>
  );
}

function Explained({ title, text }: { title: string; text: string }) {
  return (
    <div>
      <h3 className="font-semibold">{title}</h3>
      <p>{text}</p>
    </div>
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
      {problem === "denied" && placeNow() === "frame" && <p>{t.faceNoCamera.framed.text}</p>}
      <p>{onOtherDevice === null ? t.faceOtherDeviceFromThere : t.faceOtherDevice}</p>
      {onOtherDevice !== null && (
        <Button look="secondary" onClick={onOtherDevice}>
          {t.otherNewCode}
        </Button>
      )}
    </Notice>
  );
}
