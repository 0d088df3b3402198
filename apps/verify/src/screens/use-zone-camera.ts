import type { MrzKeyFields } from "@assay/emrtd/mrz/mrz-key";
import { addReading, nothingRead } from "@assay/mrz-reader/agreement";
import type { Quad } from "@assay/mrz-reader/geometry";
import type { Hint } from "@assay/mrz-reader/hint";
import { type RefObject, useEffect, useState } from "react";
import { keepAwake } from "../face/camera.ts";
import { hasTorch, type Light, switchTorch } from "../zone/torch.ts";
import { ZoneEye } from "../zone/zone-eye.ts";

/** How long the zone is shown in green before the page goes on. Half: nobody sees it. Twice: more than a second is waited for nothing. */
const shownDoneMs = 500;
/** A hint is told once this many looks in a row say it. Half: hints flicker. Twice: they come when the person has moved on. */
const looksForHint = 3;
/** Looks that must say "visa" before the person is told, because a worn P looks like one now and then. */
const looksForVisa = 3;

export type ZoneCamera = {
  seen: { quad: Quad; width: number; height: number } | null;
  hint: Hint | "loading" | "visa";
  done: boolean;
  light: Light;
  setLight: (on: boolean) => void;
};

/** Shows the camera in `video` and looks until two frames say the same. */
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
    const letSleep = keepAwake();
    const failed = () => {
      if (open) onStop("failed");
    };
    const watch = async () => {
      element.srcObject = stream;
      const [, loaded] = await Promise.all([element.play(), eye.load()]);
      if (!loaded) return failed();
      let [agreement, visas, same]: [typeof nothingRead, number, number] = [nothingRead, 0, 0];
      let last: Hint | null = null;
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
        same = sight.hint === last ? same + 1 : 1;
        last = sight.hint;
        visas = sight.reading.type === "visa" ? visas + 1 : sight.reading.type === "key" ? 0 : visas;
        if (visas >= looksForVisa) setHint("visa");
        else if (same >= looksForHint) setHint(sight.hint);
        else setHint((before) => (before === "loading" ? sight.hint : before));
        const added = addReading(agreement, sight.reading);
        agreement = added.agreement;
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
    const onHidden = () => {
      if (document.visibilityState === "hidden" && open) onStop("person");
    };
    const tracks = stream.getVideoTracks();
    document.addEventListener("visibilitychange", onHidden);
    for (const track of tracks) track.addEventListener("ended", failed);
    return () => {
      open = false;
      document.removeEventListener("visibilitychange", onHidden);
      for (const track of tracks) track.removeEventListener("ended", failed);
      eye.close();
      letSleep();
    };
  }, [stream, video, onKey, onStop]);

  const setLight = (on: boolean) => {
    const [track] = stream.getVideoTracks();
    if (track !== undefined) void switchTorch(track, on).then(setLightState);
  };
  return { seen, hint, done, light, setLight };
}
