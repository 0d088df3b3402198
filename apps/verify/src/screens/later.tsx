import type { ComponentProps } from "react";
import { FollowScreen } from "./follow.tsx";
import { HandoffCode, HandoffScreen, ScannedScreen } from "./handoff.tsx";
import { OutcomeScreen } from "./outcome.tsx";
import { ReadingScreen } from "./reading.tsx";
import { StartedScreen } from "./started.tsx";

/** A screen after the agreement, with what it needs. */
export type LaterScreen =
  | ({ screen: "handoff" } & ComponentProps<typeof HandoffScreen>)
  | ({ screen: "code" } & ComponentProps<typeof HandoffCode>)
  | ({ screen: "scanned" } & ComponentProps<typeof ScannedScreen>)
  | ({ screen: "started" } & ComponentProps<typeof StartedScreen>)
  | ({ screen: "follow" } & ComponentProps<typeof FollowScreen>)
  | ({ screen: "reading" } & ComponentProps<typeof ReadingScreen>)
  | ({ screen: "outcome" } & ComponentProps<typeof OutcomeScreen>);

export function LaterScreens({ show }: { show: LaterScreen }) {
  switch (show.screen) {
    case "handoff":
      return <HandoffScreen key="handoff" {...show} />;
    case "code":
      return <HandoffCode key="code" {...show} />;
    case "scanned":
      return <ScannedScreen key="scanned" {...show} />;
    case "started":
      return <StartedScreen key="started" {...show} />;
    case "follow":
      return <FollowScreen key="follow" {...show} />;
    case "reading":
      return <ReadingScreen key="reading" {...show} />;
    case "outcome":
      return <OutcomeScreen key="outcome" {...show} />;
  }
}
