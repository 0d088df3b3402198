import { useCallback, useEffect, useState } from "react";

// A receiver has 15 seconds, and the second try comes after 5 more. Half of it, and a slow receiver is given up too early; doubled, a
// page that was left open asks for a minute about nothing.
const followMs = 30_000;
const closelyMs = 700;

/** Looks closely at something that was just set going, and for a while only: the time between two looks, or false. */
export function useFollowing(atFirst: boolean) {
  const [until, setUntil] = useState(() => (atFirst ? Date.now() + followMs : 0));
  const [following, setFollowing] = useState(atFirst);
  useEffect(() => {
    const timer = setTimeout(() => setFollowing(false), until - Date.now());
    return () => clearTimeout(timer);
  }, [until]);
  const follow = useCallback(() => {
    setUntil(Date.now() + followMs);
    setFollowing(true);
  }, []);
  const stop = useCallback(() => setFollowing(false), []);
  return { following, everyMs: following ? closelyMs : (false as const), follow, stop };
}
