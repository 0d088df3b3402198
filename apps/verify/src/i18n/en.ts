import type { ClaimKey } from "./claim-key.ts";

/**
 * The words of the page. English is the pattern: every other language has the same keys with the same kind of value, or
 * it does not compile.
 */
export const en = {
  pageTitle: "Verify your identity",
  skipToContent: "Skip to content",
  language: "Language",
  loading: "Loading…",
  sandboxBadge: "Test mode",
  sandboxNote: "This is a test. Real documents are not accepted, and nothing here has consequences.",
  footerRun: "Verification by Assay. Nothing that identifies you is stored here.",

  stepsLabel: "Steps",
  stepAgree: "Agree",
  stepRead: "Read the chip",
  stepFace: "Show your face",
  stepDone: "Done",
  stepDoneState: "done",

  consentTitle: (name: string) => `${name} asks you to verify your identity`,
  consentLead: "You decide what is shared. Nothing is sent before you agree, and you can stop at any time.",
  whoAsks: "Who asks",
  verifiedDomain: "Verified internet address",
  domainProved: (name: string) => `${name} has proved that this internet address belongs to it.`,
  notVerifiedTitle: "We could not confirm who this is",
  notVerifiedText: (name: string) =>
    `Whoever made this request calls itself “${name}” and has not proved that an internet address belongs to it. Go on only if you came here from a page that you trust.`,
  businessName: "Business name",
  businessJurisdiction: "Country of registration",
  businessRegistration: "Registration number",
  selfAsserted: "As stated by the business itself.",
  website: "Website",
  supportEmail: "Help",
  privacyPolicy: "Privacy policy",
  termsOfUse: "Terms",

  whatIsAsked: "What is shared",
  requiredFields: "Needed",
  requiredNote: "Without these the verification is not possible.",
  optionalFields: "Your choice",
  optionalNote: "Tick what you want to share. Leaving it out makes no difference to the check.",
  reasonLabel: "Why:",
  reasonDefault: "So that the same document can be recognised when you come back.",

  privacyTitle: "What happens to your data",
  declinedTitle: "You did not agree",
  declinedText:
    "Nothing was shared. The request ends by itself when its time is over. You can close this page or look at the request again.",
  declinedBack: "Back to the request",
  needTitle: "What you need",
  needPoints: ["A passport or identity card with a chip", "A device that can read it", "About three minutes"],
  needRequired: {
    clone_detection: {
      title: "The document must prove that it is the original",
      text: "Its chip is asked for a proof that a copy cannot give. Chips of some older documents cannot give it either, and then the verification does not succeed. If you have several documents, take the newest.",
    },
    revocation: {
      title: "The document's state must say that its signature still counts",
      text: "This is looked up in a current list of the state that issued the document. Where there is no such list, the verification does not succeed, and another document may be of help.",
    },
  },
  agreeLabel: "I agree to the check and to sharing what is selected above.",
  agreeMissing: "Tick the box to say that you agree.",
  agreeButton: "Agree and continue",
  declineButton: "No, cancel",
  working: "One moment…",

  handoffTitle: "Go on with a device that reads chips",
  handoffLead: "Point the camera of the phone at this code, then open the link that it shows.",
  handoffAlt: "QR code with a link to this verification",
  handoffKeepOpen: "Leave this page open. It goes on by itself as soon as the phone has taken over.",
  handoffRenewed: "The code renews itself.",
  handoffWaiting: "Waiting for the other device…",
  handoffPreparing: "The code is being made…",
  copyLink: "Copy the link",
  linkCopied: "The link was copied.",
  linkToCopy: "Link for the other device",
  linkIsSecret: "Send the link to nobody: whoever opens it first takes over.",
  whichDevices: "Which devices can read the chip?",
  deviceShell: "A phone with NFC and an app that includes this verification.",
  deviceDesk: "A desk reader at a counter, run by staff.",
  deviceBrowser: "A browser alone cannot read chips, neither on a phone nor on a computer.",
  readHereTitle: "Read on this device",
  readHereShell: "This device can read the chip itself.",
  readHereButton: "Read the document here",
  virtualTitle: "Use a test passport",
  virtualLead:
    "In test mode this page has software passports. They go through the same checks as a real chip.",
  virtualButton: "Choose a test passport",

  claimTitle: "Taking over…",
  claimLead: "This device is being connected to the verification.",
  noReaderTitle: "This browser cannot read chips",
  noReaderText:
    "Browsers have no access to the chip of a document. Use a device that can read it, and scan the code there again.",
  connectionLost: "The connection was lost. Trying again…",
  connectionRetry: "Connect again",
  connectionGone: "There is no connection to the service. Nothing was lost, and no try was used.",

  pickTitle: "Choose a test passport",
  pickLead: "Each ends in its own way, so that every result can be tried out.",
  pickPasses: "Passes",
  pickEnds: (failure: string) => `Ends with: ${failure}`,
  pickUse: "Read this document",
  pickLegend: "Test documents",
  virtualStop: "After each unsuccessful try the page asks you to choose again.",

  accessTitle: "What is printed on your document?",
  accessLead:
    "The chip opens only for whoever has the document in front of them. What you type stays on this device.",
  accessBy: "Open with",
  accessByMrz: "Number and dates",
  accessByCan: "Card access number (CAN)",
  documentNumber: "Document number",
  documentNumberHint: "Letters and digits, as in the lines with < signs.",
  dateOfBirth: "Date of birth",
  dateOfExpiry: "Date of expiry",
  can: "Card access number",
  canHint: "Six digits on the front of the card.",
  documentNumberWrong: "The document number has letters and digits only, up to 22.",
  checkDigitWrong:
    "This number ends in a check digit that does not fit. Compare it with the document once more.",
  dateOfBirthWrong: "Enter the date of birth as it is on the document.",
  dateOfExpiryWrong: "Enter the date of expiry as it is on the document.",
  canWrong: "The card access number has six digits.",
  errorSummary: "Please check what is marked.",
  readButton: "Read the chip",

  readingTitle: "Reading the chip",
  holdStill: "Hold the document still against the device until all steps are done.",
  readConnecting: "Finding the chip",
  readOpening: "Opening the chip",
  readData: "Reading the data",
  readPortrait: "Reading the portrait",
  readSending: "Sending to the check",
  readChecking: "Checking that it is genuine",
  readProof: "Checking that it is no copy",
  readBusy: "Many people are verifying right now. Please wait, your place is kept.",
  percent: (text: string) => `${text} read`,
  chipLost: "The contact to the chip was lost. Hold the document against the device again.",
  chipKeyWrong: "The chip did not open. Compare number and dates with the document.",
  chipUnreadable: "The chip could not be read. Take the document out of its cover and try again.",
  chipUnsupported: "This device cannot read this kind of chip. Please use another device.",
  chipReaderFailed: "Reading failed on this device. Try again, or use another device.",
  readerSilent: "Nothing has come from the reader for a while.",
  readerSilentText:
    "Hold the document still against the device. If nothing happens, begin again: no try is used.",
  beginAgain: "Begin again",
  noTryUsed: "No try was used.",
  tryAgain: "Try again",

  faceTitle: "Now show your face",
  faceLead: "The camera compares you with the portrait on the chip. This takes about 15 seconds.",
  faceExplained: {
    happens: {
      title: "What happens",
      text: "You hold your face in an oval. Then the page asks for four movements, one after the other, such as turning your head. Even light from the front helps; take off hat and sunglasses, and be alone in the picture.",
    },
    colours: {
      title: "The screen changes its colour",
      text: "During the check the whole screen turns red, green, blue or white about once a second, and your face reflects it. This is part of the check, also when animations are turned off on your device. If it could harm you, do not start, and ask whoever sent you here for another way.",
    },
    kept: {
      title: "What is kept: nothing",
      text: "The pictures go to this service only, are compared with the portrait and are not stored. What helps you to find the right position runs on your device.",
    },
    permission: {
      title: "Your permission",
      text: "The browser now asks whether this page may use the camera. Please allow it. The camera is off again as soon as the check is over.",
    },
  },
  facePrivacy: "The camera is off. The pictures are used for this comparison and are not stored.",
  faceStart: "Start the camera",
  faceSimulatedLead: "In test mode no camera is needed: the test passport decides how this step ends.",
  faceSimulatedStart: "Go on",
  faceWithCameraTitle: "Or try the real check",
  faceWithCameraText:
    "With the camera, this step runs exactly as it does with a real document. The test passport shows a drawn person, so your own face will not match it.",
  faceUseCamera: "Use the camera",
  faceUnavailable: "The face check is not available on this service at the moment. Please try again later.",
  faceNoCamera: {
    denied: {
      title: "The camera is not allowed",
      text: "Allow the camera for this page: usually by the sign next to the address, or in the settings of the browser. Then start again.",
    },
    missing: {
      title: "No camera was found",
      text: "Connect a camera or turn it on, then start again.",
    },
    in_use: {
      title: "The camera is in use",
      text: "Another program or another page uses the camera. Close it there, then start again.",
    },
    failed: {
      title: "The camera cannot be used",
      text: "This browser gives no access to a camera. Try another browser.",
    },
    not_loaded: {
      title: "The check could not be loaded",
      text: "Check the connection to the internet, then start again.",
    },
  },
  faceOtherDevice:
    "You can also go on with another device that has a camera. The document is then read again there.",
  faceOtherDeviceFromThere:
    "You can also go on with another device: scan the code on the page where you began. The document is then read again there.",
  faceGuideLoading: "Hold your face in the oval. One moment…",
  faceNoGuide: "Hold your face in the oval, look straight ahead, then press “Start now”.",
  faceFraming: {
    no_face: "Hold your face in the oval",
    several_faces: "Only one person, please",
    too_dark: "It is too dark. Find more light",
    too_far: "Move closer",
    too_close: "Move further back",
    off_centre: "Bring your face to the middle of the oval",
    not_straight: "Look straight ahead",
    good: "Good. Hold still…",
  },
  faceStartNow: "Start now",
  faceStop: "Stop",
  faceWaits:
    "The instructions from before have to run out first. This takes less than a minute; please stay here.",
  faceStopped: {
    hidden: "The check was stopped because this page was out of sight.",
    camera: "The check was stopped because the camera gave no picture any more.",
  },
  faceProgress: (movement: number, movements: number) => `Movement ${movement} of ${movements}`,
  faceLookAhead: "Look straight ahead",
  faceMovement: {
    turn_left: "Turn your head slowly to the left",
    turn_right: "Turn your head slowly to the right",
    look_up: "Look up slowly",
    come_closer: "Come closer to the camera",
  },
  faceChecking: "Your face is being compared…",
  faceCheckingLead: "This takes a few seconds.",
  faceBusyTitle: "Too many faces are being checked at this moment",
  faceBusyText: "Nothing was counted, and no try was used. Try again in a moment.",
  facePortraitTitle: "This portrait cannot be compared",
  facePortraitText:
    "The portrait on the chip of this document cannot be compared with a face. No try was used. Ask for a new link and use another document.",
  faceCameraLabel: "Picture of the camera",

  otherTitle: "Go on with the other device",
  otherLead: "Another device has taken over. This page follows along.",
  otherChip: "The chip is being read.",
  otherChipCheck: "The document is being checked.",
  otherFace: "The face is being compared.",
  otherWaiting: "Waiting for the other device.",
  otherGone: "Nothing has been heard from the other device for a while.",
  otherNewCode: "Use another device",

  deviceDoneTitle: "You can put this device aside",
  deviceDoneText: "The page where you began shows the result and goes on from there.",
  takenTitle: "Another device goes on",
  takenText: "The verification was taken over by another device or another window.",

  triesLeft: (count: number) =>
    count === 0 ? "No try is left." : count === 1 ? "One try is left." : `${count} tries are left.`,
  minutesLeft: (count: number) => (count === 1 ? "1 minute" : `${count} minutes`),
  lessThanAMinute: "less than a minute",
  timeLeftLabel: "Time left:",

  succeededTitle: "You are verified",
  succeededText: (name: string) => `${name} now receives what you agreed to share, and nothing else.`,
  sharedList: "Shared:",
  failedTitle: "The verification did not succeed",
  failedNothingShared: "Nothing about you was shared.",
  nextTitle: "What you can do",
  failure: {
    document_authenticity_failed: {
      title: "The document could not be confirmed as genuine",
      text: "The data on the chip is not what the issuing state signed, or the state is not known to this service.",
      next: "Try another passport or identity card. If this one is genuine, contact the office that issued it.",
    },
    document_active_authentication_failed: {
      title: "The chip could not prove that it is the original",
      text: "The chip did not answer a fresh challenge as the original would.",
      next: "Hold the document still and try again, or use another passport or identity card.",
    },
    document_chip_authentication_failed: {
      title: "The chip could not prove that it is the original",
      text: "The chip does not have the key that belongs to this document.",
      next: "Hold the document still and try again, or use another passport or identity card.",
    },
    document_data_invalid: {
      title: "The data on the chip is incomplete or damaged",
      text: "What was read cannot be understood or does not fit together.",
      next: "Hold the document still and try again, or use another passport or identity card.",
    },
    document_expired: {
      title: "The document has expired",
      text: "Its last day of validity is over.",
      next: "Use a passport or identity card that is still valid.",
    },
    liveness_failed: {
      title: "We could not see a person in front of the camera",
      text: "The movements were not recognised, or the picture was not good enough.",
      next: "Find even light, take off hat and sunglasses, and be alone in the picture. Make each movement slowly and clearly, and look straight ahead again after it.",
    },
    selfie_face_mismatch: {
      title: "Your face did not match the portrait",
      text: "The person in front of the camera and the portrait on the chip are not alike enough.",
      next: "Use your own document. Find even light, take off glasses, and look straight ahead between the movements.",
    },
  },
  unmet: {
    clone_detection: {
      title: "This document cannot prove that it is the original",
      text: "Its chip offers no such proof. Nothing is wrong with the document; but whoever asks you needs one that can prove it.",
      next: "Use another passport or identity card, best the one that was issued last. Reading this one again does not help.",
    },
    revocation: {
      title: "It could not be looked up whether this document's signature still counts",
      text: "There is no current list of the state that issued it. Nothing is wrong with the document; but whoever asks you needs one for which this can be looked up.",
      next: "Use another passport or identity card, best of another state if you have one, or try again on another day.",
    },
  },
  failedAskAgain: (name: string) => `If you want to try once more, ask ${name} for a new link.`,
  expiredTitle: "The time is over",
  expiredText: (minutes: number) =>
    `A verification is open for ${minutes} minutes, and this one was not finished.`,
  cancelledTitle: "The verification was cancelled",
  cancelledText: "Nothing about you was shared.",
  withdrawnTitle: "Your agreement was withdrawn",
  withdrawnText:
    "What was not yet delivered has been deleted. What the recipient already has is theirs to delete; ask them to.",
  notFoundTitle: "This link does not lead to a verification",
  notFoundText:
    "It may be incomplete, or the verification has been deleted since. Go back to the page you came from and start again.",
  troubleTitle: "Something went wrong on our side",
  troubleText: "Nothing was lost, and no try was used.",
  noAnswerTitle: "The service does not answer",
  noAnswerText: "There is no connection, or it is very slow. Nothing was lost, and no try was used.",
  handoffExpiredTitle: "This code is too old",
  handoffExpiredText: "Scan the code on the other page again; a fresh one is shown there.",
  handoffConsumedTitle: "This code was already used",
  handoffConsumedText: "Another device has taken over with it. Scan the code on the other page again.",
  handoffInvalidTitle: "This code does not work",
  handoffInvalidText: "Scan the code on the other page again.",
  handoffMismatchTitle: "Another device is at work",
  handoffMismatchText: "Go on with the device that began, or use a fresh code from the other page.",

  returnTo: (name: string) => `Back to ${name}`,
  returnSoon: (seconds: number) =>
    seconds === 1 ? "You are taken back in 1 second." : `You are taken back in ${seconds} seconds.`,
  returnStay: "Stay here",
  closePage: "You can close this page.",

  cancelButton: "Cancel verification",
  cancelAskTitle: "Cancel the verification?",
  cancelAskText: (name: string) => `It ends here, nothing is shared, and ${name} learns that you cancelled.`,
  cancelConfirm: "Yes, cancel",
  cancelBack: "No, go on",
  cancelElsewhere:
    "Only the page where you agreed can cancel. You can also simply close this page: nothing is shared before the end.",

  receiptTitle: "Your receipt",
  receiptText: "It states what you were asked, what you agreed to and when, signed by this service.",
  receiptGiven: (moment: string) => `You agreed on ${moment}.`,
  receiptDownload: "Download the receipt",
  withdrawTitle: "Withdraw your agreement",
  withdrawText: (name: string) =>
    `If ${name} has not received anything yet, it will not. What was already delivered cannot be called back from here.`,
  withdrawButton: "Withdraw agreement",
  withdrawConfirm: "Yes, withdraw",
  withdrawUsed: "This was already cancelled or withdrawn.",
  withdrawCode: "Your withdrawal code",
  withdrawCodeText: "Keep it if you may want to withdraw later. Whoever has it can withdraw in your place.",
  withdrawCodeLabel: "Withdrawal code",
  withdrawCodeAsk: "Enter the code that this page showed you at the end.",
  withdrawCodeWrong: "This code does not belong to this verification.",
  copyCode: "Copy the code",
  codeCopied: "The code was copied.",

  claim: {
    document_type_code: "Kind of document",
    issuing_country_code: "Issuing country",
    family_name: "Family name",
    given_names: "Given names",
    document_number: "Document number",
    nationality_code: "Nationality",
    date_of_birth: "Date of birth",
    sex_marker: "Sex as stated in the document",
    document_expiry_date: "Date of expiry",
    mrz_optional_data: "Additional data in the machine-readable lines",
    service_document_id: "A code in place of your document",
  } satisfies Record<ClaimKey, string>,
  claimAbout: {
    service_document_id:
      "Says whether it is the same document as last time. It says nothing about you and differs for every recipient.",
  },
  claimAgeOver: (years: number) => `Whether you are at least ${years}`,
  claimAgeOverAbout: "Only yes or no. Your date of birth is not part of it.",
};

type Same<T> = T extends string
  ? string
  : T extends (...args: infer A) => string
    ? (...args: A) => string
    : T extends readonly string[]
      ? readonly string[]
      : { readonly [K in keyof T]: Same<T[K]> };

export type Messages = Same<typeof en>;
