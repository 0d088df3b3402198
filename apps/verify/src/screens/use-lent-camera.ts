import { useCallback, useEffect, useRef, useState } from "react";
import { type CameraProblem, closeCamera, openCamera } from "../face/camera.ts";

export type NoCameraReason = CameraProblem | "not_loaded";

/**
 * The camera while a part of the page has it. The code that shows it is loaded only when it is opened, because not
 * everybody gets this far; both `load` and `onProblem` stay the same from one drawing to the next.
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
