import type { Db } from "../../platform/db/db.ts";
import { readTrust, readTrustVersion } from "./trust.store.ts";
import { packTrust, type TrustSnapshot } from "./trust-snapshot.ts";

/**
 * What is trusted now. The version is read each time, which takes a fraction of a millisecond. So no process
 * uses what another has removed. The rest is read only when the version has changed.
 */
export class CurrentTrust {
  readonly #db: Db;
  #known: TrustSnapshot | null = null;
  #loading: Promise<TrustSnapshot> | null = null;

  constructor(db: Db) {
    this.#db = db;
  }

  async snapshot(): Promise<TrustSnapshot> {
    const version = await readTrustVersion(this.#db);
    for (;;) {
      if (this.#known !== null && this.#known.version >= version) return this.#known;
      // A load that others wait for may have begun before the version changed: then load again.
      this.#loading ??= this.#load().finally(() => {
        this.#loading = null;
      });
      await this.#loading;
    }
  }

  async #load(): Promise<TrustSnapshot> {
    const { version, records } = await readTrust(this.#db);
    this.#known = packTrust(version, records);
    return this.#known;
  }
}
