import { useSyncExternalStore } from "react";

/** A value of the page that components follow (`useShared`). */
type SharedValue<T> = {
  get: () => T;
  set: (next: T) => void;
  subscribe: (listener: () => void) => () => void;
};

export function sharedValue<T>(initial: T): SharedValue<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (next) => {
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useShared<T>({ subscribe, get }: SharedValue<T>): T {
  return useSyncExternalStore(subscribe, get);
}
