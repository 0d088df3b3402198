import type { FacePrompt } from "./prompt-schedule.ts";

/** Where eyes and mouth are on the head, and the arrow. Mirrored like the camera's picture: left is left. */
const drawings: Readonly<Record<FacePrompt, { x: number; y: number; head: number; arrow: string }>> = {
  ahead: { x: 0, y: 0, head: 24, arrow: "" },
  turn_left: { x: -9, y: 0, head: 24, arrow: "M24 50H4m10-10L4 50l10 10" },
  turn_right: { x: 9, y: 0, head: 24, arrow: "M76 50h20m-10-10 10 10-10 10" },
  look_up: { x: 0, y: -11, head: 24, arrow: "M50 18V2m-10 8L50 2l10 8" },
  come_closer: { x: 0, y: 0, head: 30, arrow: "M14 26V10h16M70 10h16v16M14 78v16h16M70 94h16V78" },
  close_eyes: { x: 0, y: 0, head: 24, arrow: "" },
  open_mouth: { x: 0, y: 0, head: 24, arrow: "" },
};

/** The instruction as a picture: a head, and an arrow for where it goes. The words beside it say the same. */
export function PromptPicture({ prompt }: { prompt: FacePrompt }) {
  const { x, y, head, arrow } = drawings[prompt];
  const [middle, eyes, mouth] = [50 + x, 46 + y, 62 + y];
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 100 104"
      className="size-14 flex-none sm:size-20"
      fill="none"
      stroke="currentColor"
      strokeWidth="4"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <ellipse cx="50" cy="52" rx={head * 0.85} ry={head * 1.15} />
      {prompt === "close_eyes" ? (
        <path d={`M${middle - 12} ${eyes}q4 4 8 0m8 0q4 4 8 0`} stroke="#8fe0b4" />
      ) : (
        <path d={`M${middle - 8} ${eyes}h.1M${middle + 8} ${eyes}h.1`} strokeWidth="6" />
      )}
      {prompt === "open_mouth" ? (
        <ellipse cx={middle} cy={mouth + 2} rx="6" ry="8" stroke="#8fe0b4" />
      ) : (
        <path d={`M${middle - 6} ${mouth}q6 4 12 0`} />
      )}
      <path d={arrow} stroke="#8fe0b4" strokeWidth="6" />
    </svg>
  );
}
