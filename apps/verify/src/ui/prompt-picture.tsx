import type { FacePrompt } from "../face/prompt-schedule.ts";

/** Where eyes and mouth are shown, as far as the head is turned. Mirrored like the camera's picture: left is left. */
const looks: Readonly<Record<FacePrompt, { x: number; y: number; head: number; arrow: string }>> = {
  ahead: { x: 0, y: 0, head: 20, arrow: "" },
  turn_left: { x: -8, y: 0, head: 20, arrow: "M18 62H2m7-8-8 8 8 8" },
  turn_right: { x: 8, y: 0, head: 20, arrow: "M46 62h16m-7-8 8 8-8 8" },
  look_up: { x: 0, y: -8, head: 20, arrow: "M32 14V2m-8 7 8-8 8 8" },
  come_closer: { x: 0, y: 0, head: 26, arrow: "M8 16V6h10M46 6h10v10M8 60v10h10M46 70h10V60" },
};

/** The instruction as a picture: a head, and an arrow for where it goes. The words beside it say the same. */
export function PromptPicture({ prompt }: { prompt: FacePrompt }) {
  const { x, y, head, arrow } = looks[prompt];
  return (
    <svg
      aria-hidden="true"
      viewBox="-2 -2 68 80"
      className="h-16 w-14 flex-none"
      fill="none"
      stroke="currentColor"
      strokeWidth="3.5"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <ellipse cx="32" cy="38" rx={head * 0.8} ry={head} />
      <path d={`M${25 + x} ${34 + y}h.1M${39 + x} ${34 + y}h.1`} strokeWidth="5" />
      <path d={`M${27 + x} ${47 + y}q5 3 10 0`} />
      {arrow !== "" && <path d={arrow} stroke="#8fe0b4" strokeWidth="4.5" />}
    </svg>
  );
}
