/*
 * Assay, version 1 of the script for pages of partners: shows a verification in a frame. How it is used, and the protocol that it speaks, is in the
 * guide "Embedding" (/docs/embedding). What it tells is for the look of your page only: whether somebody is verified, your server learns from the API or
 * a webhook.
 */
// In braces, because names of a classic script would otherwise be names of the whole page.
{
  const protocol = 1;
  const endStatuses = ["succeeded", "failed", "expired", "cancelled"];
  /** Half: a person on a slow line is sent to a tab while the frame loads. Twice: they look at an empty frame for half a minute. */
  const readyWithinMs = 15_000;
  const leastHeight = 480;
  const ownWords = {
    title: "Identity verification",
    close: "Close",
    openTab: "Open the verification in a new tab",
  };

  /** Styles are set as properties, which a policy against inline styles allows. */
  const make = (tag, styles, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    Object.assign(element.style, styles);
    element.append(...children);
    return element;
  };

  /** What the page inside asks the browser for is passed on to it; without that the camera stays off. */
  const makeFrame = (url, title) =>
    make(
      "iframe",
      { display: "block", width: "100%", height: `${leastHeight}px`, border: "0", colorScheme: "normal" },
      {
        title,
        allow: ["camera", "autoplay", "clipboard-write", "screen-wake-lock"]
          .map((name) => `${name} ${url.origin}`)
          .join("; "),
        referrerPolicy: "no-referrer",
        src: url.href,
      },
    );

  /** The frame in a dialogue. What closes it is beside the frame and never above it: a frame that something covers takes no consent. */
  const makeDialog = (frame, words, close) => {
    const plain = { border: "0", background: "none", color: "inherit", font: "inherit" };
    const button = make(
      "button",
      { ...plain, minWidth: "44px", minHeight: "44px", cursor: "pointer", alignSelf: "flex-end" },
      { type: "button", textContent: "✕", ariaLabel: words.close, title: words.close, onclick: close },
    );
    Object.assign(frame.style, { height: "auto", flex: "1" });
    const box = make(
      "div",
      {
        display: "flex",
        flexDirection: "column",
        width: "min(640px, 100%)",
        height: "min(880px, 100%)",
        margin: "auto",
        background: "Canvas",
        color: "CanvasText",
      },
      {},
      button,
      frame,
    );
    const all = { width: "100%", height: "100%", maxWidth: "none", maxHeight: "none" };
    return make(
      "dialog",
      {
        ...plain,
        ...all,
        boxSizing: "border-box",
        padding: "min(2vmin, 16px)",
        background: "rgb(0 0 0 / 60%)",
        colorScheme: "light dark",
      },
      { ariaLabel: words.title, oncancel: close },
      box,
    );
  };

  const open = (options) => {
    const url = new URL(options.verificationUrl);
    const sessionId = /\/verify\/(vs_\w+)$/.exec(url.pathname)?.[1];
    if (!sessionId) throw new TypeError("Assay.open: verificationUrl is not the address of a session");
    const { container: place } = options;
    const container = typeof place === "string" ? document.querySelector(place) : place;
    if (container === null) throw new TypeError("Assay.open: there is no such container");
    const words = { ...ownWords, ...options.words };
    const frame = makeFrame(url, words.title);
    let state = { sessionId, status: null, step: null };
    let timer = 0;

    const close = () => {
      if (!timer) return;
      clearTimeout(timer);
      timer = 0;
      window.removeEventListener("message", onMessage);
      shown.remove();
      options.onClose?.({ ...state });
    };
    const onSaid = (said) => {
      if (said.type === "ready") {
        clearTimeout(timer);
        frame.contentWindow.postMessage({ assay: protocol, type: "hello", session: sessionId }, url.origin);
        options.onReady?.({ ...state });
      } else if (said.type === "height" && container && said.height > 0) {
        // Not above the window: what the page lays over itself must be seen without a search.
        const height = Math.max(leastHeight, Math.min(said.height, innerHeight - 32));
        frame.style.height = `${Math.ceil(height)}px`;
      } else if (said.type === "state") {
        const hadEnded = endStatuses.includes(state.status);
        state = { sessionId, status: String(said.status), step: said.step && String(said.step) };
        options.onChange?.({ ...state });
        if (!hadEnded && endStatuses.includes(state.status)) options.onDone?.({ ...state });
      } else if (said.type === "finished") close();
    };
    const onMessage = ({ source, origin, data }) => {
      // Only what this frame says, and only while the verification is in it.
      if (source !== frame.contentWindow || origin !== url.origin) return;
      if (data?.assay === protocol && data.session === sessionId) onSaid(data);
    };
    /** The browser refused the frame, or there is no network. The verification still works by itself. */
    const fallBack = () => {
      const link = { href: url.href, target: "_blank", rel: "noopener", textContent: words.openTab };
      frame.replaceWith(make("a", { display: "block", padding: "24px", textAlign: "center" }, link));
      options.onFailure?.({ sessionId, reason: "not_loaded" });
    };

    const shown = container ? make("div", {}, {}, frame) : makeDialog(frame, words, close);
    window.addEventListener("message", onMessage);
    timer = setTimeout(fallBack, readyWithinMs);
    (container ?? document.body).append(shown);
    if (!container) {
      shown.showModal();
      shown.style.display = "flex";
    }
    return { sessionId, frame, close };
  };

  globalThis.Assay = Object.freeze({ version: protocol, open });
}
