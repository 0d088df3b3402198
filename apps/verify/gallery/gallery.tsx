import { brandOnPage } from "@assay/ui/brand";
import { Actions, Button, LinkButton } from "@assay/ui/button";
import type { Hex } from "@assay/ui/colours";
import { Fold, Folds } from "@assay/ui/fold";
import { HoldPhone } from "@assay/ui/hold-phone";
import { Icon } from "@assay/ui/icon";
import { type IconName, icons } from "@assay/ui/icons";
import * as drawings from "@assay/ui/illustrations";
import { Notice } from "@assay/ui/notice";
import { colours } from "@assay/ui/tokens";
import type { ReactNode } from "react";
import { createRoot } from "react-dom/client";
import "../src/styles.css";

/**
 * Every part of packages/ui on one page, for developers (`npx vite apps/verify`, then /verify/gallery.html)
 * and for a test. It is not part of the build.
 */
function Gallery() {
  return (
    <main className="mx-auto max-w-5xl space-y-8 p-6">
      <h1 className="text-title font-bold">Gallery</h1>
      <Part title="Colours">
        <ul className="grid grid-cols-[repeat(auto-fill,minmax(9rem,1fr))] gap-2">
          {Object.keys(colours).map((name) => (
            <li key={name} className="flex items-center gap-2 text-small">
              <span
                className="size-8 flex-none rounded-control border border-line"
                style={{ background: `var(--${name})` }}
              />
              {name}
            </li>
          ))}
        </ul>
      </Part>
      <Part title="Brands">
        <div className="grid gap-3 sm:grid-cols-2">
          {(["light", "dark"] as const).map((scheme) => (
            <ul
              key={scheme}
              className="space-y-2 rounded-card p-4"
              style={{ background: colours.card[scheme].toString() }}
            >
              {(["#ffee00", "#0a2540", "#e20074", "#cccccc", "#00c4b3"] as const).map((brand) => (
                <Brand key={brand} brand={brand} scheme={scheme} />
              ))}
            </ul>
          ))}
        </div>
      </Part>
      <Part title="Text">
        <p className="text-title font-bold">Title: you are verified</p>
        <p className="text-part font-semibold">Part: what was shared</p>
        <p className="text-lead text-muted">Lead: nothing is sent before you agree.</p>
        <p>Text: The document must be genuine. Größe, façade, año, œuvre, 0123456789.</p>
        <p className="text-small text-muted">Small: as stated by the business itself.</p>
      </Part>
      <Part title="Buttons">
        <Actions>
          <Button>Primary</Button>
          <Button look="secondary">
            <Icon name="download" />
            Secondary
          </Button>
          <Button look="danger">Danger</Button>
          <Button look="quiet">Quiet</Button>
          <Button busy>Busy</Button>
          <LinkButton href="#buttons">Link</LinkButton>
        </Actions>
      </Part>
      <Part title="Notices">
        {(["info", "good", "warn", "bad"] as const).map((look) => (
          <Notice key={look} look={look} title={`Notice: ${look}`}>
            <p>What happened, and what to do about it.</p>
          </Notice>
        ))}
      </Part>
      <Part title="Folds">
        <Folds>
          <Fold title="Closed" icon="lock">
            <p>Inside.</p>
          </Fold>
          <Fold title="Open" icon="shield" open>
            <p>Inside of what is open.</p>
          </Fold>
        </Folds>
      </Part>
      <Part title="Icons">
        <ul className="grid grid-cols-[repeat(auto-fill,minmax(7rem,1fr))] gap-3 text-small">
          {(Object.keys(icons) as IconName[]).map((name) => (
            <li key={name} className="flex items-center gap-2">
              <Icon name={name} className="size-6" />
              {name}
            </li>
          ))}
        </ul>
      </Part>
      <Part title="Drawings">
        <ul className="grid grid-cols-[repeat(auto-fill,minmax(14rem,1fr))] gap-4 text-center text-small">
          {Object.entries({ ...drawings, HoldPhone }).map(([name, Drawing]) => (
            <li key={name} className="rounded-card border border-line bg-card p-3">
              <Drawing />
              {name}
            </li>
          ))}
        </ul>
      </Part>
    </main>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="space-y-3">
      <h2 className="text-part font-semibold">{title}</h2>
      {children}
    </section>
  );
}

function Brand({ brand, scheme }: { brand: Hex; scheme: "light" | "dark" }) {
  const { fill, onFill, edge, accent } = brandOnPage(brand, scheme);
  return (
    <li className="flex flex-wrap items-center gap-3">
      <span
        className="rounded-control border px-4 py-2 font-semibold"
        style={{ background: fill, color: onFill, borderColor: edge }}
      >
        Agree
      </span>
      <span style={{ color: accent }}>{brand} as text</span>
    </li>
  );
}

const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<Gallery />);
