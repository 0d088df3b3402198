import { signUpModes } from "./accounts.ts";
import { auditEvents } from "./audit.ts";
import { eventTypes } from "./events.ts";
import { evidenceWarnings } from "./evidence-warnings.ts";
import { environments, mailLanguages, methods, pageLanguages, requirementNames } from "./facts.ts";
import { businessTypes, goLivePoints, resultsWithoutEndpoint } from "./go-live.ts";
import { jobStates, operatorConcerns, processRoles, revocationListStates } from "./operator.ts";
import { roles, scopes } from "./route.ts";
import {
  attemptFailureCodes,
  attemptStatuses,
  cancelReasons,
  demands,
  faceChecks,
  failureCodes,
  sessionStatuses,
  walletEvidence,
} from "./sessions.ts";
import { cancelOutcomes, consentVariants } from "./verify.ts";
import { lookedAt, walletChannels, walletMethods } from "./wallet-facts.ts";
import { answerErrors } from "./webhook-listeners.ts";
import { deliveryErrors, deliveryStatuses, disabledReasons, endpointKinds } from "./webhooks.ts";

const named: Readonly<Record<string, readonly string[]>> = {
  ActorType: ["user", "key", "person", "system"],
  AnswerError: answerErrors,
  AttemptFailureCode: attemptFailureCodes,
  AttemptStatus: attemptStatuses,
  AuditEvent: auditEvents,
  BusinessType: businessTypes,
  CancelOutcome: cancelOutcomes,
  CancelReason: cancelReasons,
  ChipEvidence: ["genuine", "copy_not_excluded"],
  DecidedBy: ["chip", "face"],
  DeliveryError: deliveryErrors,
  DeliveryStatus: deliveryStatuses,
  Demand: demands,
  DeviceEvidence: ["attested", "unattested"],
  DisabledReason: disabledReasons,
  EndpointKind: endpointKinds,
  Environment: environments,
  EventType: eventTypes,
  EvidenceWarning: Object.keys(evidenceWarnings),
  FaceCheck: faceChecks,
  ConsentVariant: consentVariants,
  FailureCode: failureCodes,
  FieldSource: ["rc", "default"],
  GoLivePoint: goLivePoints,
  JobState: jobStates,
  LookedAt: lookedAt,
  OperatorConcern: operatorConcerns,
  MailLanguage: mailLanguages,
  Method: methods,
  PageLanguage: pageLanguages,
  ProcessRole: processRoles,
  RequirementName: requirementNames,
  ResultsWithoutEndpoint: resultsWithoutEndpoint,
  RevocationEvidence: ["checked", "stale", "no_list"],
  RevocationListFreshness: revocationListStates,
  Role: roles,
  Scope: scopes,
  SessionStatus: sessionStatuses,
  SignUpMode: signUpModes,
  WalletBinding: walletEvidence.binding,
  WalletChannel: walletChannels,
  WalletCredential: walletEvidence.credential,
  WalletFormat: walletEvidence.format,
  WalletHolder: walletEvidence.holder,
  WalletLevel: walletEvidence.level,
  WalletMethod: walletMethods,
  WalletRevocation: walletEvidence.revocation,
  WalletTrust: walletEvidence.trust,
  WalletWarning: walletEvidence.warning,
};

const nameOf = new Map(Object.entries(named).map(([name, values]) => [values.join(), name]));

/**
 * The component name of a list of values in the API description, or null. For an inline list, generators
 * invent a type per use, and some of those do not compile (arrays of such a list, in Java).
 */
export function enumName(values: readonly unknown[]): string | null {
  return nameOf.get(values.join()) ?? null;
}
