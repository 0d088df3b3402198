import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestService } from "./service.ts";

export type ReceivedMail = { to: string; subject: string; text: string };

/**
 * Sends what waits and returns every mail that was written as a file, oldest first. Services with a common
 * database must share one DATA_DIR and all be given: any of them may send.
 */
export async function readMails(
  services: Pick<TestService, "runJob" | "dataDirs"> | readonly [TestService, ...TestService[]],
  to?: string,
): Promise<ReceivedMail[]> {
  const all = "runJob" in services ? [services] : services;
  for (const each of all) await each.runJob("send-mails");
  const [service] = all;
  return service.dataDirs
    .map((dataDir) => join(dataDir, "mail"))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => ({ folder, name })))
    .filter(({ name }) => name.endsWith(".eml"))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ folder, name }) => {
      const file = readFileSync(join(folder, name), "utf8");
      const header = (field: string) => new RegExp(`^${field}: (.*)$`, "m").exec(file)?.[1] ?? "";
      const plain = file.split("Content-Transfer-Encoding: 8bit")[1] ?? "";
      return { to: header("To"), subject: header("Subject"), text: plain.split("\n--part-")[0] ?? "" };
    })
    .filter((mail) => to === undefined || mail.to === to);
}
