// node:test finds the test of a piece of code by following every promise, timer and socket of the process
// (async_hooks). That took a tenth of the processor time of the service's tests. Here AsyncLocalStorage,
// which Node propagates anyway, does the same.
import asyncHooks from "node:async_hooks";

type Follow = (id: number, type: string, triggerId: number, resource: object) => void;

/** Loads node:test. It must not have been loaded before; later imports get this one. */
export async function loadTestRunner(): Promise<
  Pick<typeof import("node:test"), "after" | "describe" | "test">
> {
  const { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId } = asyncHooks;
  const current = new AsyncLocalStorage<number>();
  let follow: Follow = () => {};
  let latest: number | undefined;
  let blamed: number | undefined;
  // An error outside of any promise, as from a socket, has lost its context.
  // It is attributed to the test that began last.
  process.on("uncaughtExceptionMonitor", () => {
    blamed = latest;
  });
  /** A test's async scope, as node:test expects it. */
  class TestScope extends AsyncResource {
    constructor(...options: ConstructorParameters<typeof AsyncResource>) {
      super(...options);
      follow(this.asyncId(), "", 0, this);
    }

    override runInAsyncScope<This, Result>(
      work: (this: This, ...args: unknown[]) => Result,
      thisArg?: This,
      ...args: unknown[]
    ): Result {
      latest = this.asyncId();
      return super.runInAsyncScope(() =>
        current.run(this.asyncId(), () => work.apply(thisArg as This, args)),
      );
    }
  }
  const hook = { enable: () => hook, disable: () => hook };
  Object.assign(asyncHooks, {
    AsyncResource: TestScope,
    executionAsyncId: () => {
      const id = current.getStore() ?? blamed ?? executionAsyncId();
      blamed = undefined;
      return id;
    },
    createHook: ({ init }: { init: Follow }) => {
      follow = init;
      return hook;
    },
  });
  try {
    return await import("node:test");
  } finally {
    // The code under test gets Node's original.
    Object.assign(asyncHooks, { AsyncResource, createHook, executionAsyncId });
  }
}
