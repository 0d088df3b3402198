/** A colour as `#rrggbb`. */
export type Hex = `#${string}`;

/** Relative luminance of WCAG 2. */
function luminance(hex: Hex): number {
  const [red = 0, green = 0, blue = 0] = channels(hex).map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Contrast ratio of WCAG 2, from 1 to 21. */
export function contrast(one: Hex, other: Hex): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function channels(hex: Hex): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
}

/** `share` of the way from one colour to the other. */
function mix(from: Hex, to: Hex, share: number): Hex {
  const ends = channels(to);
  const parts = channels(from).map((channel, index) =>
    Math.round(channel + ((ends[index] ?? 0) - channel) * share)
      .toString(16)
      .padStart(2, "0"),
  );
  return `#${parts.join("")}`;
}

const white: Hex = "#ffffff";
const black: Hex = "#000000";
/** Contrast of text, and of the edge of controls (WCAG 2.2 AA: 1.4.3 and 1.4.11). */
export const readableRatio = 4.5;
export const visibleRatio = 3;

/**
 * White where it is readable on the colour, else black, which then always is: the two ratios multiply to 21.
 */
function textOn(fill: Hex): Hex {
  return contrast(fill, white) >= readableRatio ? white : black;
}

/** The colour, moved towards `end` only as far as it needs to contrast with every ground. */
function standOut(colour: Hex, grounds: readonly Hex[], end: Hex, ratio: number): Hex {
  const steps = 64;
  for (let step = 0; step < steps; step++) {
    const moved = mix(colour, end, step / steps);
    if (grounds.every((ground) => contrast(moved, ground) >= ratio)) return moved;
  }
  return end;
}

/** The colours that a page uses for a brand. */
export type BrandColours = {
  /** The ground of the main button, and the text on it. */
  fill: Hex;
  onFill: Hex;
  /** The edge of the main button, which must be seen whatever the fill is. */
  edge: Hex;
  /** Links, ticks, rings and bars. */
  accent: Hex;
};

/**
 * Turns any colour into readable ones: yellow gets black text and a darker edge. Text in the colour is
 * darkened, or lightened on a dark page, as far as necessary.
 */
export function brandColours(brand: Hex, scheme: "light" | "dark", grounds: readonly Hex[]): BrandColours {
  const end = scheme === "light" ? black : white;
  const edge = standOut(brand, grounds, end, visibleRatio);
  // On a dark page a dark fill would be a hole; the edge's colour is the nearest that is seen.
  const fill = scheme === "light" ? brand : edge;
  return { fill, onFill: textOn(fill), edge, accent: standOut(brand, grounds, end, readableRatio) };
}
