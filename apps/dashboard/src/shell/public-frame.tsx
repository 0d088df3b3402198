import type { ReactNode } from "react";
import { Heading } from "../ui/page.tsx";

export function Brand() {
  return (
    <a href="/" className="inline-flex items-center gap-2.5 text-lg font-semibold text-ink no-underline">
      <img src="/assets/icon.svg" alt="" width={28} height={28} />
      Assay
    </a>
  );
}

/** Pages for people who are not signed in, or who came by a mailed link. */
export function PublicFrame({ title, children }: { title: string; children: ReactNode }) {
  return (
    <>
      <header className="border-b border-line px-5 py-3.5">
        <Brand />
      </header>
      <main className="mx-auto max-w-md px-4 py-8 sm:py-14">
        <div className="rounded-2xl border border-line bg-card p-5 sm:p-8">
          <Heading title={title} />
          {children}
        </div>
      </main>
    </>
  );
}
