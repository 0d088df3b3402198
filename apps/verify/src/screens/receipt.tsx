import { shownDomain } from "@assay/contract/shown-domain";
import { Actions, Button } from "@assay/ui/button";
import { Icon } from "@assay/ui/icon";
import { Notice } from "@assay/ui/notice";
import { type ReactNode, useEffect, useState } from "react";
import { claimWords, isLanguage, reasonIn, useWords } from "../i18n/language.ts";
import type { SessionApi } from "../session/api.ts";
import { checkReceipt, readReceipt } from "../session/read-receipt.ts";
import { Card, Screen } from "../ui/screen.tsx";

type Checked = "checking" | "good" | "bad" | "unknown";

/**
 * The receipt for people: its contents in words, and whether the signature is valid.
 * The file is for programs.
 */
export function ReceiptScreen({
  api,
  receipt,
  onBack,
}: {
  api: SessionApi;
  receipt: string;
  onBack: () => void;
}) {
  const { t, language, moment } = useWords();
  const [checked, setChecked] = useState<Checked>("checking");
  useEffect(() => {
    let left = false;
    api
      .receiptKeys()
      .then((keys) => checkReceipt(receipt, keys))
      .then(
        (holds) => !left && setChecked(holds === null ? "unknown" : holds ? "good" : "bad"),
        () => !left && setChecked("unknown"),
      );
    return () => {
      left = true;
    };
  }, [api, receipt]);
  const said = readReceipt(receipt);
  const fields = (keys: readonly string[]) => (
    <ul className="space-y-1">
      {keys.map((key) => {
        const asked = said.asked[key];
        const reason = asked === undefined || asked.source === "default" ? null : reasonIn(language, asked);
        return (
          <li key={key}>
            <span className="font-medium">{claimWords(t, key).label}</span>
            {reason !== null && (
              <span className="block text-small text-muted">
                {t.reasonLabel} <bdi lang={reason.lang}>{reason.text}</bdi>
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
  const { verified_domain: domain, name } = said.organization;
  const rows: [string, ReactNode][] = [
    [t.whoAsks, <bdi key="name">{name}</bdi>],
    ...(domain === null
      ? []
      : [[t.verifiedDomain, <bdi key="domain">{shownDomain(domain)}</bdi>] satisfies [string, ReactNode]]),
    [t.receiptWhen, moment(said.given_at)],
    [t.receiptAgreed, fields(said.agreed)],
    ...(said.declined.length === 0
      ? []
      : [[t.receiptDeclined, fields(said.declined)] satisfies [string, ReactNode]]),
    [
      t.receiptTerms,
      isLanguage(said.terms.language ?? "")
        ? `${said.terms.version} (${said.terms.language})`
        : said.terms.version,
    ],
    [
      t.receiptNumber,
      <code key="id" className="text-small break-all">
        {said.jti}
      </code>,
    ],
    [t.receiptIssuer, <bdi key="issuer">{said.iss}</bdi>],
  ];
  return (
    <Screen key="receipt" title={t.receiptTitle} lead={t.receiptText}>
      <CheckedNotice checked={checked} />
      <Card>
        <dl className="divide-y divide-line">
          {rows.map(([label, value]) => (
            <div key={label} className="grid gap-1 py-3 first:pt-0 last:pb-0 sm:grid-cols-[11rem_1fr]">
              <dt className="text-small text-muted">{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </Card>
      <div className="unprinted space-y-5">
        <p className="text-small text-muted">{t.receiptNobody}</p>
        <Actions>
          <Button onClick={onBack}>{t.receiptBack}</Button>
          <Button look="secondary" onClick={() => window.print()}>
            <Icon name="print" />
            {t.receiptPrint}
          </Button>
          <Button look="secondary" onClick={() => download(receipt, api.sessionId)}>
            <Icon name="download" />
            {t.receiptDownload}
          </Button>
        </Actions>
      </div>
    </Screen>
  );
}

function CheckedNotice({ checked }: { checked: Checked }) {
  const { t } = useWords();
  switch (checked) {
    case "checking":
      return <p role="status">{t.receiptChecking}</p>;
    case "good":
      return <Notice look="good" title={t.receiptGood} />;
    case "bad":
      return <Notice look="bad" title={t.receiptBad} urgent />;
    case "unknown":
      return <Notice look="info" title={t.receiptUnknown} />;
  }
}

function download(receipt: string, sessionId: string): void {
  const url = URL.createObjectURL(new Blob([receipt], { type: "application/jose" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `consent-receipt-${sessionId.slice(0, 12)}.jws`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
