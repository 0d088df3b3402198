import { Actions, Button } from "@assay/ui/button";
import { Icon } from "@assay/ui/icon";
import type { IconName } from "@assay/ui/icons";
import { Notice } from "@assay/ui/notice";
import { useEffect, useRef, useState } from "react";
import type { DeviceKind } from "../device/device-kind.ts";
import { displayContext } from "../device/display-context.ts";
import { TabButton } from "../embed/frame-parts.tsx";
import { failureWords, triesWords, useWords } from "../i18n/language.ts";
import type { Messages } from "../i18n/messages.ts";
import { OtherBrowserScreen } from "../screens/bound.tsx";
import type { ConsentToWallet } from "../screens/consent.tsx";
import { Later } from "../screens/show-later.tsx";
import { codeOf, type Details, type Status } from "../session/api.ts";
import { mustBeSeen } from "../session/consent-sight.ts";
import { type Offer, offerMark, waysBehind } from "../session/offers.ts";
import { isAtWallet, planned, walletStep } from "../session/steps.ts";
import { type Trouble, troubleOf, troubleWords } from "../session/trouble.ts";
import type { Session } from "../session/use-session.ts";
import { useStarted } from "../session/use-started.ts";
import { LostConnection } from "../ui/connection.tsx";
import { QrCode } from "../ui/qr-code.tsx";
import { Card, Screen, useAnnounce } from "../ui/screen.tsx";
import { hasDigitalCredentials } from "./digital-credentials.ts";
import { type Means, meansOf } from "./means.ts";
import { type Ending, endingOf, type Phase, useWalletRequest } from "./use-wallet-request.ts";
import { completeWallet, type WalletOutcome } from "./wallet-api.ts";
import type { WalletWords } from "./wallet-words.ts";

/** For the screen with the consent. */
export function consentToWallet(w: WalletWords, details: Details, offers: readonly Offer[]): ConsentToWallet {
  return {
    lookedAt: (shared) => <LookedAt details={details} shared={shared} words={w} />,
    needs: details.sandbox
      ? [["phone", w.need.test]]
      : offers.flatMap((offer) => (offer === "chip" ? [] : [["phone", w.need[offer]] as const])),
  };
}

function LookedAt({
  details,
  shared,
  words: w,
}: {
  details: Details;
  shared: ReadonlySet<string>;
  words: WalletWords;
}) {
  const looked = [...new Set(details.ways.flatMap(({ looks_at: keys }) => keys))].filter(
    (key) => !shared.has(key) && Object.hasOwn(w.looked, key),
  );
  if (looked.length === 0) return null;
  return (
    <div {...mustBeSeen} className="space-y-2 border-t border-line pt-3">
      <h3 className="font-semibold">{w.looked.title}</h3>
      <ul className="list-disc space-y-1 ps-5 text-small">
        {looked.map((key) => (
          <li key={key}>{w.looked[key]}</li>
        ))}
      </ul>
    </div>
  );
}

type Common = {
  session: Session;
  details: Details;
  status: Status;
  kind: DeviceKind;
  /** The offers, and the chosen one. */
  offers: readonly Offer[];
  offer: Offer | null;
  onOffer: (offer: Offer | null) => void;
  words: WalletWords;
};

/** After the agreement, until the wallet has answered. */
export function WalletWay({
  cameBack,
  onMoved,
  ...common
}: Common & {
  /** A wallet has sent the person to this page, and nothing came of it. */
  cameBack: boolean;
  onMoved: () => void;
}) {
  const { session, details, status, offer, words: w } = common;
  const { kept } = session;
  // A person who got the link from another must not answer for them. So a browser without consent asks first.
  const [isStarted, onStarted] = useStarted(kept);
  const isTheirs = isStarted || kept.cancelToken !== null || kept.askedWallet !== null;
  const [askedBefore] = useState(() => kept.askedWallet !== null);
  const [isHere, setHere] = useState(cameBack || askedBefore);
  if (status.status === "in_progress" && isAtWallet(status) && !isHere)
    return <FollowScreen {...common} onHere={() => setHere(true)} />;
  if (!isTheirs) return <Later show={{ screen: "started", details, onStarted }} />;
  if (offer === null || offer === "chip") return <ChooseScreen {...common} />;
  if (displayContext() === "frame")
    return (
      <Screen key="tab" title={titleOf(w, offer)} lead={w.ask.lead}>
        <Actions>
          <TabButton onOpened={onMoved} />
          <OtherWay {...common} />
        </Actions>
      </Screen>
    );
  // A return without a code and without a refusal means that nothing was confirmed.
  const before = askedBefore && !status.attempt?.refused ? "declined" : null;
  return <AskScreen key={offer} {...common} offer={offer} before={before} onAsk={() => setHere(true)} />;
}

function titleOf(w: WalletWords, offer: Offer): string {
  return offer === "age" ? w.ask.ageTitle : w.ask.title;
}

const offerIcons = { chip: "document", wallet: "phone", age: "shield" } as const satisfies Record<
  Offer,
  IconName
>;

/** Passport, wallet or age app, in the partner's order. */
function ChooseScreen({ session, status, offers, onOffer, words: w }: Common) {
  return (
    <Screen key="choose" title={w.choose.title} lead={w.choose.lead}>
      <Refused status={status} said={null} words={w} />
      <ul className="space-y-3">
        {offers.map((offer) => (
          <li key={offer}>
            <button
              type="button"
              className="flex w-full cursor-pointer items-center gap-4 rounded-card border border-field bg-card p-4 text-start hover:bg-soft"
              onClick={() => onOffer(offer)}
            >
              <Icon name={offerIcons[offer]} className="size-6 text-accent" />
              <span className="min-w-0 flex-1 space-y-1">
                <span className="block font-semibold">{w.choose[offer]}</span>
                <span className="block text-small text-muted">{w.choose[`${offer}Text`]}</span>
              </span>
              <Icon name="chevron" className="size-5 -rotate-90 text-muted rtl:rotate-90" />
            </button>
          </li>
        ))}
      </ul>
      <LostConnection connected={session.connected} />
    </Screen>
  );
}

function OtherWay({ offers, onOffer, words: w }: Pick<Common, "offers" | "onOffer" | "words">) {
  return offers.length < 2 ? null : (
    <Button look="secondary" onClick={() => onOffer(null)}>
      {w.choose.back}
    </Button>
  );
}

/** Asks the wallet, by the first means that this device has. */
function AskScreen({
  session,
  details,
  status,
  kind,
  offers,
  offer,
  onOffer,
  before,
  onAsk,
  words: w,
}: Common & { offer: Offer; before: Ending | null; onAsk: () => void }) {
  const { t } = useWords();
  const ways = waysBehind(details, offer);
  const isBound = details.requirements.binding === "required";
  const means = meansOf(ways, { kind, hasApi: hasDigitalCredentials(), sandbox: details.sandbox, isBound });
  const real = means.filter((each) => each !== "test");
  const [chosen, setMain] = useState<Means | null>(null);
  const main = chosen ?? real[0] ?? null;
  const { phase, said, ask, open, stop, seemsAlone } = useWalletRequest({
    session,
    status,
    ways,
    offer,
    before,
    onAsk,
  });
  const busy = phase.at === "asking" || phase.at === "checking";
  // An app that did not answer the browser may still answer a link.
  const others = real.filter(
    (each) => each !== main && (each !== "link" || said === "declined" || seemsAlone),
  );
  const otherWay = <OtherWay offers={offers} onOffer={onOffer} words={w} />;
  if (said === "bound") return <OtherBrowserScreen name={details.organization.name} />;
  if (means.length === 0)
    return (
      <Screen key="unreachable" title={w.unreachable.title} lead={w.unreachable.text} icon="link">
        <Actions>{otherWay}</Actions>
      </Screen>
    );
  const isWaiting = phase.at === "open" && phase.by !== "request";
  return (
    <Screen title={main === "handover" ? t.handoffTitle : titleOf(w, offer)} lead={w.ask.lead}>
      {phase.at === "ready" && <Refused status={status} said={said} words={w} />}
      {means.includes("test") && (
        <Card>
          <p>{w.ask.testText}</p>
          <Actions>
            <Button busy={busy} onClick={() => void ask("test")}>
              {busy ? t.working : w.ask.test}
            </Button>
          </Actions>
        </Card>
      )}
      {main === "handover" ? (
        <Later
          show={{
            screen: "code",
            session,
            lead: `${t.handoffLead} ${w.code.text}`,
            mark: `&${offerMark}=${offer}`,
          }}
        />
      ) : main === "request" ? (
        <RequestCode phase={phase} busy={busy} onShow={() => void ask("request")} words={w} />
      ) : (
        main !== null &&
        main !== "test" && (
          <Actions>
            <Button
              busy={busy}
              look={means.includes("test") ? "secondary" : "primary"}
              onClick={() => void (phase.at === "press" ? open(phase.by, phase.request) : ask(main))}
            >
              {phase.at === "asking"
                ? t.working
                : phase.at === "open"
                  ? w.ask.again
                  : offer === "age"
                    ? w.ask.ageOpen
                    : w.ask.open}
            </Button>
          </Actions>
        )
      )}
      <Progress phase={phase} words={w} />
      {isWaiting && seemsAlone && (
        <Notice look="info" title={w.none.title} urgent>
          <p>{w.none.text}</p>
          {offers.includes("chip") && (
            <Button
              look="secondary"
              onClick={() => {
                stop(null);
                onOffer("chip");
              }}
            >
              {w.none.passport}
            </Button>
          )}
        </Notice>
      )}
      <Actions>
        {others.map((each) => (
          <Button
            key={each}
            look="secondary"
            onClick={() => {
              stop(null);
              setMain(each);
            }}
          >
            {each === "link" ? w.ask.app : each === "browser" ? t.otherBack : w.ask.phone}
          </Button>
        ))}
        {otherWay}
      </Actions>
      <LostConnection connected={session.connected} />
    </Screen>
  );
}

/** The progress, in a line that screen readers announce. */
function Progress({ phase, words: w }: { phase: Phase; words: WalletWords }) {
  const text =
    phase.at === "open"
      ? w.ask.waiting
      : phase.at === "checking"
        ? w.ask.checking
        : phase.at === "press"
          ? w.ask.press
          : null;
  return (
    <p role="status" className={text === null ? "sr-only" : "text-muted"}>
      {text}
    </p>
  );
}

/** The request itself, for the app of another device. */
function RequestCode({
  phase,
  busy,
  onShow,
  words: w,
}: {
  phase: Phase;
  busy: boolean;
  onShow: () => void;
  words: WalletWords;
}) {
  const { t } = useWords();
  const link = phase.at === "open" && phase.by === "request" ? phase.request.link : null;
  return (
    <Card>
      <p>{w.code.request}</p>
      {link === null ? (
        <Actions>
          <Button look="secondary" busy={busy} onClick={onShow}>
            {busy ? t.working : w.code.show}
          </Button>
        </Actions>
      ) : (
        <QrCode text={link} label={w.code.alt} long />
      )}
    </Card>
  );
}

/** The wallet was asked elsewhere. */
function FollowScreen({ session, status, words: w, onHere }: Common & { onHere: () => void }) {
  return (
    <Screen key="follow" title={w.follow.title} lead={w.follow.text} icon="phone">
      <Refused status={status} said={null} words={w} />
      <Actions>
        <Button look="secondary" onClick={onHere}>
          {w.browser.again}
        </Button>
      </Actions>
      <LostConnection connected={session.connected} />
    </Screen>
  );
}

/** How the previous request ended, with the remaining tries if it used one. */
function Refused({
  status,
  said,
  words: w,
}: {
  status: Status;
  said: Ending | WalletOutcome | null;
  words: WalletWords;
}) {
  const { t } = useWords();
  if (typeof said === "string") {
    const notice = saidWords(t, w, said);
    return (
      <Notice look={said === "declined" ? "info" : "warn"} title={notice.title} urgent>
        <p>{notice.text}</p>
      </Notice>
    );
  }
  const refused = isAtWallet(status) ? status.attempt?.refused : null;
  const code = said?.failure_code ?? refused?.failure_code;
  if (code == null) return null;
  const { title, text, next } = walletFailure(t, w, code, refused?.unmet_requirement ?? null);
  const left = said?.tries_left ?? planned(status).find(({ name }) => name === walletStep)?.tries_left;
  return (
    <Notice look="warn" title={t.otherRefused} urgent>
      <p className="font-semibold">{title}</p>
      <p>
        {text} {next}
      </p>
      {left !== undefined && <p className="font-semibold">{triesWords(t, left)}</p>}
    </Notice>
  );
}

function saidWords(t: Messages, w: WalletWords, said: Ending): { title: string; text: string } {
  switch (said) {
    case "declined":
      return w.declined;
    case "late":
      return w.late;
    case "taken":
      return { title: t.handoffMismatchTitle, text: t.handoffMismatchText };
    case "bound":
    case "other_browser":
      return w.browser;
    default:
      return troubleWords(t, said);
  }
}

type FailureCode = NonNullable<Status["failure_code"]>;

/** Failures of a credential have other texts than those of a chip. */
function walletFailure(t: Messages, w: WalletWords, code: FailureCode, unmet: Status["unmet_requirement"]) {
  if (unmet !== null) return w.unmet;
  const own: Partial<Record<FailureCode, { title: string; text: string; next: string }>> = w.failure;
  return own[code] ?? failureWords(t, code, null);
}

/** The session ended because of what wallets presented. */
export function WalletFailed({
  words: w,
  ...outcome
}: {
  session: Session;
  details: Details;
  status: Status;
  onDevice: boolean;
  words: WalletWords;
}) {
  const { t } = useWords();
  const { failure_code: code, unmet_requirement: unmet } = outcome.status;
  const failure = code === null ? null : walletFailure(t, w, code, unmet);
  return <Later show={{ screen: "outcome", ...outcome, failure }} />;
}

/**
 * The wallet has sent the person back.
 * Only the code in the address and the cookie of the requesting browser count.
 */
export function BackScreen({
  session,
  code,
  onDone,
  words: w,
}: {
  session: Session;
  code: string;
  onDone: () => void;
  words: WalletWords;
}) {
  const { t } = useWords();
  const announce = useAnnounce();
  const [said, setSaid] = useState<Ending | null>(null);
  const { api, reload } = session;
  const begun = useRef(false);
  useEffect(() => {
    if (begun.current || said !== null) return;
    begun.current = true;
    announce(w.ask.checking);
    completeWallet(api.sessionId, code).then(
      () => reload().then(onDone),
      async (error: unknown) => {
        begun.current = false;
        const answered = codeOf(error);
        const known = endingOf(answered);
        // The session may have ended meanwhile; the page shows how.
        if (answered !== null) await reload();
        if (answered !== null && known === null && answered !== "INTERNAL_SERVER_ERROR") onDone();
        else setSaid(known ?? troubleOf(error));
      },
    );
  }, [said, api, code, reload, onDone, announce, w]);
  if (said === null) return <Screen key="checking" title={w.ask.checking} />;
  const { title, text } = saidWords(t, w, said);
  const isTrouble = isTroubleName(said);
  return (
    <Screen key={said} title={title} lead={text} icon={isTrouble ? "offline" : "link"}>
      {said === "other_browser" && <p>{w.browser.next}</p>}
      <Actions>
        <Button onClick={() => (isTrouble ? setSaid(null) : onDone())}>
          {isTrouble ? t.tryAgain : w.browser.again}
        </Button>
      </Actions>
    </Screen>
  );
}

function isTroubleName(said: Ending): said is Trouble {
  return said === "offline" || said === "no_answer" || said === "service";
}
