import type { MailLanguage } from "@assay/contract/facts";
import { shownText } from "@assay/contract/shown-text";
import de from "../../../texts/mails/de.json" with { type: "json" };
import en from "../../../texts/mails/en.json" with { type: "json" };
import es from "../../../texts/mails/es.json" with { type: "json" };
import fr from "../../../texts/mails/fr.json" with { type: "json" };
import it from "../../../texts/mails/it.json" with { type: "json" };
import nl from "../../../texts/mails/nl.json" with { type: "json" };
import pl from "../../../texts/mails/pl.json" with { type: "json" };
import pt from "../../../texts/mails/pt.json" with { type: "json" };
import tr from "../../../texts/mails/tr.json" with { type: "json" };
import uk from "../../../texts/mails/uk.json" with { type: "json" };
import { type Letter, letterKinds } from "./letter.ts";
import type { Mail } from "./mail.ts";
import type { MailTexts } from "./mail-texts.ts";

const mailTexts: Readonly<Record<MailLanguage, MailTexts>> = {
  de,
  en,
  es,
  fr,
  it,
  nl,
  pl,
  pt,
  tr,
  uk,
};

export type Reader = { name: string | null; language: MailLanguage };

/** What the closing reason names: the organization, in mails to its owners. */
type Surroundings = { publicUrl: string; organization: string | null };

/**
 * The mail in the reader's language. Old names may contain characters that change the direction of the text
 * around them.
 */
export function composeMail(to: string, letter: Letter, reader: Reader, around: Surroundings): Mail {
  const texts = mailTexts[reader.language];
  const { closing, because } = letterKinds[letter.kind];
  const { subject, body, button } = texts.letters[letter.kind];
  const host = URL.parse(around.publicUrl)?.host ?? around.publicUrl;
  const roles: Readonly<Record<string, string>> = texts.roles;
  const values: Record<string, string> = { host, organization: around.organization ?? "" };
  for (const [place, value] of Object.entries(letter.fill))
    values[place] =
      value instanceof Date
        ? momentIn(reader.language, value)
        : place === "role"
          ? (roles[value] ?? value)
          : value;
  const write = (text: string) => shownText(fillIn(text, values));
  const also = (letter.removed ?? []).map((removed) =>
    removed.what === "passkeys"
      ? fillIn(texts.removed.passkeys, { names: removed.names })
      : texts.removed.second_factor,
  );
  const codeAt = body.flatMap((text, index) => (/^\{\w+\}$/.test(text) ? [index] : []));
  return {
    to,
    language: reader.language,
    subject: write(subject),
    greeting: shownText(reader.name === null ? texts.hello : fillIn(texts.helloName, { name: reader.name })),
    paragraphs: [
      ...body.map(write),
      ...also.map(shownText),
      ...(closing === null ? [] : [write(texts.closing[closing])]),
    ],
    ...(codeAt.length === 0 ? {} : { codeAt }),
    ...("url" in letter ? { action: { label: button ?? subject, url: letter.url } } : {}),
    orOpen: texts.orOpen,
    reason: write(texts.because[because]),
    sentBy: write(texts.sentBy),
  };
}

/** Placeholders are filled in once: a name that looks like a placeholder stays as it is. */
function fillIn(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place);
}

function momentIn(language: MailLanguage, moment: Date): string {
  return new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, {
    dateStyle: "long",
    timeStyle: "long",
    timeZone: "UTC",
  }).format(moment);
}
