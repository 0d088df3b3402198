import { type Static, Type } from "typebox";
import { methods } from "./facts.ts";
import { routesOf } from "./route.ts";
import { closed, Nullable, OneOf, open, Timestamp, Token } from "./schema.ts";
import { failureCodes, SessionId, sessionStatuses } from "./sessions.ts";
import { walletAddresses } from "./verify-addresses.ts";
import { lookedAt, walletChannels, walletLimits, walletMethods } from "./wallet-facts.ts";

const route = routesOf("Verify");

const params = closed({ id: SessionId });
const session = { params, invalidParams: "INVALID_SESSION_ID", access: { public: true } } as const;

/** A way in which the person of a session can be verified. */
export const VerifyWay = open("VerifyWay", {
  method: OneOf(methods),
  channels: Type.Array(OneOf(walletChannels), {
    description:
      "How a wallet can be reached, in the order of preference: `dc_api`: the browser's Digital Credentials API. `redirect`: a link that opens the wallet on the same device. `age_link`: a link, or a QR code, for the app with the proof of age. Empty for `document_chip`.",
  }),
  looks_at: Type.Array(OneOf(lookedAt), {
    description:
      "What the service reads from the credential for its checks. It is shared only if the person agrees to share it.",
  }),
});

const RequestId = Type.String({
  pattern: "^[A-Za-z0-9_-]{43}$",
  description: "Identifier of a request to a wallet.",
  examples: ["EXAMPLEexampleEXAMPLEexampleEXAMPLEexample1"],
});

/** The protocols define input and output of the browser's API. */
const ProtocolData = Type.Unsafe<Record<string, unknown>>({ type: "object", additionalProperties: true });

const Protocol = Type.String({
  minLength: 1,
  maxLength: 60,
  description: "A protocol of the Digital Credentials API.",
  examples: ["openid4vp-v1-signed"],
});

export const startWalletRequest = route(walletAddresses.startWalletRequest, {
  ...session,
  id: "startWalletRequest",
  summary: "Ask a wallet",
  description: `Makes a request for what the person has agreed to share, and begins the attempt. It can be answered for ${walletLimits.requestMinutes} minutes. A session has one open request: a new one replaces it. The reply sets a cookie, which ties the request to this browser.`,
  body: closed({
    channel: OneOf(walletChannels, { description: "A channel of `ways` in the details of the session." }),
    method: Type.Optional(
      OneOf(walletMethods, {
        description: "Requests this method only. Default: each method of `ways` that has the channel.",
      }),
    ),
    cancel_token: Type.Optional(
      Token("The token that agreeing returned. With it this browser may take over from a reading device."),
    ),
    return_code: Type.Optional(
      Token(
        "What `open` returned. It shows that this browser opened the session first; needed where `requirements.binding` is `required`.",
      ),
    ),
  }),
  reply: {
    status: 201,
    data: open("WalletRequest", {
      request_id: RequestId,
      expires_at: Timestamp,
      link: Nullable(
        Type.String({ description: "Opens the wallet. Null for `dc_api`.", examples: ["haip-vp://?…"] }),
      ),
      dc_request: {
        ...Nullable(
          open("WalletDcRequest", {
            requests: Type.Array(open("WalletDcRequestEntry", { protocol: Protocol, data: ProtocolData }), {
              description: "All of them go into one call.",
            }),
          }),
        ),
        description: "For `digital` of `navigator.credentials.get`. Null for the other channels.",
      },
    }),
  },
  errors: [
    "SESSION_NOT_FOUND",
    "SESSION_EXPIRED",
    "SESSION_ENDED",
    "CONSENT_REQUIRED",
    "OTHER_BROWSER",
    "CANCEL_TOKEN_INVALID",
    "WALLET_NOT_OFFERED",
    "HANDOFF_DEVICE_MISMATCH",
    "ORGANIZATION_FROZEN",
  ],
  // Repeating it retires what it made.
  idempotent: false,
});

const WalletOutcome = open("WalletOutcome", {
  status: OneOf(sessionStatuses),
  failure_code: Nullable(
    OneOf(failureCodes, { description: "Why the credential was not accepted; null where it was." }),
  ),
  tries_left: Type.Integer({ minimum: 0, description: "Presentations that may still be refused." }),
});
export type WalletOutcomeData = Static<typeof WalletOutcome>;

export const answerWalletRequest = route(walletAddresses.answerWalletRequest, {
  ...session,
  id: "answerWalletRequest",
  summary: "Hand in the answer of the browser's API",
  description:
    "What `navigator.credentials.get` returned, as it is. The browser must have the cookie of the request. An answer that cannot be read uses up no try.",
  maxBodyBytes: walletLimits.answerBytes,
  body: closed({ request_id: RequestId, protocol: Protocol, data: ProtocolData }),
  reply: { status: 200, data: WalletOutcome },
  errors: [
    "SESSION_NOT_FOUND",
    "INVALID_REQUEST",
    "WALLET_REQUEST_NOT_FOUND",
    "WALLET_REQUEST_EXPIRED",
    "WALLET_ANSWERED",
    "WALLET_OTHER_BROWSER",
  ],
});

export const completeWalletRequest = route(walletAddresses.completeWalletRequest, {
  ...session,
  id: "completeWalletRequest",
  summary: "Come back from the wallet",
  description:
    "The wallet sends the person back to the page with `response_code` in the fragment of its address. What it presented is released and recorded now, in the browser that made the request and in no other.",
  body: closed({
    response_code: Token("From the fragment. Works once."),
  }),
  reply: { status: 200, data: WalletOutcome },
  errors: ["SESSION_NOT_FOUND", "WALLET_REQUEST_NOT_FOUND", "WALLET_REQUEST_EXPIRED", "WALLET_OTHER_BROWSER"],
});

export const walletRoutes = route.declared;
