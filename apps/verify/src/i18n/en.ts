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
  sandboxNote: "Real documents are not accepted here.",
  footerRun: "Nothing that identifies you is stored here.",
  byAssay: "Verification by Assay",

  stepsLabel: "Steps",
  stepAgree: "Agree",
  stepRead: "Read the chip",
  stepFace: "Show your face",
  stepDone: "Done",
  stepDoneState: "done",

  consentTitle: (name: string) => `${name} asks you to verify your identity`,
  consentLead: "You decide what to share. Nothing is sent before you agree, and you can stop at any time.",
  whoAsks: "Who asks",
  verifiedDomain: "Verified internet address",
  domainProved: (name: string) => `${name} has proved that this internet address belongs to it.`,
  notVerifiedTitle: "We could not confirm who this is",
  notVerifiedText: (name: string) =>
    `Whoever made this request calls itself “${name}” and has not proved that an internet address belongs to it. Go on only if you came here from a page that you trust.`,
  notVerifiedSandbox: (name: string) =>
    `In test mode only: ${name} has not proved an internet address yet. People with real documents would be warned.`,
  businessName: "Business name",
  businessJurisdiction: "Country of registration",
  businessRegistration: "Registration number",
  selfAsserted: "As stated by the business itself.",
  website: "Website",
  supportEmail: "Help",
  privacyPolicy: "Privacy policy",
  termsOfUse: "Terms",

  whatIsAsked: "What is shared",
  requiredNote: "You cannot be verified without these.",
  optionalFields: "Optional",
  optionalNote: "Tick what you want to share. Leaving it out makes no difference to the check.",
  reasonLabel: "Why:",
  reasonDefault: "So that the same document can be recognised when you come back.",

  privacyTitle: "What happens to your data",
  needTitle: "What you need",
  needDocument: "A passport or identity card with a chip",
  needThisDevice: "This device: it reads the chip",
  needPhone: "A phone that can read the chip. You get a code for it in the next step.",
  needNothing: "No document of your own: in test mode this page has passports to try out",
  needTime: "About three minutes",
  needRequired: {
    clone_detection: {
      title: "The document must prove that it is the original",
      text: "Its chip is asked for a proof that a copy cannot give. Chips of some older documents cannot give it either, and then the verification does not succeed. If you have several documents, take the newest.",
    },
    revocation: {
      title: "The document’s state must say that its signature still counts",
      text: "This is looked up in a current list of the state that issued the document. Where there is no such list, the verification does not succeed, and another document may be of help.",
    },
  },
  agreeLabel: "I agree to the check and to sharing what is selected above.",
  agreeMissing: "Tick the box to say that you agree.",
  agreeButton: "Agree and continue",
  declineButton: "No, cancel",
  working: "One moment…",

  handoffTitle: "Continue on your phone",
  handoffOtherTitle: "Continue on another device",
  handoffLead: "Point your phone’s camera at this code, then open the link it shows.",
  handoffOtherLead: "Point the camera of the other device at this code, then open the link it shows.",
  handoffAlt: "QR code with a link to this verification",
  handoffKeepOpen: "Keep this page open. It continues by itself as soon as the other device has taken over.",
  handoffRenewed: "The code renews itself.",
  handoffWaiting: "Waiting for the other device…",
  handoffPreparing: "Preparing the code…",
  phonesBoth: "It works with Android phones and iPhones.",
  phonesAndroid: "You need an Android phone with NFC; iPhones do not work here.",
  phonesIphone: "You need an iPhone; Android phones do not work here.",
  copyLink: "Copy the link",
  linkCopied: "The link was copied.",
  linkToCopy: "Link for the other device",
  linkInstead: "Send a link instead",
  linkIsSecret: "Don’t share this link: whoever opens it first takes over.",
  whichDevices: "Which devices can read the chip?",
  deviceShell: "A phone with NFC and the app for this verification.",
  deviceDesk: "A desk reader at a counter, run by staff.",
  deviceBrowser: "A browser alone cannot read chips, neither on a phone nor on a computer.",
  readHereTitle: "Read your document",
  readHereShell: "This device can read the chip in your document.",
  readHereButton: "Read the document here",
  virtualTitle: "Use a test passport",
  virtualLead:
    "In test mode this page has software passports. They go through the same checks as a real chip.",
  virtualButton: "Choose a test passport",
  appTitle: "Continue in the app",
  appLead:
    "The chip in your passport or identity card has to be read. Your phone can do that in the app, but not in the browser.",
  appOpen: "Continue in the app",
  appNotYet: "Don’t have the app yet? Install it, then come back to this page and continue.",
  appInstall: "Install the app",
  appMissingTitle: "The app did not open",
  appMissingText:
    "It is probably not on this phone yet. Install it, then come back to this page and continue in the app. Nothing is lost.",
  appIosHint: "If Safari stays on this page, tap “Open” in the bar at the top.",
  appClipHint: "You don’t have to install anything: tap “Open” on the card that Safari shows.",
  scannedKeep: "The page where you began continues by itself as soon as the app has taken over.",
  noWayTitle: "This phone can’t read your document here",
  noWayIphone:
    "The chip in your document has to be read. Browsers on an iPhone are not able to do that, and there is no iPhone app for this verification.",
  noWayAndroid:
    "The chip in your document has to be read. A browser is not able to do that, and there is no Android app for this verification.",
  wayAndroid: "Use an Android phone with NFC, if you have one or can borrow one.",
  wayIphone: "Use an iPhone, if you have one or can borrow one.",
  wayDesk: (name: string) => `Ask ${name} whether there is a counter where your document can be read.`,

  claimTitle: "Connecting…",
  claimLead: "This device is joining the verification.",
  noReaderTitle: "This browser cannot read chips",
  noReaderText:
    "Browsers have no access to the chip in a document. Use a device that can read it, and scan the code on the page where you began again.",
  connectionLost: "The connection was lost. Trying again…",
  connectionRetry: "Connect again",
  connectionGone:
    "There is no connection to the service. Nothing is lost, and this didn’t count as an attempt.",
  offlineTitle: "You are offline",
  offlineText:
    "This device has no network connection. Nothing is lost: you can continue as soon as the connection is back.",
  slowText: "This is taking longer than usual. Your connection seems to be slow; please wait a moment.",

  pickTitle: "Choose a test passport",
  pickLead: "Each ends in its own way, so that every result can be tried out.",
  pickGroup: {
    passes: "Passes",
    document: "The document fails",
    face: "The face fails",
  },
  pickEnds: (failure: string) => `Ends with: ${failure}`,
  pickUse: "Read this document",
  virtualStop: "After each failed attempt the page asks you to choose again.",

  scan: {
    start: "Scan with the camera",
    lead: "The camera reads the number and dates from the lines with many < signs, on the page with the photo or on the back of the card.",
    privacy: "The picture is read on this device. It is not sent and not kept.",
    photo: "Use a photo",
    type: "Type it instead",
    torch: "Light",
    loading: "Getting ready…",
    done: "The lines were read",
    cameraLabel: "Picture of the camera",
    hint: {
      show_lines: "Hold the lines with many < signs into the picture",
      closer: "Go closer",
      flatter: "Hold the document flat to the camera",
      less_glare: "Tilt it a little, away from the reflection",
      more_light: "More light is needed",
      hold_still: "Hold still",
    },
    visa: "This is a visa, which has no chip. Show the page of the passport with your photo.",
    photoUnread: "The lines cannot be read in this photo. Take another one, closer and sharp, or type them.",
    pageTitle: "The page of a test passport",
    pageText:
      "Show it on another screen and hold it to the camera, or use a photo of it: the chip of that test passport is then read.",
    pageShow: "Show its page",
    noTestDocument: "These lines belong to no test passport.",
    refusedTitle: "The chip did not open three times",
    refusedText:
      "What was entered does not belong to this chip. Scan the lines of the document, or compare every character.",
  },

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
  nfcOff: "NFC is turned off",
  nfcOffText: "The phone reads the chip by NFC. Turn it on, then come back to this page.",
  nfcOffButton: "Open the settings",
  nfcAbsent: "This phone cannot read chips",
  nfcAbsentText: "It has no NFC reader. Use another device.",
  holdAt: {
    top: "Hold the document against the upper part of the phone’s back.",
    middle: "Hold the document against the middle of the phone’s back.",
    bottom: "Hold the document against the lower part of the phone’s back.",
  },
  holdHow:
    "A passport’s chip is in its cover or in the page with your picture: close it and lay the phone on top, then try the picture page. Lay a card flat on the phone.",
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
    "Hold the document still against the device. If nothing happens, begin again: this doesn’t count as an attempt.",
  beginAgain: "Begin again",
  noTryUsed: "This didn’t count as an attempt.",
  tryAgain: "Try again",

  faceTitle: "Now show your face",
  faceLead: "The camera compares you with the portrait on the chip. This takes about 15 seconds.",
  faceAdvice: ["Even light from the front", "No hat, no sunglasses", "Nobody else in the picture"] as const,
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
  faceSimulatedStart: "Continue",
  faceWithCameraTitle: "Or try the real check",
  faceWithCameraText:
    "With the camera, this step runs exactly as it does with a real document. The test passport shows a drawn person, so your own face will not match it.",
  faceUseCamera: "Use the camera",
  faceUnavailable: "The face check is not available on this service at the moment. Please try again later.",
  faceNoCamera: {
    framed: {
      title: "The camera is kept from this frame",
      text: "The page around this one does not let it use the camera. Go on in a tab of its own: press the button below, then “Open in a new tab”.",
    },
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
  faceBusyText: "This didn’t count as an attempt. Try again in a moment.",
  facePortraitTitle: "This portrait cannot be compared",
  facePortraitText:
    "The portrait on the chip of this document cannot be compared with a face. This didn’t count as an attempt. Ask for a new link and use another document.",
  faceCameraLabel: "Picture of the camera",

  otherTitle: "Continue on the other device",
  otherLead:
    "Another device, the app or a reader at a desk has taken over: your document is read there. This page follows along.",
  otherChip: "The chip is being read.",
  otherChipCheck: "The document is being checked.",
  otherFace: "The face is being compared.",
  otherWaiting: "Waiting for the other device.",
  otherGone: "Nothing has been heard from the other device for a while.",
  otherRefused: "The last attempt was not accepted",
  otherRefusedText: "The other device says why and what to do. At a desk, ask whoever reads your document.",
  otherFaceNext: "Your document has passed. Your face is next",
  otherFaceNextText:
    "Go on with the device that read it. At a desk, scan the code that you are shown there, with a phone.",
  otherNewCode: "Use another device",
  otherBack: "Back to this device",
  resumeTitle: "Continue where you stopped",
  resumeText:
    "You began on this device and were interrupted, or the verification is open in another window. The document may have to be read again; that doesn’t count as an attempt.",
  resumeButton: "Continue here",

  deviceDoneTitle: "You can put this device aside",
  deviceDoneText: "The page where you began shows the result and goes on from there.",
  takenTitle: "Another device has taken over",
  takenText: "The verification continues on another device or in another window.",

  triesLeft: (count: number) =>
    count === 0 ? "No attempts left." : count === 1 ? "1 attempt left." : `${count} attempts left.`,
  minutesLeft: (count: number) => (count === 1 ? "1 minute" : `${count} minutes`),
  lessThanAMinute: "less than a minute",
  timeLeftLabel: "Time left:",

  succeededTitle: "You are verified",
  succeededText: (name: string) => `${name} now receives what you agreed to share, and nothing else.`,
  sharedList: "What was shared",
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
      title: "It could not be looked up whether this document’s signature still counts",
      text: "There is no current list of the state that issued it. Nothing is wrong with the document; but whoever asks you needs one for which this can be looked up.",
      next: "Use another passport or identity card, best of another state if you have one, or try again on another day.",
    },
  },
  failedAskAgain: (name: string) => `To try once more, ask ${name} for a new link.`,
  expiredTitle: "This link has expired",
  expiredText: (minutes: number) =>
    `A verification is open for ${minutes} minutes, and this one was not finished in time. Nothing about you was shared.`,
  cancelledTitle: "The verification was cancelled",
  cancelledText: "Nothing about you was shared.",
  withdrawnTitle: "You withdrew your consent",
  withdrawnText:
    "What was not yet delivered has been deleted. What the recipient already has is theirs to delete; ask them to.",
  helpTitle: "Need help?",
  helpText: (name: string) => `${name} sent you here and can tell you what to do next.`,
  notFoundTitle: "This link does not lead to a verification",
  notFoundText:
    "It may be incomplete, or the verification has been deleted since. Go back to the page you came from and start again.",
  troubleTitle: "Something went wrong on our side",
  troubleText: "Nothing is lost, and this didn’t count as an attempt. Please try again.",
  noAnswerTitle: "The service does not answer",
  noAnswerText: "There is no connection, or it is very slow. Nothing is lost; please try again.",
  handoffExpiredTitle: "This code is too old",
  handoffExpiredText: "Scan the code on the other page again; a fresh one is shown there.",
  handoffConsumedTitle: "This code was already used",
  handoffConsumedText: "Another device has taken over with it. Scan the code on the other page again.",
  handoffInvalidTitle: "This code does not work",
  handoffInvalidText: "Scan the code on the other page again.",
  handoffMismatchTitle: "Another device is at work",
  handoffMismatchText:
    "Continue on the device that began, or use a fresh code from the page where you agreed.",
  handoffLostAll: (name: string) =>
    `If that page is closed and the device that began is no longer at hand, ask ${name} for a new link.`,

  returnTo: (name: string) => `Back to ${name}`,
  returnSoon: (seconds: number) =>
    seconds === 1 ? "You are taken back in 1 second." : `You are taken back in ${seconds} seconds.`,
  returnStay: "Stay here",
  closePage: "You can close this page.",

  cancelButton: "Cancel verification",
  cancelAskTitle: "Cancel the verification?",
  cancelAskText: (name: string) => `It ends here, nothing is shared, and ${name} is told that you cancelled.`,
  cancelConfirm: "Yes, cancel",
  cancelBack: "No, continue",
  cancelElsewhere:
    "Only the page where you agreed can cancel. You can also simply close this page: nothing is shared before the end.",

  receiptTitle: "Your receipt",
  receiptText: "It states what you were asked, what you agreed to and when, signed by this service.",
  receiptGiven: (moment: string) => `You agreed on ${moment}.`,
  receiptShow: "Show the receipt",
  receiptWhen: "Agreed on",
  receiptAgreed: "You agreed to share",
  receiptDeclined: "You left out",
  receiptTerms: "Version of the text",
  receiptNumber: "Receipt number",
  receiptIssuer: "Issued by",
  receiptNobody:
    "The receipt says what you agreed to, not who you are. The file holds the same with its signature, so that anybody can check it.",
  receiptBack: "Back",
  receiptPrint: "Print",
  receiptChecking: "Checking the signature…",
  receiptGood: "The signature is valid: this service issued the receipt, and nothing in it was changed.",
  receiptBad: "The signature does not fit. Do not rely on this receipt.",
  receiptUnknown: "The signature could not be checked here. The file can be checked elsewhere at any time.",
  receiptDownload: "Download the receipt",
  withdrawTitle: "Withdraw your agreement",
  withdrawText: (name: string) =>
    `If ${name} has not received anything yet, it will not. What was already delivered cannot be called back from here.`,
  withdrawButton: "Withdraw agreement",
  withdrawConfirm: "Yes, withdraw",
  withdrawKeep: "No, keep it",
  withdrawUsed: "This was already cancelled or withdrawn.",
  withdrawCode: "Your withdrawal code",
  withdrawCodeText: "Keep it if you may want to withdraw later. Whoever has it can withdraw in your place.",
  withdrawCodeLabel: "Withdrawal code",
  withdrawCodeAsk: "Enter the code that this page showed you at the end.",
  withdrawCodeWrong: "This code does not belong to this verification.",
  copyCode: "Copy the code",
  codeCopied: "The code was copied.",

  frame: {
    openTab: "Open in a new tab",
    tabLead:
      "This page is shown inside of another one. So that nobody can lay anything over it unnoticed, you agree in a tab of its own.",
    movedTitle: "Continue in the new tab",
    movedText: "The verification goes on there. This page follows along and shows how it ends.",
    movedStay: "Continue here instead",
    unseenTitle: "Look at this page for a moment, then press again",
    unseenText:
      "Agreeing counts only after the top of this page was in sight, and while its button is. If something covers it, go on in a tab of its own.",
    forgottenTitle: "This page was loaded anew",
    forgottenText: (name: string) =>
      `Your browser stores nothing for a page inside of another one, so what was begun here is lost. If you began on another device or in a new tab, continue there; otherwise ask ${name} to start again.`,
    tabDoneTitle: "You can close this tab",
    tabClose: "Close this tab",
  },

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
    service_document_id: "Anonymous document ID",
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
