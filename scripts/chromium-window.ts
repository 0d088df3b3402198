/**
 * The parts of Chromium's window that are pages, by the names of `--disable-features`. Each starts a process
 * with every new window and takes longer than many of our pages.
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
