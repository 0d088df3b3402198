/**
 * Settings of earlier releases. An installation that still has one starts all the same, and its log says in one sentence what
 * replaces the setting.
 */
export const removedSettings: Readonly<Record<string, string>> = {};

/** One sentence for each removed setting that the environment still has. */
export function removedSettingNotices(
  env: Readonly<Record<string, string | undefined>>,
  removed = removedSettings,
): string[] {
  return Object.entries(removed)
    .filter(([name]) => (env[name] ?? "").trim() !== "")
    .map(([name, replacement]) => `${name} has no effect any more: ${replacement}`);
}
