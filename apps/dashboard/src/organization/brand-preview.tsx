import type { Hex } from "@assay/ui/colours";
import { type Look, previewPath, previewReady } from "@assay/ui/preview";
import { useEffect, useRef, useState } from "react";
import { t } from "../i18n/words.ts";
import { Choices } from "../ui/choices.tsx";

type Scheme = Look["scheme"];

/** The screen sizes of the preview in pixels. */
const screens = { phone: { width: 390, height: 760 }, desktop: { width: 1280, height: 900 } } as const;
type ScreenName = keyof typeof screens;

/** The verify page in a frame, with the chosen look. The frame receives messages and sends no requests. */
export function BrandPreview(props: {
  name: string;
  domain: string | null;
  colour: string;
  logo: string | null;
  /** The URL of a picture that the organization hosts. The service serves it under a fixed address. */
  logoKeptAt: string | null;
}) {
  const [scheme, setScheme] = useState<Scheme>("light");
  const [screen, setScreen] = useState<ScreenName>("phone");
  const frame = useRef<HTMLIFrameElement>(null);
  const { name, domain, logo } = props;
  const colour = /^#[0-9a-f]{6}$/i.test(props.colour) ? (props.colour.toLowerCase() as Hex) : null;
  const look: Look = { type: "assay:look", name, domain, colour, logo, scheme };
  const message = JSON.stringify(look);
  useEffect(() => {
    const post = () => frame.current?.contentWindow?.postMessage(JSON.parse(message), window.location.origin);
    const onMessage = ({ origin, source, data }: MessageEvent<unknown>) => {
      if (
        origin === window.location.origin &&
        source === frame.current?.contentWindow &&
        data === previewReady
      )
        post();
    };
    window.addEventListener("message", onMessage);
    post();
    return () => window.removeEventListener("message", onMessage);
  }, [message]);
  const { width, height } = screens[screen];
  const { container, scale } = useScale(width);
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
      <div ref={container}>
        <div
          className="mx-auto max-w-full overflow-hidden rounded-card border border-line"
          style={{ width: width * scale, height: height * scale }}
        >
          {/* The frame is not interactive, so the keyboard skips it. */}
          <iframe
            // Only a new page fetches the address again.
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

/** The scale at which a page of this width fits its container. */
function useScale(width: number) {
  const container = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState<number>(screens.phone.width);
  useEffect(() => {
    const element = container.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setRoom(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { container, scale: Math.min(1, room / width) };
}
