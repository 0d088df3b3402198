import type { ReactNode } from "react";
import { t } from "../i18n/words.ts";
import { LanguagePicker } from "./language-picker.tsx";
import { OfflineBanner } from "./offline.tsx";
import { Heading } from "./page.tsx";
import { Toasts } from "./toasts.tsx";

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
    <div className="flex min-h-dvh flex-col">
      <OfflineBanner />
      <header className="border-b border-line bg-card">
        <div className="h-1 bg-fill" />
        <div className="px-5 py-3.5">
          <Brand />
        </div>
      </header>
      <main className="mx-auto w-full max-w-md flex-1 px-4 py-8 sm:py-14">
        <div className="rounded-card border border-line bg-card p-5 shadow-raised sm:p-8 dark:shadow-none">
          <Heading title={title} />
          {children}
        </div>
      </main>
      <footer className="flex flex-wrap items-center justify-center gap-x-6 gap-y-1 px-4 pb-6 text-small text-muted">
        <a href="/docs" className="text-muted">
          {t.ui.guides}
        </a>
        <a href="/reference" className="text-muted">
          {t.ui.reference}
        </a>
        <LanguagePicker />
      </footer>
      <Toasts />
    </div>
  );
}
