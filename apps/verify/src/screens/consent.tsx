import { directionOf } from "@assay/contract/facts";
import { Button } from "@assay/ui/button";
import { Fold, Folds } from "@assay/ui/fold";
import { Icon } from "@assay/ui/icon";
import type { IconName } from "@assay/ui/icons";
import { Notice } from "@assay/ui/notice";
import { type ReactNode, useCallback, useEffect, useId, useState } from "react";
import type { Way } from "../device/ways.ts";
import { useConsentSight } from "../embed/use-partner-page.ts";
import { claimWords, type Language, reasonIn, useWords } from "../i18n/language.ts";
import type { Messages } from "../i18n/messages.ts";
import { codeOf, type Details } from "../session/api.ts";
import { mustBeSeen } from "../session/consent-sight.ts";
import type { GivenTexts } from "../session/given.ts";
import type { Offer } from "../session/offers.ts";
import { type Trouble, troubleOf, troubleWords } from "../session/trouble.ts";
import type { Session } from "../session/use-session.ts";
import { useOnline, useSlow } from "../ui/connection.tsx";
import { Card, Points, Screen, useAnnounce } from "../ui/screen.tsx";
import { AboutWho, WhoAsks } from "../ui/who-asks.tsx";
import { LeaveControl } from "./leave.tsx";
import { RequiredOfDocument } from "./required-of-document.tsx";

/** Additional parts for a session that a wallet can answer. */
export type ConsentToWallet = {
  /** Data that is checked in addition to what is shared. */
  lookedAt: (shared: ReadonlySet<string>) => ReactNode;
  needs: readonly (readonly [IconName, string])[];
};

type Field = [key: string, field: Details["share_fields"][string]];

export function ConsentScreen({
  session,
  details,
  way,
  offers = ["chip"],
  wallet = null,
  onAgreed,
  onThisDevice,
}: {
  session: Session;
  details: Details;
  way: Way;
  offers?: readonly Offer[];
  wallet?: ConsentToWallet | null;
  onAgreed: () => void;
  /** Undoes the choice of another device; null if it was not chosen. */
  onThisDevice: (() => void) | null;
}) {
  const { t, language } = useWords();
  const announce = useAnnounce();
  const fields = Object.entries(details.share_fields);
  const required = fields.filter(([, field]) => field.required);
  const optional = fields.filter(([, field]) => !field.required);
  // Nothing is ticked in advance: consent must be the person's choice.
  const [added, setAdded] = useState<ReadonlySet<string>>(new Set());
  const sharing = new Set(fields.flatMap(([key, field]) => (field.required || added.has(key) ? [key] : [])));
  const [agreed, setAgreed] = useState(false);
  const [asked, setAsked] = useState(false);
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const slow = useSlow(busy);
  const [texts, setTexts] = useState<GivenTexts | null>(session.texts);
  const agreeId = useId();
  const form = useConsentSight();

  const [hasAll, setHasAll] = useState(false);
  const [inEnglish, setInEnglish] = useState(false);

  const loadTexts = useCallback(async () => {
    setTrouble(null);
    const take = (all: GivenTexts) => {
      setTexts(all);
      setHasAll(true);
    };
    await session.api.texts().then(take, (error: unknown) => setTrouble(troubleOf(error)));
  }, [session.api]);
  // An operator's own texts may not have this language; the page then shows the English one.
  const shownIn = inEnglish || (hasAll && texts?.texts[language] === undefined) ? "en" : language;
  const missing = !hasAll && texts?.texts[shownIn] === undefined;
  useEffect(() => {
    if (missing) void loadTexts();
  }, [missing, loadTexts]);
  // When the network returns, its message is removed and the missing data is fetched.
  const online = useOnline();
  useEffect(() => {
    if (!online || trouble !== "offline") return;
    setTrouble(null);
    if (missing) void loadTexts();
  }, [online, trouble, missing, loadTexts]);

  const agree = async (version: string) => {
    setAsked(true);
    if (!agreed) {
      document.getElementById(agreeId)?.focus();
      announce(t.agreeMissing);
      return;
    }
    setBusy(true);
    setTrouble(null);
    session.kept.isAgreeing = true;
    try {
      const given = await session.api.consent([...sharing], version, shownIn, session.kept.returnCode);
      session.kept.cancelToken = given.cancel_token;
      session.kept.isAgreeing = false;
      onAgreed();
    } catch (error) {
      session.kept.isAgreeing = false;
      const code = codeOf(error);
      if (code === "CONSENT_TEXTS_CHANGED" || code === "FIELD_NOT_ASKED") {
        // The person agrees to the displayed texts.
        // If they have changed since, the new ones are shown and need a new consent.
        setAgreed(false);
        await loadTexts();
      } else if (code !== null) await session.reload();
      const why = troubleOf(error);
      setTrouble(why);
      // The notice that is there already is said once more: something was pressed.
      if (why === "offline") announce(t.offlineTitle);
      setBusy(false);
    }
  };

  const ofChip = offers.includes("chip");
  const text = texts?.texts[shownIn];
  // A process of the release before, which may answer during an update, has one text.
  const [first, ...others] = text?.[details.terms.text ?? "paragraphs"] ?? text?.paragraphs ?? [];
  const { name } = details.organization;
  return (
    <Screen title={t.consentTitle(name)} lead={t.consentLead}>
      <div className="beside space-y-5 lg:space-y-0">
        <div className="space-y-5">
          <WhoAsks details={details} />
          <Card title={t.whatIsAsked}>
            <FieldGroup note={t.requiredNote} fields={required} />
            {optional.length > 0 && (
              <FieldGroup
                title={t.optionalFields}
                note={t.optionalNote}
                fields={optional}
                isChosen={(key) => added.has(key)}
                onChoose={(key, chosen) => {
                  const next = new Set(added);
                  if (chosen) next.add(key);
                  else next.delete(key);
                  setAdded(next);
                }}
              />
            )}
            {wallet?.lookedAt(sharing)}
          </Card>
          {ofChip && <RequiredOfDocument requirements={details.requirements} />}
          <section className="space-y-1 text-small">
            <h2 className="font-semibold" {...writtenIn(text, shownIn)}>
              {text?.title ?? t.privacyTitle}
            </h2>
            <p className="text-muted" {...writtenIn(text, shownIn)}>
              {first ?? t.loading}
            </p>
            <Unreviewed
              reviewed={texts?.texts[language]?.reviewed !== false}
              inEnglish={inEnglish}
              onEnglish={setInEnglish}
            />
          </section>
          <Folds>
            {/* With a real document it decides whether the person can continue. */}
            <Fold title={t.needTitle} icon="document" open={!details.sandbox}>
              <Points
                points={[
                  ...(ofChip ? needsOfChip(t, way, details) : []),
                  ...(wallet?.needs ?? []),
                  ...(ofChip ? ([["clock", t.needTime]] as const) : []),
                ]}
              />
            </Fold>
            {text !== undefined && (
              <Fold title={t.privacyTitle} icon="lock">
                {fields.map(([key]) => {
                  const { label, about } = claimWords(t, key);
                  return (
                    about !== null && (
                      <p key={key}>
                        <strong className="font-semibold">{label}.</strong> {about}
                      </p>
                    )
                  );
                })}
                {others.map((paragraph) => (
                  <p key={paragraph} {...writtenIn(text, shownIn)}>
                    {paragraph}
                  </p>
                ))}
              </Fold>
            )}
            <AboutWho details={details} />
          </Folds>
        </div>
        <form
          ref={form}
          noValidate
          className="in-reach agrees space-y-3"
          onSubmit={(event) => {
            event.preventDefault();
            if (!busy && texts !== null) void agree(texts.version);
          }}
        >
          {trouble !== null && trouble !== "offline" && (
            <Notice look="warn" title={troubleWords(t, trouble).title} urgent>
              <p>{troubleWords(t, trouble).text}</p>
            </Notice>
          )}
          {/* The person cannot agree to a text that is not loaded yet. */}
          {text !== undefined && (
            <label {...mustBeSeen} className="flex items-start gap-3 text-small sm:text-base">
              <input
                id={agreeId}
                type="checkbox"
                checked={agreed}
                onChange={(event) => setAgreed(event.target.checked)}
                aria-invalid={asked && !agreed}
                aria-describedby={asked && !agreed ? `${agreeId}-missing` : undefined}
              />
              <span>
                {t.agreeLabel}
                {asked && !agreed && (
                  <span id={`${agreeId}-missing`} className="block font-semibold text-bad">
                    {t.agreeMissing}
                  </span>
                )}
              </span>
            </label>
          )}
          {slow && <p role="status">{t.slowText}</p>}
          {/* Fixed shares of the width, stacked on narrow screens, so that rounding does not matter. */}
          <div className="flex flex-col gap-3 min-[22.5rem]:max-sm:grid min-[22.5rem]:max-sm:grid-cols-[2fr_3fr] sm:flex-row-reverse sm:flex-wrap sm:justify-end lg:flex-col">
            {text !== undefined ? (
              <Button
                type="submit"
                busy={busy}
                className="[overflow-wrap:normal] min-[22.5rem]:max-sm:order-2 max-sm:px-3"
              >
                {busy ? t.working : t.agreeButton}
              </Button>
            ) : (
              trouble !== null && <Button onClick={() => void loadTexts()}>{t.tryAgain}</Button>
            )}
            <LeaveControl session={session} name={name} look="secondary">
              {t.declineButton}
            </LeaveControl>
            {onThisDevice !== null && (
              <Button look="quiet" className="max-sm:order-3 max-sm:col-span-2" onClick={onThisDevice}>
                {way.by === "counter" ? t.receiptBack : t.otherBack}
              </Button>
            )}
          </div>
        </form>
      </div>
    </Screen>
  );
}

function needsOfChip(t: Messages, way: Way, { sandbox, organization }: Details) {
  if (sandbox) return [["document", t.needNothing]] as const;
  const reader: readonly [IconName, string] =
    way.by === "counter"
      ? ["chip", t.counter.need(organization.name)]
      : ["phone", way.by === "here" ? t.needThisDevice : t.needPhone];
  return [["document", t.needDocument], reader] as const;
}

function writtenIn(text: unknown, language: Language) {
  return text === undefined ? {} : { lang: language, dir: directionOf(language) };
}

/** Says that no lawyer has read the translation, and leads to the text that counts. */
function Unreviewed({
  reviewed,
  inEnglish,
  onEnglish,
}: {
  reviewed: boolean;
  inEnglish: boolean;
  onEnglish: (inEnglish: boolean) => void;
}) {
  const { t } = useWords();
  if (reviewed && !inEnglish) return null;
  return (
    <p className="text-muted">
      {t.consentNotReviewed}{" "}
      <button
        type="button"
        className="cursor-pointer font-semibold text-accent underline"
        onClick={() => onEnglish(!inEnglish)}
      >
        {inEnglish ? t.consentShowTranslation : t.consentShowEnglish}
      </button>
    </p>
  );
}

function FieldGroup({
  title,
  note,
  fields,
  isChosen,
  onChoose,
}: {
  title?: string;
  note: string;
  fields: readonly Field[];
  isChosen?: (key: string) => boolean;
  onChoose?: (key: string, chosen: boolean) => void;
}) {
  return (
    <div className="space-y-2">
      {title !== undefined && <h3 className="border-t border-line pt-3 font-semibold">{title}</h3>}
      <ul className="space-y-2.5">
        {fields.map(([key, field]) => (
          <li key={key} {...mustBeSeen}>
            {isChosen !== undefined && onChoose !== undefined ? (
              <label className="flex items-start gap-3">
                <input
                  type="checkbox"
                  name={key}
                  checked={isChosen(key)}
                  onChange={(event) => onChoose(key, event.target.checked)}
                />
                <FieldWords name={key} field={field} />
              </label>
            ) : (
              <div className="flex items-start gap-3">
                <span className="grid size-6 flex-none place-items-center rounded-full bg-soft text-accent">
                  <Icon name="check" className="size-4" />
                </span>
                <FieldWords name={key} field={field} />
              </div>
            )}
          </li>
        ))}
      </ul>
      <p className="text-small text-muted">{note}</p>
    </div>
  );
}

/** The requested field and its reason, in two lines. */
function FieldWords({ name, field }: { name: string; field: Field[1] }) {
  const { t, language } = useWords();
  const { label } = claimWords(t, name);
  const reason = reasonIn(language, field);
  return (
    <span className="min-w-0 flex-1 leading-snug">
      <span className="block font-medium">{label}</span>
      <span className="block text-small text-muted">
        <span className="sr-only">{t.reasonLabel} </span>
        {field.source === "default" ? t.reasonDefault : <bdi lang={reason.lang}>{reason.text}</bdi>}
      </span>
    </span>
  );
}
