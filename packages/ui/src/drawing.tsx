import type { ReactNode } from "react";

/**
 * Drawings in the colours of the page. They repeat the text beside them, so screen readers skip them. They
 * stand still if the reader prefers reduced motion.
 */
export function Drawing({ children, className = "" }: { children: ReactNode; className?: string }) {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 240 150"
      className={`drawing ${className}`}
      fill="none"
      strokeWidth="2.5"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      {children}
    </svg>
  );
}

/** The colours of a drawing are those of the page. */
export const paint = {
  ink: "var(--ink)",
  faint: "var(--field)",
  card: "var(--card)",
  soft: "var(--soft)",
  accent: "var(--accent)",
  onAccent: "var(--on-accent)",
} as const;
const { ink, card, soft, accent, onAccent } = paint;

/** The sign that is printed on every document with a chip. */
export function ChipSign({ x, y, scale, colour }: { x: number; y: number; scale: number; colour: string }) {
  return (
    <g transform={`translate(${x} ${y}) scale(${scale})`} stroke={colour} strokeWidth="2.2">
      <rect x="-11" y="-7" width="22" height="14" rx="2" />
      <circle r="3.6" />
      <path d="M-11 0h7.4M3.6 0H11" />
    </g>
  );
}

/** A passport from the front. */
export function Passport({ x, y }: { x: number; y: number }) {
  return (
    <g transform={`translate(${x} ${y})`}>
      <rect x="4" y="3" width="70" height="98" rx="7" fill={soft} stroke={ink} strokeOpacity="0.5" />
      <rect width="70" height="98" rx="7" fill={accent} stroke={accent} />
      <circle cx="35" cy="36" r="14" stroke={onAccent} strokeOpacity="0.85" />
      <path
        d="M21 36h28M35 22c-9 9-9 19 0 28M35 22c9 9 9 19 0 28"
        stroke={onAccent}
        strokeOpacity="0.85"
        strokeWidth="1.8"
      />
      <path d="M20 62h30M26 69h18" stroke={onAccent} strokeOpacity="0.6" />
      <ChipSign x={35} y={84} scale={0.85} colour={onAccent} />
    </g>
  );
}

export function Phone({ x, y, children }: { x: number; y: number; children?: ReactNode }) {
  return (
    <g transform={`translate(${x} ${y})`}>
      <rect width="62" height="116" rx="11" fill={card} stroke={ink} />
      <path d="M25 8h12" stroke={ink} />
      {children}
    </g>
  );
}
