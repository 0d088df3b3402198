import { ChipSign, Drawing, Passport, Phone, paint } from "./drawing.tsx";

const { ink, faint, card, soft, accent, onAccent } = paint;

/** The chip symbol on the cover of a passport, and on a card. */
export function ChipPlace() {
  return (
    <Drawing>
      <Passport x={34} y={24} />
      <circle cx="69" cy="108" r="15" stroke={onAccent} strokeWidth="3" strokeDasharray="5 6" />
      <g transform="translate(126 46)">
        <rect width="88" height="58" rx="7" fill={card} stroke={ink} />
        <rect x="10" y="12" width="22" height="28" rx="3" fill={soft} stroke={faint} />
        <circle cx="21" cy="22" r="4.5" stroke={faint} />
        <path d="M14 36c1-5 13-5 14 0M42 16h22M42 24h34M42 32h26M10 49h46" stroke={faint} strokeWidth="2.2" />
        <ChipSign x={72} y={47} scale={0.7} colour={accent} />
      </g>
      <circle cx="198" cy="93" r="15" stroke={accent} strokeWidth="3" strokeDasharray="5 6" />
    </Drawing>
  );
}

/** A face in the oval of the camera. */
export function FaceInOval({ className = "" }: { className?: string }) {
  return (
    <Drawing className={className}>
      <rect x="76" y="8" width="88" height="134" rx="15" fill={card} stroke={ink} />
      <path d="M112 17h16" stroke={ink} />
      <path d="M92 126c4-20 52-20 56 0" fill={soft} stroke={faint} />
      <path
        d="M120 46c13 0 20 9 20 24 0 17-9 30-20 30s-20-13-20-30c0-15 7-24 20-24Z"
        fill={soft}
        stroke={ink}
      />
      <path d="M112 70h.1M128 70h.1" stroke={ink} strokeWidth="4.5" />
      <path d="M113 85c4 4 10 4 14 0" stroke={ink} />
      <path d="M120 76v3" stroke={faint} />
      <ellipse cx="120" cy="73" rx="32" ry="42" stroke={accent} strokeWidth="3" strokeDasharray="6 6" />
      <g stroke={accent} strokeOpacity="0.8">
        <path d="M62 62l-12 10 12 10M178 62l12 10-12 10" />
      </g>
    </Drawing>
  );
}

/** The code on this screen, and the phone that looks at it. */
export function ScanCode({ className = "" }: { className?: string }) {
  return (
    <Drawing className={className}>
      <rect x="26" y="22" width="120" height="82" rx="8" fill={card} stroke={ink} />
      <path d="M66 124h40M86 104v20" stroke={ink} />
      <g fill={ink}>
        <path d="M64 40h18v18H64zM90 40h18v18H90zM64 66h18v18H64z" fillOpacity="0.12" />
        <path d="M69 45h8v8h-8zM95 45h8v8h-8zM69 71h8v8h-8zM90 66h6v6h-6zM102 66h6v6h-6zM96 72h6v6h-6zM90 78h6v6h-6zM102 78h6v6h-6z" />
      </g>
      <Phone x={154} y={26}>
        <path d="M14 40v-8h8M48 40v-8h-8M14 62v8h8M48 62v8h-8" stroke={accent} strokeWidth="3" />
        <path d="M12 51h38" stroke={accent} className="drawing-scan" />
      </Phone>
    </Drawing>
  );
}

/** It is done. */
export function AllDone({ className = "" }: { className?: string }) {
  return (
    <Drawing className={className}>
      <circle cx="120" cy="76" r="54" fill="var(--good-soft)" />
      <circle cx="120" cy="76" r="38" fill="var(--good)" />
      <path d="M103 77l12 12 23-26" stroke="var(--card)" strokeWidth="6" className="drawing-tick" />
      <g stroke="var(--good)" strokeWidth="3.5">
        <path d="M52 40l7 5M44 82h9M60 120l6-6M188 40l-7 5M196 82h-9M180 120l-6-6M120 8v8" />
      </g>
      <g fill={accent}>
        <circle cx="74" cy="22" r="3.5" />
        <circle cx="170" cy="20" r="3.5" />
        <circle cx="34" cy="58" r="2.5" />
        <circle cx="208" cy="60" r="2.5" />
      </g>
    </Drawing>
  );
}
