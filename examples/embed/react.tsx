import { useEffect, useRef } from "react";

/** Loads the script of the service, once for the whole page. */
function loadScript(src: string): Promise<unknown> {
  const script = document.querySelector(`script[src="${src}"]`) ?? document.createElement("script");
  if ("Assay" in window) return Promise.resolve();
  if (!script.isConnected) document.head.append(Object.assign(script, { src }));
  return new Promise((resolve) => script.addEventListener("load", resolve));
}

type Props = Pick<AssayOptions, "verificationUrl" | "onDone" | "onClose">;

/** Shows the verification here. `onDone` is for the look of the page: ask your server for the outcome. */
export function AssayVerification(props: Props) {
  const { verificationUrl } = props;
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
  });
  useEffect(() => {
    let opened: AssayFrame | null = null;
    // React may take an effect back at once: nothing is opened or reported after that.
    let isGone = false;
    void loadScript(`${new URL(verificationUrl).origin}/embed/v1.js`).then(() => {
      if (isGone || place.current === null) return;
      const onDone = (state: AssayState) => latest.current.onDone?.(state);
      const onClose = (state: AssayState) => isGone || latest.current.onClose?.(state);
      opened = Assay.open({ verificationUrl, container: place.current, onDone, onClose });
    });
    return () => {
      isGone = true;
      opened?.close();
    };
  }, [verificationUrl]);
  return <div ref={place} />;
}
