import type { MrzKeyFields } from "@assay/emrtd/mrz/mrz-key";
import { addSight, nothingSeen } from "@assay/mrz-reader/film";
import type { Quad } from "@assay/mrz-reader/geometry";
import { type RefObject, useEffect, useState } from "react";
import { attendCamera } from "../face/camera.ts";
import { initialHint, nextHint, type ShownHint } from "../zone/shown-hint.ts";
import { hasTorch, type Light, switchTorch } from "../zone/torch.ts";
import { ZoneEye } from "../zone/zone-eye.ts";

/** How long the zone is shown in green before the page continues. */
const shownDoneMs = 500;
type ZoneCamera = {
  seen: { quad: Quad; width: number; height: number } | null;
  hint: ShownHint;
  done: boolean;
  light: Light;
  setLight: (on: boolean) => void;
};

/** Shows the camera in `video` and looks until frames say a key together. */
export function useZoneCamera(
  stream: MediaStream,
  video: RefObject<HTMLVideoElement | null>,
  onKey: (key: MrzKeyFields) => void,
  onStop: (why: "person" | "failed") => void,
): ZoneCamera {
  const [seen, setSeen] = useState<ZoneCamera["seen"]>(null);
  const [hint, setHint] = useState<ZoneCamera["hint"]>("loading");
  const [done, setDone] = useState(false);
  const [light, setLightState] = useState<ZoneCamera["light"]>("none");

  useEffect(() => {
    const [track] = stream.getVideoTracks();
    if (track !== undefined && hasTorch(track)) setLightState("off");
  }, [stream]);

  useEffect(() => {
    const element = video.current;
    if (element === null) return;
    let open = true;
    const eye = new ZoneEye();
    const failed = () => {
      if (open) onStop("failed");
    };
    const watch = async () => {
      element.srcObject = stream;
      const [, loaded] = await Promise.all([element.play(), eye.load()]);
      if (!loaded) return failed();
      let [film, hints] = [nothingSeen, initialHint];
      while (open) {
        const looked = await eye.look(element);
        if (!open) return;
        if (looked === null) {
          if (eye.failed) return failed();
          await new Promise((resolve) => setTimeout(resolve, 100));
          continue;
        }
        const { sight, width, height } = looked;
        setSeen(sight.quad === null ? null : { quad: sight.quad, width, height });
        hints = nextHint(hints, sight, performance.now());
        setHint(hints.shown);
        const added = addSight(film, sight);
        film = added.film;
        if (added.accepted !== null) {
          setDone(true);
          navigator.vibrate?.(60);
          const key = added.accepted;
          setTimeout(() => {
            if (open) onKey(key);
          }, shownDoneMs);
          return;
        }
      }
    };
    watch().catch(failed);
    const letGo = attendCamera(stream, () => onStop("person"), failed);
    return () => {
      open = false;
      letGo();
      eye.close();
    };
  }, [stream, video, onKey, onStop]);

  const setLight = (on: boolean) => {
    const [track] = stream.getVideoTracks();
    if (track !== undefined) void switchTorch(track, on).then(setLightState);
  };
  return { seen, hint, done, light, setLight };
}
