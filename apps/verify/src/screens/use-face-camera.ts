import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { attendCamera } from "../face/camera.ts";
import { type CaptureView, faceCapture } from "../face/capture-face.ts";
import { FaceGuide } from "../face/face-guide.ts";
import { type Framing, type FramingWatch, framingOf, isReady, watchFraming } from "../face/framing.ts";
import type { PageDevice } from "../reading/page-device.ts";

/** Why a check was ended without a verdict. */
export type FaceStop = "person" | "hidden" | "camera";

/** Often enough to feel at once, and no burden for a phone. */
const lookEveryMs = 200;

type FaceCamera = {
  /** Whether the guide works: it may still be loading, and without it the person starts manually. */
  guidance: "loading" | "working" | "none";
  framing: Framing | null;
  started: boolean;
  view: CaptureView | null;
  start: () => void;
};

/** Shows the camera in `video`, waits until the face is well framed, then takes the pictures of one try. */
export function useFaceCamera(
  device: PageDevice,
  stream: MediaStream,
  video: RefObject<HTMLVideoElement | null>,
  { stillHead, onStop }: { stillHead: boolean; onStop: (why: FaceStop) => void },
): FaceCamera {
  const [guidance, setGuidance] = useState<FaceCamera["guidance"]>("loading");
  const [framing, setFraming] = useState<Framing | null>(null);
  const [started, setStarted] = useState(false);
  const [view, setView] = useState<CaptureView | null>(null);
  const begin = useRef<() => void>(() => {});

  useEffect(() => {
    const element = video.current;
    if (element === null) return;
    let [open, begun, guided] = [true, false, false];
    const guide = new FaceGuide();
    const noPicture = () => {
      if (open) onStop("camera");
    };
    const lookAtFace = async () => {
      const sight = guided ? await guide.look(element) : null;
      return sight === null ? undefined : sight.face;
    };
    begin.current = () => {
      if (begun || !open) return;
      begun = true;
      setStarted(true);
      const capture = faceCapture(element, lookAtFace, setView);
      device.startFace(
        async (...given) => {
          try {
            await capture(...given);
          } catch {
            noPicture();
          } finally {
            setView(null);
          }
        },
        { stillHead },
      );
    };
    const frame = async () => {
      element.srcObject = stream;
      await element.play();
      guided = (await guide.ready()) && !begun;
      let watch: FramingWatch | null = null;
      while (guided && open && !begun) {
        const atMs = performance.now();
        const sight = await guide.look(element);
        guided = sight !== null;
        if (sight === null || !open || begun) break;
        watch = watchFraming(watch, framingOf(sight), atMs);
        setGuidance("working");
        setFraming(watch.shown);
        if (isReady(watch, atMs)) begin.current();
        await new Promise((resolve) => setTimeout(resolve, atMs + lookEveryMs - performance.now()));
      }
      if (!guided) setGuidance("none");
    };
    frame().catch(noPicture);

    const letGo = attendCamera(stream, () => onStop("hidden"), noPicture);
    return () => {
      open = false;
      letGo();
      guide.close();
    };
  }, [device, stream, video, stillHead, onStop]);

  const start = useCallback(() => begin.current(), []);
  return { guidance, framing, started, view, start };
}
