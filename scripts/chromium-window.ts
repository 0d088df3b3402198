/**
 * The parts of Chromium's own window that are pages, by the names that `--disable-features` takes. Each is drawn in a process of its own with every new window, and takes longer
 * than many a page of ours.
 */
export const pagesOfTheWindow = [
  "AimEnabled",
  "InitialWebUI",
  "PreloadTopChromeWebUI",
  "WebUILocationBar",
  "WebUIOmniboxPopup",
  "WebUIReloadButton",
  "WebUITabStrip",
  "WebUIToolbar",
] as const;
