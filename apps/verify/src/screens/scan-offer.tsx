import type { MrzKeyFields } from "@assay/emrtd/mrz/mrz-key";
import { Button } from "@assay/ui/button";
import { Notice } from "@assay/ui/notice";
import { useCallback, useState } from "react";
import { useWords } from "../i18n/language.ts";
import { loadPart } from "../ui/load-part.ts";
import { useAnnounce } from "../ui/screen.tsx";
import { type NoCameraReason, useLentCamera } from "./use-lent-camera.ts";

type Trouble = NoCameraReason | "photo_unread" | "photo_visa" | "no_test_document";

/** Reads the printed key with the camera or from a photo. The form below shows the result for correction. */
export function ScanOffer({
  onKey,
  look = "primary",
}: {
  /** Secondary where the screen has another first thing to do. */
  look?: "primary" | "secondary";
  /** False where the key belongs to nothing that could be opened with it. */
  onKey: (key: MrzKeyFields) => Promise<boolean>;
}) {
  const { t } = useWords();
  const announce = useAnnounce();
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const take = useCallback(
    async (key: MrzKeyFields) => {
      announce(t.scan.done);
      if (!(await onKey(key).catch(() => false))) setTrouble("no_test_document");
    },
    [onKey, announce, t],
  );
  const scan = useScan(setTrouble);
  const { busy, readPhoto } = usePhoto(take, setTrouble);
  return (
    <div className="space-y-3">
      <p>{t.scan.lead}</p>
      <div className="flex flex-wrap gap-3">
        <Button look={look} busy={scan.opening} onClick={() => void scan.open()}>
          {t.scan.start}
        </Button>
        <label
          className={`inline-flex min-h-12 cursor-pointer items-center rounded-control border border-field px-4 font-semibold focus-within:outline-2 ${busy ? "opacity-60" : ""}`}
        >
          {busy ? t.working : t.scan.photo}
          <input
            type="file"
            accept="image/*"
            className="sr-only"
            disabled={busy}
            onChange={(event) => {
              const [file] = event.target.files ?? [];
              event.target.value = "";
              if (file !== undefined) void readPhoto(file);
            }}
          />
        </label>
      </div>
      <p className="text-small text-muted">{t.scan.privacy}</p>
      {trouble !== null && <ScanTrouble trouble={trouble} />}
      {scan.shown !== null && (
        <scan.shown.code.ZoneScan
          stream={scan.shown.stream}
          onKey={(key) => {
            scan.close();
            void take(key);
          }}
          onStop={scan.stop}
        />
      )}
    </div>
  );
}

function ScanTrouble({ trouble }: { trouble: Trouble }) {
  const { t } = useWords();
  if (trouble === "photo_unread") return <Notice look="warn" title={t.scan.photoUnread} urgent />;
  if (trouble === "no_test_document") return <Notice look="warn" title={t.scan.noTestDocument} urgent />;
  if (trouble === "photo_visa") return <Notice look="warn" title={t.scan.visa} urgent />;
  if (trouble === "not_loaded") return <Notice look="warn" title={t.connectionGone} urgent />;
  const { title, text } = t.faceNoCamera[trouble];
  return (
    <Notice look="warn" title={title} urgent>
      <p>{text}</p>
    </Notice>
  );
}

const loadScan = () => import("./zone-scan.tsx");

/** The camera on the back. */
function useScan(setTrouble: (trouble: Trouble | null) => void) {
  const { close, ...camera } = useLentCamera(loadScan, "environment", setTrouble);
  const stop = useCallback(
    (why: "person" | "failed") => {
      close();
      if (why === "failed") setTrouble("failed");
    },
    [close, setTrouble],
  );
  return { ...camera, close, stop };
}

function usePhoto(take: (key: MrzKeyFields) => Promise<void>, setTrouble: (trouble: Trouble | null) => void) {
  const [busy, setBusy] = useState(false);
  const readPhoto = async (file: File) => {
    setBusy(true);
    setTrouble(null);
    try {
      const loaded = await loadPart(() => import("../zone/read-photo.ts")).catch(() => null);
      const read = loaded === null ? "not_loaded" : await loaded.readPhoto(file);
      if (typeof read === "string") setTrouble(read);
      else await take(read);
    } finally {
      setBusy(false);
    }
  };
  return { busy, readPhoto };
}
