import { Drawing, Passport, Phone, paint } from "./drawing.tsx";

/** Where a phone reads, from the top and the left of its front, as shares of its height and width. */
type Antenna = { readonly fromTop: number; readonly fromLeft: number };

/** Most phones read with the upper part of their back. */
const usual: Antenna = { fromTop: 0.25, fromLeft: 0.5 };

/**
 * The phone on the closed document, with its antenna over the middle of the document. The phone moves until
 * the chip is found; afterwards only the waves move.
 */
export function HoldPhone({ antenna = null, found = false }: { antenna?: Antenna | null; found?: boolean }) {
  const { fromLeft, fromTop } = antenna ?? usual;
  // Nearer to an edge the document would leave the picture.
  const within = (share: number) => Math.min(Math.max(share, 0.2), 0.8);
  const [x, y] = [92 + 56 * within(fromLeft), 23 + 104 * within(fromTop)];
  return (
    <Drawing className="[@media(min-height:44rem)]:max-w-72">
      <g transform={`translate(${x} ${y}) rotate(-90) scale(1.1)`}>
        <Passport x={-36} y={-50} />
      </g>
      <g className={found ? "" : "drawing-settle"}>
        <g transform="translate(92 23) scale(0.9)">
          <Phone x={0} y={0} />
        </g>
        <circle className="drawing-spot" cx={x} cy={y} r="5" fill={paint.accent} />
        <g className="drawing-wave" stroke={paint.accent}>
          <circle cx={x} cy={y} r="10" />
          <circle cx={x} cy={y} r="15" strokeOpacity="0.7" />
          <circle cx={x} cy={y} r="20" strokeOpacity="0.4" />
        </g>
      </g>
    </Drawing>
  );
}
