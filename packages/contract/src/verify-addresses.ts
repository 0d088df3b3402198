/**
 * Addresses of the verify page's routes. `verify.ts` declares the routes with them. A page imports only this
 * file and does not load the schema library.
 */
export const verifyAddresses = {
  getVerifyDetails: { method: "GET", path: "/v1/verify/session/:id/details" },
  getVerifyLogo: { method: "GET", path: "/v1/verify/session/:id/logo" },
  openSession: { method: "POST", path: "/v1/verify/session/:id/open" },
  giveConsent: { method: "POST", path: "/v1/verify/session/:id/consent" },
  getConsentReceipt: { method: "GET", path: "/v1/verify/session/:id/consent-receipt" },
  createHandoff: { method: "POST", path: "/v1/verify/session/:id/handoff" },
  claimHandoff: { method: "POST", path: "/v1/verify/session/:id/claim" },
  getVerifyStatus: { method: "GET", path: "/v1/verify/session/:id/status" },
  streamVerifyEvents: { method: "GET", path: "/v1/verify/session/:id/events" },
  declineByPerson: { method: "POST", path: "/v1/verify/session/:id/decline" },
  cancelByPerson: { method: "POST", path: "/v1/verify/session/:id/cancel" },
  getConsentTexts: { method: "GET", path: "/v1/verify/consent-texts" },
  listConsentReceiptKeys: { method: "GET", path: "/v1/verify/consent-receipt-keys" },
  listTestDocuments: { method: "GET", path: "/v1/verify/test-documents" },
} as const;

/** Those of `wallet.ts`. */
export const walletAddresses = {
  startWalletRequest: { method: "POST", path: "/v1/verify/session/:id/wallet" },
  answerWalletRequest: { method: "POST", path: "/v1/verify/session/:id/wallet/answer" },
  completeWalletRequest: { method: "POST", path: "/v1/verify/session/:id/wallet/complete" },
} as const;
