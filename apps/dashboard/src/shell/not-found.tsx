import { LinkButton } from "../ui/button.tsx";
import { PublicFrame } from "./public-frame.tsx";

export function NotFound() {
  return (
    <PublicFrame title="There is no such page">
      <p className="mb-4">The address may be mistyped, or the page has moved.</p>
      <LinkButton look="primary" to="/dashboard">
        Go to the overview
      </LinkButton>
    </PublicFrame>
  );
}
