import type { MrzKeyFields } from "@assay/emrtd/mrz/mrz-key";
import type { Quad } from "@assay/mrz-reader/geometry";
import { Button } from "@assay/ui/button";
import { useId, useLayoutEffect, useRef, useState } from "react";
import { useWords } from "../i18n/language.ts";
import type { Messages } from "../i18n/messages.ts";
import type { ShownHint } from "../zone/shown-hint.ts";
import { useZoneCamera } from "./use-zone-camera.ts";

/** Fills the screen while searching for the document's lines. The parent component closes the camera. */
export function ZoneScan({
  stream,
  onKey,
  onStop,
}: {
  stream: MediaStream;
  onKey: (key: MrzKeyFields) => void;
  onStop: (why: "person" | "failed") => void;
}) {
  const { t } = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  const video = useRef<HTMLVideoElement>(null);
  const title = useId();
  const { seen, hint, done, light, setLight } = useZoneCamera(stream, video, onKey, onStop);
  const [picture, setPicture] = useState<{ width: number; height: number } | null>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const text = done ? t.scan.done : hintText(t, hint);
  return (
    <dialog
      ref={dialog}
      tabIndex={-1}
      aria-labelledby={title}
      data-testid="zone-scan"
      onCancel={(event) => {
        event.preventDefault();
        onStop("person");
      }}
      className="m-0 h-dvh max-h-none w-dvw max-w-none bg-[#101513] p-3 text-white outline-none"
    >
      <div className="mx-auto flex h-full max-w-3xl flex-col items-center gap-3">
        <h1 id={title} className="sr-only">
          {t.scan.start}
        </h1>
        {/* The same height for every hint, so that the picture does not move. */}
        <p
          role="status"
          data-testid="zone-hint"
          className="flex min-h-16 items-center text-center text-lg font-semibold"
        >
          {text}
        </p>
        <div className="relative min-h-0 w-full flex-1">
          <video
            ref={video}
            muted
            playsInline
            aria-label={t.scan.cameraLabel}
            // Also when the phone is turned.
            onResize={({ currentTarget: { videoWidth: width, videoHeight: height } }) =>
              setPicture({ width, height })
            }
            className="size-full rounded-2xl bg-black object-contain"
          />
          {picture !== null && <ZoneOutline {...picture} isTaken={seen !== null || done} />}
          {seen !== null && <Outline {...seen} done={done} />}
        </div>
        <div className="flex w-full flex-wrap justify-center gap-3">
          {light !== "none" && (
            <Button look="secondary" aria-pressed={light === "on"} onClick={() => setLight(light === "off")}>
              {t.scan.torch}
            </Button>
          )}
          <Button look="secondary" onClick={() => onStop("person")}>
            {t.scan.type}
          </Button>
        </div>
      </div>
    </dialog>
  );
}

function hintText(t: Messages, hint: ShownHint): string {
  switch (hint) {
    case "loading":
      return t.scan.loading;
    case "visa":
      return t.scan.visa;
    case "no_lines":
      return t.scan.noLines;
    default:
      return t.scan.hint[hint];
  }
}

/** The data page of a passport, in millimetres. A card is held inside it. */
const [pageWidth, pageHeight] = [125, 88];

/**
 * Where to hold the document, with its lines below, until they are found.
 * Debounced, so that it does not flicker.
 */
function ZoneOutline({ width, height, isTaken }: { width: number; height: number; isTaken: boolean }) {
  const scale = Math.min((0.9 * width) / pageWidth, (0.8 * height) / pageHeight);
  return (
    <svg
      aria-hidden="true"
      data-testid="zone-place"
      viewBox={`0 0 ${width} ${height}`}
      fill="none"
      strokeLinecap="round"
      className={`absolute inset-0 size-full transition-opacity duration-300 motion-reduce:transition-none ${isTaken ? "opacity-0" : ""}`}
    >
      <g
        transform={`translate(${(width - pageWidth * scale) / 2} ${(height - pageHeight * scale) / 2}) scale(${scale})`}
      >
        {(["#101513", "#ffffff"] as const).map((colour, index) => (
          <g key={colour} stroke={colour} strokeWidth={index === 0 ? 2 : 1}>
            <rect width={pageWidth} height={pageHeight} rx={4} />
            <path d="M8 71h109M8 79h109" strokeDasharray="1.5 3" />
          </g>
        ))}
      </g>
    </svg>
  );
}

/** The zone as it was found, over the picture of the camera. */
function Outline({
  quad,
  width,
  height,
  done,
}: {
  quad: Quad;
  width: number;
  height: number;
  done: boolean;
}) {
  const points = quad.map(({ x, y }) => `${x},${y}`).join(" ");
  const line = Math.max(width, height) / 200;
  return (
    <svg
      aria-hidden="true"
      data-testid="zone-outline"
      viewBox={`0 0 ${width} ${height}`}
      fill="none"
      strokeLinejoin="round"
      className="absolute inset-0 size-full"
    >
      <polygon points={points} stroke="#101513" strokeWidth={line * 2} />
      <polygon points={points} stroke={done ? "#5fd39a" : "#ffffff"} strokeWidth={line} />
    </svg>
  );
}
