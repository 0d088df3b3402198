import { type BrandColours, brandColours, type Hex } from "./colours.ts";
import { colourProperties, colours, grounds } from "./tokens.ts";

type Scheme = "light" | "dark";

/** The colours of a brand on the grounds of the page. */
export function brandOnPage(brand: Hex, scheme: Scheme): BrandColours {
  return brandColours(
    brand,
    scheme,
    grounds.map((name) => colours[name][scheme]),
  );
}

/** Custom properties that fix the page to one scheme, whatever the reader's is. The brand stays. */
export function schemeProperties(scheme: Scheme): [name: string, value: string][] {
  return [["color-scheme", scheme], ...colourProperties(scheme)];
}

/** Custom properties that put the brand in the place of the service's own colour; see `tokensCss`. */
export function brandProperties(brand: Hex): [name: string, value: Hex][] {
  return (["light", "dark"] as const).flatMap((scheme): [string, Hex][] => {
    const { fill, onFill, edge, accent } = brandOnPage(brand, scheme);
    return [
      [`--brand-fill-${scheme}`, fill],
      [`--brand-on-fill-${scheme}`, onFill],
      [`--brand-edge-${scheme}`, edge],
      [`--brand-accent-${scheme}`, accent],
    ];
  });
}
