import { useEffect } from "react";
import { loadPart } from "../ui/load-part.ts";
import { usePart } from "../ui/use-part.tsx";
import type { LaterScreen, LaterScreens } from "./later.tsx";

type LaterPart = { LaterScreens: typeof LaterScreens };

let loaded: LaterPart | null = null;

async function load(): Promise<LaterPart> {
  loaded ??= await loadPart(() => import("./later.tsx"));
  return loaded;
}

/** The part after consent. It is most of the page's code and not needed to read the request. */
export function Later({ show }: { show: LaterScreen }) {
  const { part, instead } = usePart(load, loaded);
  return part === null ? instead : <part.LaterScreens show={show} />;
}

/** Loads it before it is needed: as soon as a person does anything on the page. */
export function useLaterSoon(): void {
  useEffect(() => {
    const begin = () => void load().catch(() => {});
    const signs = ["pointerdown", "keydown", "scroll"] as const;
    for (const sign of signs) window.addEventListener(sign, begin, { once: true, passive: true });
    return () => {
      for (const sign of signs) window.removeEventListener(sign, begin);
    };
  }, []);
}
