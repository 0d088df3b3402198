import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Whether a line of output reports a fault. Anything but JSON is an uncaught exception. */
export function isFault(line: string): boolean {
  return !line.startsWith("{") || line.includes('"level":"error"') || line.includes("background job failed");
}

/** The mails that were written since, each once. */
export function takeMails(dataDir: string): { to: string; text: string }[] {
  const folder = join(dataDir, "mail");
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(".eml"))
    .map((name) => {
      const text = readFileSync(join(folder, name), "utf8");
      rmSync(join(folder, name));
      return { to: /^To: (.*)$/m.exec(text)?.[1] ?? "", text };
    });
}
