import { ChipSign, Drawing, Passport, Phone, paint } from "./drawing.tsx";

const { faint, accent } = paint;

/** The phone lies on the closed document, and both stay where they are. */
export function HoldPhone({ className = "" }: { className?: string }) {
  return (
    <Drawing className={className}>
      <path d="M24 140h192" stroke={faint} strokeOpacity="0.6" />
      <Passport x={58} y={34} />
      <g className="drawing-settle">
        <g transform="rotate(8 140 74)">
          <Phone x={104} y={14}>
            <ChipSign x={31} y={52} colour={accent} />
            <path d="M18 76h26M22 86h18" stroke={faint} />
          </Phone>
        </g>
      </g>
      <g stroke={accent} className="drawing-wave">
        <path d="M182 60c5 7 5 19 0 26" />
        <path d="M193 52c9 12 9 30 0 42" strokeOpacity="0.7" />
        <path d="M204 44c13 17 13 41 0 58" strokeOpacity="0.4" />
      </g>
    </Drawing>
  );
}
