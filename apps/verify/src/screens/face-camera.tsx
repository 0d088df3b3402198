import type { FaceColour } from "@assay/contract/verify-protocol";
import type { DeviceView } from "@assay/device/device-view";
import { Button } from "@assay/ui/button";
import { useEffect, useId, useLayoutEffect, useRef } from "react";
import type { CaptureView } from "../face/capture-face.ts";
import { PromptPicture } from "../face/prompt-picture.tsx";
import type { FacePrompt } from "../face/prompt-schedule.ts";
import { createSpeaker } from "../face/speak.ts";
import { type Language, useWords } from "../i18n/language.ts";
import type { Messages } from "../i18n/messages.ts";
import type { PageDevice } from "../reading/page-device.ts";
import { type FaceStop, useFaceCamera } from "./use-face-camera.ts";

/** The screen is the lamp: each colour at its full strength. */
const lamps: Readonly<Record<FaceColour, string>> = {
  red: "bg-[#ff0000] text-[#ff0000]",
  green: "bg-[#00ff00] text-[#00ff00]",
  blue: "bg-[#0000ff] text-[#0000ff]",
  white: "bg-[#ffffff] text-[#ffffff]",
};

/** Fills the screen from opening the camera to the last picture. The parent component closes the camera. */
export function FaceCamera({
  device,
  state,
  stream,
  stillHead,
  speaks,
  onStop,
  onStillHead,
}: {
  device: PageDevice;
  state: DeviceView;
  stream: MediaStream;
  stillHead: boolean;
  speaks: boolean;
  onStop: (why: FaceStop) => void;
  /** The person cannot make the requested movements. */
  onStillHead: () => void;
}) {
  const { t, language } = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  const video = useRef<HTMLVideoElement>(null);
  const title = useId();
  const { guidance, framing, started, view, start } = useFaceCamera(device, stream, video, {
    stillHead,
    onStop,
  });
  useLayoutEffect(() => dialog.current?.showModal(), []);
  useLayoutEffect(() => {
    // The button that had the focus is gone; a screen reader must not fall out of the dialog with it.
    if (started) dialog.current?.focus();
  }, [started]);

  const waiting = state.connection === "lost" ? t.connectionLost : state.faceWaits ? t.faceWaits : t.working;
  const hints = { loading: t.faceGuideLoading, none: t.faceNoGuide, working: null } as const;
  const hint = started ? waiting : (hints[guidance] ?? t.faceFraming[framing ?? "no_face"]);
  const instruction = view === null ? hint : wordsOf(t, view.prompt);
  useSpoken(speaks ? instruction : null, language);
  return (
    <dialog
      ref={dialog}
      tabIndex={-1}
      aria-labelledby={title}
      data-testid="face-colour"
      data-colour={view?.colour}
      onCancel={(event) => {
        event.preventDefault();
        onStop("person");
      }}
      className={`m-0 h-dvh max-h-none w-dvw max-w-none p-3 outline-none ${view === null ? "bg-paper text-paper" : lamps[view.colour]}`}
    >
      <div className="mx-auto flex h-full max-w-xl flex-col items-center gap-3">
        <h1 id={title} className="sr-only">
          {t.faceTitle}
        </h1>
        {/* Overlaps the oval's rim and fits its text; the rest is lamp. A fixed height keeps it still. */}
        <div className="relative z-1 -mb-13 flex min-h-32 w-full items-end justify-center">
          <div className="rounded-3xl bg-[#101513] px-4 py-2 text-white">
            <div aria-live="assertive" aria-atomic="true">
              {view === null ? (
                <p className="text-center text-lg font-semibold">{hint}</p>
              ) : (
                <Instruction prompt={view.prompt} />
              )}
            </div>
            {view !== null && view.movement > 0 && (
              <p className="text-center text-small">
                {t.faceProgress({ movement: view.movement, movements: view.movements })}
              </p>
            )}
          </div>
        </div>
        <div className="relative aspect-[3/4] max-h-[calc((100vw-1.5rem)*4/3)] min-h-0 flex-1">
          {/* Mirrored, because that is how people know their face. */}
          <video
            ref={video}
            muted
            playsInline
            aria-label={t.faceCameraLabel}
            className="size-full -scale-x-100 rounded-2xl bg-black object-cover"
          />
          <Oval
            look={view !== null ? "lit" : framing === "good" && guidance === "working" ? "good" : "open"}
            share={view === null ? 0 : shareDone(view)}
          />
        </div>
        <div className="flex w-full flex-wrap justify-center gap-3">
          {!started && <Button onClick={start}>{t.faceStartNow}</Button>}
          <Button look="secondary" onClick={() => onStop("person")}>
            {t.faceStop}
          </Button>
          {!stillHead && (
            <Button look="secondary" onClick={onStillHead}>
              {t.faceGentle.choose}
            </Button>
          )}
        </div>
      </div>
    </dialog>
  );
}

function wordsOf(t: Messages, prompt: FacePrompt): string {
  return prompt === "ahead" ? t.faceLookAhead : t.faceMovement[prompt];
}

/** Reads a text aloud whenever it changes; null is silence. */
function useSpoken(text: string | null, language: Language): void {
  useEffect(() => {
    if (text === null) return;
    const speaker = createSpeaker(language);
    speaker?.say(text);
    return () => speaker?.stop();
  }, [text, language]);
}

function Instruction({ prompt }: { prompt: FacePrompt }) {
  const { t } = useWords();
  return (
    <div className="flex items-center justify-center gap-3">
      <PromptPicture prompt={prompt} />
      <p
        data-testid="face-instruction"
        data-prompt={prompt}
        className="text-lg leading-snug font-semibold sm:text-2xl"
      >
        {wordsOf(t, prompt)}
      </p>
    </div>
  );
}

/** Progress: half a step for a movement in progress, the rest when the face looks ahead again. */
function shareDone({ prompt, movement, movements }: CaptureView): number {
  return movement === 0 ? 0 : (movement - (prompt === "ahead" ? 0 : 0.5)) / movements;
}

/**
 * Shows where the face goes, and the progress in a ring around it.
 * The rest is dimmed, or part of the lamp during the check.
 */
function Oval({ look, share }: { look: "open" | "good" | "lit"; share: number }) {
  const oval = "M150 55c62 0 100 55 100 135s-42 150-100 150S50 270 50 190 88 55 150 55Z";
  return (
    // Beyond the edges: WebKit rounds the two boxes differently,
    // and a line of the picture showed beside the lamp.
    <svg
      aria-hidden="true"
      viewBox="0 0 300 400"
      fill="none"
      className="absolute inset-0 size-full overflow-visible"
    >
      <path
        fillRule="evenodd"
        fill="currentColor"
        fillOpacity={look === "lit" ? 1 : 0.7}
        d={`M-2-2h304v404H-2Z${oval}`}
      />
      <path d={oval} stroke="#101513" strokeWidth={look === "open" ? 5 : 10} />
      {look === "open" && <path d={oval} stroke="#ffffff" strokeWidth="3" strokeDasharray="10 8" />}
      {look === "good" && <path d={oval} stroke="#5fd39a" strokeWidth="6" />}
      {look === "lit" && (
        <path
          d={oval}
          data-testid="face-ring"
          pathLength="1"
          stroke="#5fd39a"
          strokeWidth="6"
          strokeLinecap="round"
          strokeDasharray={`${share} 1`}
          strokeOpacity={share === 0 ? 0 : 1}
          className="transition-[stroke-dasharray] duration-(--motion-calm)"
        />
      )}
    </svg>
  );
}
