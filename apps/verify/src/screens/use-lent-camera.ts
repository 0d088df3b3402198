import { useCallback, useEffect, useRef, useState } from "react";
import { type CameraProblem, closeCamera, openCamera } from "../face/camera.ts";

export type NoCameraReason = CameraProblem | "not_loaded";

/**
 * The camera while a part of the page uses it. Its code is loaded when it is opened, because many people do
 * not get this far. `load` and `onProblem` must stay the same between renders.
 */
export function useLentCamera<Code>(
  load: () => Promise<Code>,
  facing: Parameters<typeof openCamera>[0],
  onProblem: (problem: NoCameraReason | null) => void,
) {
  const [shown, setShown] = useState<{ stream: MediaStream; code: Code } | null>(null);
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
    onProblem(null);
    const code = await load().catch(() => null);
    const stream = code === null ? "not_loaded" : await openCamera(facing);
    setOpening(false);
    if (typeof stream === "string") onProblem(stream);
    else if (left.current) closeCamera(stream);
    else if (code !== null) {
      current.current = stream;
      setShown({ stream, code });
    }
  }, [load, facing, onProblem]);
  return { shown, opening, open, close };
}
