import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { useWords } from "../i18n/language.ts";
import type { FacePrompt } from "../reading/capture-face.ts";
import type { DeviceSession, DeviceState } from "../reading/device-session.ts";
import { Button } from "../ui/button.tsx";
import { Notice } from "../ui/notice.tsx";
import { Card, Screen, useAnnounce } from "../ui/screen.tsx";

export function FaceStep({
  device,
  state,
  children,
}: {
  device: DeviceSession;
  state: DeviceState;
  children: ReactNode;
}) {
  const { t } = useWords();
  const announce = useAnnounce();
  const video = useRef<HTMLVideoElement>(null);
  const stream = useRef<MediaStream | null>(null);
  const [cameraOn, setCameraOn] = useState(false);
  const [denied, setDenied] = useState(false);
  const [prompt, setPrompt] = useState<FacePrompt | null>(null);

  const release = useCallback(() => {
    for (const track of stream.current?.getTracks() ?? []) track.stop();
    stream.current = null;
  }, []);
  useEffect(() => release, [release]);

  const words = prompt === null ? null : prompt === "ahead" ? t.faceLookAhead : t.faceMovement[prompt];
  useEffect(() => {
    if (words !== null) announce(words);
  }, [announce, words]);
  const checking = state.phase === "face_check";
  useEffect(() => {
    if (checking) announce(t.faceChecking);
  }, [announce, checking, t]);

  const start = async () => {
    if (state.face !== "camera") {
      device.startFace(null);
      return;
    }
    setDenied(false);
    try {
      const { faceCapture, openCamera } = await import("../reading/capture-face.ts");
      stream.current = await openCamera();
      setCameraOn(true);
      const element = video.current;
      if (element === null) return;
      element.srcObject = stream.current;
      await element.play();
      const capture = faceCapture(element, setPrompt);
      device.startFace(async (...args) => {
        try {
          await capture(...args);
        } finally {
          setPrompt(null);
          setCameraOn(false);
          release();
        }
      });
    } catch {
      release();
      setCameraOn(false);
      setDenied(true);
    }
  };

  const simulated = state.face === "simulated";
  const waiting = state.phase === "face" && !cameraOn;
  return (
    <Screen title={t.faceTitle} lead={simulated ? t.faceSimulatedLead : t.faceLead}>
      {children}
      {state.face === "unavailable" && <Notice look="warn" title={t.faceUnavailable} />}
      {denied && <Notice look="warn" title={t.faceCameraDenied} urgent />}
      {state.face === "camera" && (
        <>
          <div className={cameraOn ? "space-y-3" : "hidden"}>
            <p className="min-h-8 text-center text-xl font-semibold">{words}</p>
            {/* Mirrored, because that is how people know their face. */}
            <video
              ref={video}
              muted
              playsInline
              aria-label={t.faceCameraLabel}
              className="mx-auto aspect-[3/4] w-full max-w-xs -scale-x-100 rounded-[50%] bg-soft object-cover"
            />
          </div>
          {!cameraOn && <p className="text-muted">{t.facePrivacy}</p>}
        </>
      )}
      {checking && (
        <Card>
          <p className="flex items-center gap-3 text-lg font-medium">
            <span aria-hidden="true" className="size-3 flex-none animate-pulse rounded-full bg-accent" />
            {state.busy ? t.readBusy : t.faceChecking}
          </p>
        </Card>
      )}
      {waiting && state.face !== "unavailable" && (
        <Button onClick={() => void start()}>{simulated ? t.faceSimulatedStart : t.faceStart}</Button>
      )}
    </Screen>
  );
}
