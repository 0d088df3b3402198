import { uploadLogo } from "@assay/contract/organization-logo";
import { brandOnPage } from "@assay/ui/brand";
import { Button } from "@assay/ui/button";
import type { Hex } from "@assay/ui/colours";
import { Icon } from "@assay/ui/icon";
import { colours } from "@assay/ui/tokens";
import { type CSSProperties, useState } from "react";
import { Choices } from "../ui/choices.tsx";

type Scheme = "light" | "dark";

/** The tokens of a scheme with the brand in its place, whatever scheme the reader's own page is in. */
function paint(brand: Hex | null, scheme: Scheme): CSSProperties {
  const own = Object.entries(colours).map(([name, value]) => [`--${name}`, value[scheme]] as const);
  const branded = brand === null ? null : brandOnPage(brand, scheme);
  return Object.fromEntries([
    ...own,
    ["--accent", branded?.accent ?? colours.accent[scheme]],
    ["--fill", branded?.fill ?? colours.accent[scheme]],
    ["--on-fill", branded?.onFill ?? colours["on-accent"][scheme]],
    ["--edge", branded?.edge ?? colours.accent[scheme]],
    ["colorScheme", scheme],
  ]) as CSSProperties;
}

/** The head and the main button of the page on which people are verified, made of the same parts, in the colour as it is typed. */
export function BrandPreview(props: { name: string; colour: string; logoUploadedAt: string | null }) {
  const [scheme, setScheme] = useState<Scheme>("light");
  const brand = /^#[0-9a-f]{6}$/i.test(props.colour) ? (props.colour.toLowerCase() as Hex) : null;
  return (
    <figure className="min-w-0">
      <figcaption className="mb-2 flex flex-wrap items-center justify-between gap-2">
        <span className="font-medium">As people see it</span>
        <Choices
          small
          legend="Scheme of the preview"
          options={[
            { value: "light", label: "Light" },
            { value: "dark", label: "Dark" },
          ]}
          value={scheme}
          onChange={setScheme}
        />
      </figcaption>
      {/* A picture of the page: nothing in it can be operated, and a screen reader is told what it is. */}
      <div
        role="img"
        aria-label={`Preview of the verify page of ${props.name} in ${scheme} colours`}
        style={paint(brand, scheme)}
        className="overflow-hidden rounded-card border border-line bg-paper text-ink"
      >
        <div inert>
          <div className="border-b border-line bg-card">
            <div className="h-1 bg-fill" />
            <div className="flex items-center gap-3 px-4 py-2.5">
              {props.logoUploadedAt === null ? (
                <span className="inline-flex size-9 flex-none items-center justify-center rounded-control bg-soft text-muted">
                  <Icon name="shield" className="size-5" />
                </span>
              ) : (
                <img
                  key={props.logoUploadedAt}
                  src={uploadLogo.path}
                  alt=""
                  className="size-9 flex-none rounded-control bg-white object-contain p-0.5"
                />
              )}
              <span className="min-w-0 leading-tight">
                <bdi className="line-clamp-2 font-semibold">{props.name}</bdi>
                <span className="block text-small text-muted">Verified by Assay</span>
              </span>
            </div>
          </div>
          <div className="space-y-4 p-4">
            <p className="text-part font-semibold">
              <bdi>{props.name}</bdi> asks you to verify your identity
            </p>
            <ul className="space-y-2 rounded-card border border-line bg-card p-4">
              {["Family name", "Date of birth"].map((claim) => (
                <li key={claim} className="flex items-center gap-3">
                  <Icon name="check" className="size-5 text-accent" />
                  {claim}
                </li>
              ))}
            </ul>
            <Button className="w-full">Agree and continue</Button>
            <p className="text-center text-small">
              <span className="text-accent underline underline-offset-4">Privacy notice</span>
            </p>
          </div>
        </div>
      </div>
    </figure>
  );
}
