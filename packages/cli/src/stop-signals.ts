/**
 * Signals this close together count as one: a terminal signals the whole process group, and each parent
 * passes its copy on. Too short: a busy machine takes a copy for a second Ctrl-C and skips the cleanup.
 */
const copiesWithinMs = 2_000;

/**
 * Calls `stop` at the first of these signals; a second one ends the process.
 * Returns a function that stops watching.
 */
export function onStopSignal<S extends NodeJS.Signals>(
  signals: readonly S[],
  stop: (signal: S) => void,
): () => void {
  let firstAt: number | null = null;
  const watched = signals.map((signal) => {
    const handle = () => {
      if (firstAt === null) {
        firstAt = performance.now();
        stop(signal);
      } else if (performance.now() - firstAt > copiesWithinMs) process.exit(130);
    };
    process.on(signal, handle);
    return { signal, handle };
  });
  return () => {
    for (const { signal, handle } of watched) process.off(signal, handle);
  };
}

const lookEveryMs = 300;

/**
 * Under `npx` a signal ends npx and its shell but does not reach this process. So it polls whether the shell
 * is still its parent. Returns a function that stops polling.
 */
export function onNpxEnded(env: NodeJS.ProcessEnv, stop: () => void): () => void {
  if (env.npm_lifecycle_event !== "npx") return () => {};
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    stop();
  }, lookEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}
