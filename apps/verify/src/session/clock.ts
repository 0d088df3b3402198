/** The service's clock as of an answer. A person's own clock may be wrong by hours. */
export type ServiceClock = { serviceMs: number; localMs: number };

export function clockOf(serverTime: string): ServiceClock {
  return { serviceMs: Date.parse(serverTime), localMs: Date.now() };
}

export function msUntil(clock: ServiceClock, time: string): number {
  return Date.parse(time) - clock.serviceMs - (Date.now() - clock.localMs);
}
