import { LinkButton } from "../ui/button.tsx";
import { Heading } from "../ui/page.tsx";
import { PublicFrame } from "../ui/public-frame.tsx";

const title = "There is no such page";

function WayOut() {
  return (
    <>
      <p className="mb-4">The address may be mistyped, or the page has moved.</p>
      <LinkButton look="primary" icon="overview" to="/dashboard">
        Go to the overview
      </LinkButton>
    </>
  );
}

export function NotFound() {
  return (
    <PublicFrame title={title}>
      <WayOut />
    </PublicFrame>
  );
}

/** The same for somebody who is signed in, inside of what surrounds every page. */
export function StrayPage() {
  return (
    <>
      <Heading title={title} />
      <WayOut />
    </>
  );
}
