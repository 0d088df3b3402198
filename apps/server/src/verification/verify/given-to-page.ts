import { idLengths, type PageLanguage, pageLanguages } from "@assay/contract/facts";
import type { SessionId } from "@assay/contract/ids";
import type { ConsentVariant, VerifyDetails, VerifyStatusData } from "@assay/contract/verify";
import { previewPath } from "@assay/ui/preview";
import type { Static } from "typebox";
import type { Core } from "../../platform/core.ts";
import { knownId } from "../../platform/kernel/ids.ts";
import { findShownDomain } from "../../tenants/domains/domain.store.ts";
import { findOrganizationOfPerson } from "../../tenants/organizations/organization.store.ts";
import { operatorOf } from "../sessions/operator.ts";
import { findSessionOfPerson, markOpened, type SessionRow } from "../sessions/session.store.ts";
import { statusAt } from "../sessions/session.ts";
import { findConsent } from "./consent.store.ts";
import type { ConsentText, ConsentTexts } from "./consent-texts.ts";
import { frameAncestorOf } from "./frame-ancestor.ts";
import { readStatus } from "./read-status.ts";
import { findReturnUrl } from "./return-url.ts";
import { viewDetails } from "./verify.view.ts";

type DetailsCore = Pick<Core, "db" | "clock" | "config" | "publicUrl">;

/** What the organization asks for and why. Null if the session does not exist. */
export async function readDetails(
  core: DetailsCore,
  texts: ConsentTexts,
  sessionId: SessionId,
): Promise<Static<typeof VerifyDetails> | null> {
  const { db, clock, config, publicUrl } = core;
  const now = clock.now();
  const session = await findSessionOfPerson(db, sessionId);
  const who = session === null ? null : await findWhoAsks(core, session);
  if (session === null || who === null) return null;
  const status = statusAt(session, now);
  if (session.openedAt === null && (status === "created" || status === "in_progress"))
    await markOpened(db, session.id, now);
  const parts = {
    session,
    ...who,
    consent: await findConsent(db, session.id),
    texts,
    readerApps: { android: config.readerAppAndroid, ios: config.readerAppIos },
    deskReaders: config.deskReaders,
    operator: await operatorOf(core, session),
    returnUrl: await findReturnUrl(db, session, status),
    frameAncestor: await frameAncestorOf(db, session),
    publicUrl: publicUrl(),
  };
  return viewDetails(parts, now);
}

export async function findWhoAsks({ db }: Pick<Core, "db">, session: SessionRow) {
  const organization = await findOrganizationOfPerson(db, session.organizationId);
  if (organization === null) return null;
  return { organization, domain: await findShownDomain(db, organization.id, session.redirectUrl) };
}

/** In the likely language of the reader; the page fetches others. */
type TextsOfPage = { version: string; hash: string; texts: Partial<Record<PageLanguage, ConsentText>> };

/** The first data of a session's page, sent with it, so that it is never empty. */
type GivenToPage = {
  language: PageLanguage;
  data:
    | { details: Static<typeof VerifyDetails>; status: VerifyStatusData; texts: TextsOfPage }
    | { texts: TextsOfPage };
};

const pageOfSession = new RegExp(`^/verify/(vs_[A-Za-z0-9]{${idLengths.vs}})(?:[/?]|$)`);

/** Whether the path after `/verify/` can be a page: a session, by the form of its id, or the preview. */
export function isVerifyPage(rest: string): boolean {
  const path = `/verify/${rest}`;
  return path === previewPath || pageOfSession.test(path);
}

/** Null if this path has no session. `accepted` is the browser's `Accept-Language`. */
export async function giveToPage(
  core: DetailsCore,
  texts: ConsentTexts,
  path: string,
  accepted: string,
): Promise<GivenToPage | null> {
  if (path.split("?", 1)[0] === previewPath)
    return { language: "en", data: { texts: textsIn("en", texts, "paragraphs") } };
  const id = pageOfSession.exec(path)?.[1];
  if (id === undefined) return null;
  const sessionId = knownId<SessionId>(id);
  const details = await readDetails(core, texts, sessionId);
  const status = details === null ? null : await readStatus(core, sessionId);
  if (details === null || status === null) return null;
  const language = languageOfPage(details, accepted);
  return { language, data: { details, status, texts: textsIn(language, texts, details.terms.text) } };
}

/** Without the text that is not shown, because the size of the page is limited. */
function textsIn(language: PageLanguage, texts: ConsentTexts, shown: ConsentVariant): TextsOfPage {
  const { version, hash } = texts;
  const text = texts.texts[language];
  const { wallet_paragraphs: ofWallet, ...rest } = text ?? texts.texts.en;
  const given =
    shown === "paragraphs" || ofWallet === undefined ? rest : { ...rest, wallet_paragraphs: ofWallet };
  return { version, hash, texts: text === undefined ? { en: given } : { [language]: given } };
}

/** The initial language of the page: that of the consent, then the partner's, then the browser's. */
function languageOfPage(
  { locale, consent }: { locale: PageLanguage | null; consent: { language: PageLanguage | null } | null },
  accepted: string,
): PageLanguage {
  if (locale !== null) return consent?.language ?? locale;
  const tags = accepted.split(",").map((tag) => /^\s*([a-z]{2,3})\b/i.exec(tag)?.[1]?.toLowerCase());
  for (const tag of tags) {
    const known = pageLanguages.find((language) => language === tag);
    if (known !== undefined) return known;
  }
  return "en";
}
