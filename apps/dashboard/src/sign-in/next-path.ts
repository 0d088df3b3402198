/** A path of this app to open after signing in; anything else leads to the start. */
export function nextPath(next: string | undefined): string {
  if (next === undefined || !/^\/(dashboard|invitations)(\/|\?|$)/.test(next)) return "/dashboard";
  const url = new URL(next, window.location.origin);
  return url.origin === window.location.origin ? url.pathname + url.search : "/dashboard";
}
