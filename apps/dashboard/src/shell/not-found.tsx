import { LinkButton } from "../ui/button.tsx";
import { Heading } from "../ui/page.tsx";
import { PublicFrame } from "../ui/public-frame.tsx";

const title = "Page not found";

function WayOut() {
  return (
    <>
      <p className="mb-4">Check the address, or start from the overview.</p>
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
