import type { Config } from "../../config.ts";

/** Whether anything is configured that reads a real document: an app for one kind of phone, or desks. */
export function canReadDocuments(
  config: Pick<Config, "readerAppAndroid" | "readerAppIos" | "deskReaders">,
): boolean {
  return config.readerAppAndroid !== null || config.readerAppIos !== null || config.deskReaders;
}
