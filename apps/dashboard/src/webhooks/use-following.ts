import { useCallback, useEffect, useState } from "react";

// A receiver has 15 seconds, and the second try follows after 5 more. Half of this would miss slow receivers;
// twice this would make idle pages poll for a minute.
const maxPollMs = 30_000;
const pollIntervalMs = 700;

/** Polls closely for a limited time after an action. `everyMs` is the interval, or false. */
export function useFollowing(atFirst: boolean) {
  const [until, setUntil] = useState(() => (atFirst ? Date.now() + maxPollMs : 0));
  const [following, setFollowing] = useState(atFirst);
  useEffect(() => {
    const timer = setTimeout(() => setFollowing(false), until - Date.now());
    return () => clearTimeout(timer);
  }, [until]);
  const follow = useCallback(() => {
    setUntil(Date.now() + maxPollMs);
    setFollowing(true);
  }, []);
  const stop = useCallback(() => setFollowing(false), []);
  return { following, everyMs: following ? pollIntervalMs : (false as const), follow, stop };
}
