import { useCallback, useEffect, useId, useState } from "react";
import type { Way } from "../device/ways.ts";
import { useConsentSight } from "../embed/use-partner-page.ts";
import { claimWords, reasonIn, useWords } from "../i18n/language.ts";
import { type ConsentTexts, codeOf, type Details } from "../session/api.ts";
import type { Session } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import { useOnline, useSlow } from "../ui/connection.tsx";
import { Notice } from "../ui/notice.tsx";
import { Card, Screen, useAnnounce } from "../ui/screen.tsx";
import { type Trouble, troubleOf, troubleWords } from "../ui/trouble.ts";
import { LeaveControl } from "./leave.tsx";
import { RequiredOfDocument } from "./required-of-document.tsx";
import { WhoAsks } from "./who-asks.tsx";

type Field = [key: string, field: Details["share_fields"][string]];

export function ConsentScreen({
  session,
  details,
  way,
  onAgreed,
  onThisDevice,
}: {
  session: Session;
  details: Details;
  way: Way;
  onAgreed: () => void;
  /** Takes back that another device is to read; null where that was not chosen. */
  onThisDevice: (() => void) | null;
}) {
  const { t, language } = useWords();
  const announce = useAnnounce();
  const fields = Object.entries(details.share_fields);
  const required = fields.filter(([, field]) => field.required);
  const optional = fields.filter(([, field]) => !field.required);
  // Nothing is ticked in advance: a choice that somebody else made is none.
  const [added, setAdded] = useState<ReadonlySet<string>>(new Set());
  const [agreed, setAgreed] = useState(false);
  const [asked, setAsked] = useState(false);
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const slow = useSlow(busy);
  const [texts, setTexts] = useState<ConsentTexts | null>(null);
  const agreeId = useId();
  const form = useConsentSight();

  const loadTexts = useCallback(async () => {
    setTrouble(null);
    await session.api.texts().then(setTexts, (error: unknown) => setTrouble(troubleOf(error)));
  }, [session.api]);
  useEffect(() => void loadTexts(), [loadTexts]);
  // What was said of a missing network is no longer true when it is back, and what it kept away is fetched.
  const online = useOnline();
  const missing = texts === null;
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
    try {
      const chosen = fields.flatMap(([key, field]) => (field.required || added.has(key) ? [key] : []));
      const given = await session.api.consent(chosen, version, language);
      session.kept.cancelToken = given.cancel_token;
      onAgreed();
    } catch (error) {
      const code = codeOf(error);
      if (code === "CONFLICT" || code === "INVALID_REQUEST") {
        // The person agrees to the texts that were shown. If they have changed since, the new ones are shown and have
        // to be agreed to.
        setAgreed(false);
        await loadTexts();
      } else if (code !== null) await session.reload();
      setTrouble(troubleOf(error));
      setBusy(false);
    }
  };

  const text = texts?.texts[language];
  return (
    <Screen title={t.consentTitle(details.organization.name)} lead={t.consentLead}>
      <WhoAsks details={details} />
      <Card title={t.whatIsAsked}>
        <FieldGroup title={t.requiredFields} note={t.requiredNote} fields={required} />
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
      </Card>
      <Card title={text?.title ?? t.privacyTitle}>
        {text === undefined ? (
          <p>{t.loading}</p>
        ) : (
          text.paragraphs.map((paragraph) => <p key={paragraph}>{paragraph}</p>)
        )}
      </Card>
      <Card title={t.needTitle}>
        <ul className="list-disc space-y-1 pl-5">
          {details.sandbox ? (
            <li>{t.needNothing}</li>
          ) : (
            <>
              <li>{t.needDocument}</li>
              <li>{way.by === "here" ? t.needThisDevice : t.needPhone}</li>
            </>
          )}
          <li>{t.needTime}</li>
        </ul>
        <RequiredOfDocument requirements={details.requirements} />
      </Card>
      <form
        ref={form}
        noValidate
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy && texts !== null) void agree(texts.version);
        }}
      >
        {/* Nobody can agree to a text that is not there yet. */}
        {text !== undefined && (
          <label
            className={`flex items-start gap-3 rounded-2xl border bg-card p-4 ${asked && !agreed ? "border-bad" : "border-field"}`}
          >
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
        {trouble !== null && (
          <Notice look="warn" title={troubleWords(t, trouble).title} urgent>
            <p>{troubleWords(t, trouble).text}</p>
          </Notice>
        )}
        {slow && <p role="status">{t.slowText}</p>}
        <div className="flex flex-col gap-3 sm:flex-row">
          {text !== undefined ? (
            <Button type="submit" busy={busy}>
              {busy ? t.working : t.agreeButton}
            </Button>
          ) : (
            trouble !== null && <Button onClick={() => void loadTexts()}>{t.tryAgain}</Button>
          )}
          <LeaveControl session={session} name={details.organization.name} look="secondary">
            {t.declineButton}
          </LeaveControl>
          {onThisDevice !== null && (
            <Button look="quiet" onClick={onThisDevice}>
              {t.otherBack}
            </Button>
          )}
        </div>
      </form>
    </Screen>
  );
}

function FieldGroup({
  title,
  note,
  fields,
  isChosen,
  onChoose,
}: {
  title: string;
  note: string;
  fields: readonly Field[];
  isChosen?: (key: string) => boolean;
  onChoose?: (key: string, chosen: boolean) => void;
}) {
  const { t, language } = useWords();
  return (
    <div className="space-y-3">
      <div>
        <h3 className="font-semibold">{title}</h3>
        <p className="text-sm text-muted">{note}</p>
      </div>
      <ul className="divide-y divide-line rounded-xl border border-line">
        {fields.map(([key, field]) => {
          const { label, about } = claimWords(t, key);
          const text = (
            <span className="min-w-0">
              <span className="block font-medium">{label}</span>
              {about !== null && <span className="block text-sm text-muted">{about}</span>}
              <span className="block text-sm text-muted">
                <span className="font-medium">{t.reasonLabel}</span>{" "}
                {field.source === "default" ? t.reasonDefault : <bdi>{reasonIn(language, field)}</bdi>}
              </span>
            </span>
          );
          return (
            <li key={key} className="p-4">
              {isChosen !== undefined && onChoose !== undefined ? (
                <label className="flex items-start gap-3">
                  <input
                    type="checkbox"
                    name={key}
                    checked={isChosen(key)}
                    onChange={(event) => onChoose(key, event.target.checked)}
                  />
                  {text}
                </label>
              ) : (
                <div className="flex items-start gap-3">
                  <svg
                    aria-hidden="true"
                    viewBox="0 0 24 24"
                    className="size-6 flex-none text-accent"
                    fill="none"
                    stroke="currentColor"
                    strokeWidth="2.5"
                    strokeLinecap="round"
                    strokeLinejoin="round"
                  >
                    <path d="M5 13l4 4L19 7" />
                  </svg>
                  {text}
                </div>
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
