type Area = "localStorage" | "sessionStorage";

/** Null if nothing is stored. Storage can be turned off and then throws. */
export function readStored(key: string, area: Area = "localStorage"): string | null {
  try {
    return window[area].getItem(key);
  } catch {
    return null;
  }
}

/** Null removes it. False if storage is off or full: what the page remembers then ends with it. */
export function store(key: string, value: string | null, area: Area = "localStorage"): boolean {
  try {
    if (value === null) window[area].removeItem(key);
    else window[area].setItem(key, value);
    return true;
  } catch {
    return false;
  }
}
