import type { Hex } from "@assay/ui/colours";
import { type Look, previewPath, previewReady } from "@assay/ui/preview";
import { useEffect, useRef, useState } from "react";
import { t } from "../i18n/words.ts";
import { Choices } from "../ui/choices.tsx";

type Scheme = Look["scheme"];

/** The screens that the page is shown for, in pixels. */
const screens = { phone: { width: 390, height: 760 }, desktop: { width: 1280, height: 900 } } as const;
type ScreenName = keyof typeof screens;

/** The person's own page in a frame, in the look as it is chosen. The frame receives messages and sends no requests. */
export function BrandPreview(props: {
  name: string;
  domain: string | null;
  colour: string;
  logo: string | null;
  /** Where the organization keeps a picture itself. The service shows it at an address that stays the same. */
  logoKeptAt: string | null;
}) {
  const [scheme, setScheme] = useState<Scheme>("light");
  const [screen, setScreen] = useState<ScreenName>("phone");
  const frame = useRef<HTMLIFrameElement>(null);
  const { name, domain, logo } = props;
  const colour = /^#[0-9a-f]{6}$/i.test(props.colour) ? (props.colour.toLowerCase() as Hex) : null;
  const look: Look = { type: "assay:look", name, domain, colour, logo, scheme };
  const told = JSON.stringify(look);
  useEffect(() => {
    const tell = () => frame.current?.contentWindow?.postMessage(JSON.parse(told), window.location.origin);
    const onMessage = ({ origin, source, data }: MessageEvent<unknown>) => {
      if (
        origin === window.location.origin &&
        source === frame.current?.contentWindow &&
        data === previewReady
      )
        tell();
    };
    window.addEventListener("message", onMessage);
    tell();
    return () => window.removeEventListener("message", onMessage);
  }, [told]);
  const { width, height } = screens[screen];
  const { place, scale } = useScale(width);
  return (
    <figure className="min-w-0">
      <figcaption className="mb-2 flex flex-wrap items-center justify-between gap-2">
        <span className="font-medium">{t.organization.brand.preview}</span>
        <span className="flex flex-wrap gap-4">
          <Choices
            small
            legend={t.organization.brand.screen}
            options={[
              { value: "phone", label: t.organization.brand.phone },
              { value: "desktop", label: t.organization.brand.desktop },
            ]}
            value={screen}
            onChange={setScreen}
          />
          <Choices
            small
            legend={t.organization.brand.scheme}
            options={[
              { value: "light", label: t.organization.brand.light },
              { value: "dark", label: t.organization.brand.dark },
            ]}
            value={scheme}
            onChange={setScheme}
          />
        </span>
      </figcaption>
      <div ref={place}>
        <div
          className="mx-auto max-w-full overflow-hidden rounded-card border border-line"
          style={{ width: width * scale, height: height * scale }}
        >
          {/* Nothing in it can be operated, so the keyboard goes past it. */}
          <iframe
            // Only a new page fetches an address again.
            key={props.logoKeptAt}
            ref={frame}
            src={previewPath}
            title={t.organization.brand.frame[scheme](name)}
            tabIndex={-1}
            loading="lazy"
            className="block origin-top-left border-0"
            style={{ width, height, transform: `scale(${scale})` }}
          />
        </div>
      </div>
    </figure>
  );
}

/** By how much a page of this width has to shrink to fit its place. */
function useScale(width: number) {
  const place = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState<number>(screens.phone.width);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setRoom(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { place, scale: Math.min(1, room / width) };
}
