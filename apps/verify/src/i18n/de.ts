import type { Messages } from "./en.ts";

export const de: Messages = {
  pageTitle: "Identität bestätigen",
  skipToContent: "Zum Inhalt springen",
  language: "Sprache",
  loading: "Wird geladen …",
  sandboxBadge: "Testbetrieb",
  sandboxNote: "Echte Ausweise werden hier nicht angenommen.",
  footerRun: "Hier werden keine Daten gespeichert, die Sie identifizieren.",
  byAssay: "Prüfung durch Assay",

  stepsLabel: "Schritte",
  stepAgree: "Zustimmen",
  stepRead: "Chip lesen",
  stepFace: "Gesicht zeigen",
  stepDone: "Fertig",
  stepDoneState: "erledigt",

  consentTitle: (name) => `${name} bittet Sie, Ihre Identität zu bestätigen`,
  consentLead:
    "Sie entscheiden, was weitergegeben wird. Vor Ihrer Zustimmung wird nichts gesendet, und Sie können jederzeit aufhören.",
  whoAsks: "Wer fragt",
  verifiedDomain: "Bestätigte Internetadresse",
  domainProved: (name) => `Nachgewiesen: Diese Internetadresse gehört zu ${name}.`,
  notVerifiedTitle: "Wir konnten nicht bestätigen, wer das ist",
  notVerifiedText: (name) =>
    `Diese Anfrage nennt als Absender „${name}“. Dass ihm eine Internetadresse gehört, ist nicht nachgewiesen. Machen Sie nur weiter, wenn Sie von einer Seite kommen, der Sie vertrauen.`,
  notVerifiedSandbox: (name) =>
    `Nur im Testbetrieb: ${name} hat noch keine Internetadresse nachgewiesen. Wer einen echten Ausweis benutzt, würde gewarnt.`,
  businessName: "Firmenname",
  businessJurisdiction: "Land der Eintragung",
  businessRegistration: "Registernummer",
  selfAsserted: "Nach eigenen Angaben des Unternehmens.",
  website: "Website",
  supportEmail: "Hilfe",
  privacyPolicy: "Datenschutzerklärung",
  termsOfUse: "Nutzungsbedingungen",

  whatIsAsked: "Was weitergegeben wird",
  requiredNote: "Ohne diese Angaben ist die Prüfung nicht möglich.",
  optionalFields: "Ihre Wahl",
  optionalNote: "Wählen Sie aus, was Sie weitergeben möchten. Auf die Prüfung hat das keinen Einfluss.",
  reasonLabel: "Warum:",
  reasonDefault: "Damit dasselbe Dokument wiedererkannt wird, wenn Sie wiederkommen.",

  privacyTitle: "Was mit Ihren Daten geschieht",
  needTitle: "Was Sie brauchen",
  needDocument: "Einen Reisepass oder Personalausweis mit Chip",
  needThisDevice: "Dieses Gerät: Es liest den Chip",
  needPhone: "Ein Telefon, das den Chip lesen kann. Im nächsten Schritt erhalten Sie einen Code dafür.",
  needNothing: "Kein eigenes Dokument: Im Testbetrieb hat diese Seite Pässe zum Ausprobieren",
  needTime: "Etwa drei Minuten",
  needRequired: {
    clone_detection: {
      title: "Das Dokument muss beweisen, dass es das Original ist",
      text: "Sein Chip wird nach einem Beweis gefragt, den eine Kopie nicht geben kann. Auch die Chips mancher älterer Dokumente können das nicht, und dann gelingt die Prüfung nicht. Wenn Sie mehrere Dokumente haben, nehmen Sie das neueste.",
    },
    revocation: {
      title: "Der Staat des Dokuments muss sagen, dass seine Unterschrift noch gilt",
      text: "Das wird in einer aktuellen Liste des Staates nachgesehen, der das Dokument ausgestellt hat. Wo es keine solche Liste gibt, gelingt die Prüfung nicht, und ein anderes Dokument kann helfen.",
    },
  },
  agreeLabel: "Ich stimme der Prüfung und der Weitergabe der oben ausgewählten Angaben zu.",
  agreeMissing: "Setzen Sie das Häkchen, wenn Sie zustimmen.",
  agreeButton: "Zustimmen und weiter",
  declineButton: "Nein, abbrechen",
  working: "Einen Moment …",

  handoffTitle: "Weiter auf Ihrem Telefon",
  handoffOtherTitle: "Weiter auf einem anderen Gerät",
  handoffLead:
    "Richten Sie die Kamera Ihres Telefons auf diesen Code und öffnen Sie den Link, der erscheint.",
  handoffOtherLead:
    "Richten Sie die Kamera des anderen Geräts auf diesen Code und öffnen Sie den Link, der erscheint.",
  handoffAlt: "QR-Code mit einem Link zu dieser Prüfung",
  handoffKeepOpen:
    "Lassen Sie diese Seite offen. Sie geht von selbst weiter, sobald das andere Gerät übernommen hat.",
  handoffRenewed: "Der Code erneuert sich von selbst.",
  handoffWaiting: "Warten auf das andere Gerät …",
  handoffPreparing: "Der Code wird erstellt …",
  phonesBoth: "Es funktioniert mit Android-Telefonen und iPhones.",
  phonesAndroid: "Sie brauchen ein Android-Telefon mit NFC; iPhones funktionieren hier nicht.",
  phonesIphone: "Sie brauchen ein iPhone; Android-Telefone funktionieren hier nicht.",
  copyLink: "Link kopieren",
  linkCopied: "Der Link wurde kopiert.",
  linkToCopy: "Link für das andere Gerät",
  linkInstead: "Stattdessen einen Link verwenden",
  linkIsSecret: "Geben Sie diesen Link nicht weiter: Wer ihn zuerst öffnet, übernimmt.",
  whichDevices: "Welche Geräte können den Chip lesen?",
  deviceShell: "Ein Telefon mit NFC und der App für diese Prüfung.",
  deviceDesk: "Ein Lesegerät am Schalter, bedient von Personal.",
  deviceBrowser: "Ein Browser allein kann keine Chips lesen, weder auf dem Telefon noch am Computer.",
  readHereTitle: "Dokument lesen",
  readHereShell: "Dieses Gerät kann den Chip Ihres Dokuments lesen.",
  readHereButton: "Dokument hier lesen",
  virtualTitle: "Einen Testpass verwenden",
  virtualLead:
    "Im Testbetrieb hat diese Seite simulierte Pässe. Sie durchlaufen dieselben Prüfungen wie ein echter Chip.",
  virtualButton: "Testpass auswählen",
  appTitle: "Weiter in der App",
  appLead:
    "Der Chip in Ihrem Reisepass oder Personalausweis muss gelesen werden. Ihr Telefon kann das in der App, aber nicht im Browser.",
  appOpen: "Weiter in der App",
  appNotYet:
    "Sie haben die App noch nicht? Installieren Sie sie, kommen Sie dann auf diese Seite zurück und machen Sie weiter.",
  appInstall: "App installieren",
  appMissingTitle: "Die App hat sich nicht geöffnet",
  appMissingText:
    "Sie ist wohl noch nicht auf diesem Telefon. Installieren Sie sie, kommen Sie dann auf diese Seite zurück und machen Sie in der App weiter. Nichts geht verloren.",
  appIosHint: "Wenn Safari auf dieser Seite bleibt, tippen Sie oben in der Leiste auf „Öffnen“.",
  appClipHint: "Sie müssen nichts installieren: Tippen Sie auf der Karte, die Safari zeigt, auf „Öffnen“.",
  scannedKeep:
    "Die Seite, auf der Sie begonnen haben, geht von selbst weiter, sobald die App übernommen hat.",
  noWayTitle: "Dieses Telefon kann Ihr Dokument hier nicht lesen",
  noWayIphone:
    "Der Chip in Ihrem Dokument muss gelesen werden. Browser auf einem iPhone können das nicht, und für diese Prüfung gibt es keine iPhone-App.",
  noWayAndroid:
    "Der Chip in Ihrem Dokument muss gelesen werden. Ein Browser kann das nicht, und für diese Prüfung gibt es keine Android-App.",
  wayAndroid: "Nehmen Sie ein Android-Telefon mit NFC, wenn Sie eines haben oder leihen können.",
  wayIphone: "Nehmen Sie ein iPhone, wenn Sie eines haben oder leihen können.",
  wayDesk: (name: string) =>
    `Fragen Sie ${name}, ob es einen Schalter gibt, an dem Ihr Dokument gelesen werden kann.`,

  claimTitle: "Verbindung wird hergestellt …",
  claimLead: "Dieses Gerät wird mit der Prüfung verbunden.",
  noReaderTitle: "Dieser Browser kann keine Chips lesen",
  noReaderText:
    "Browser haben keinen Zugang zum Chip eines Dokuments. Nehmen Sie ein Gerät, das ihn lesen kann, und scannen Sie damit den Code auf der Seite, auf der Sie begonnen haben.",
  connectionLost: "Die Verbindung ist abgebrochen. Neuer Versuch …",
  connectionRetry: "Neu verbinden",
  connectionGone:
    "Es gibt keine Verbindung zum Dienst. Nichts ging verloren, und kein Versuch wurde verbraucht.",
  offlineTitle: "Sie sind offline",
  offlineText:
    "Dieses Gerät hat keine Netzverbindung. Nichts geht verloren: Sobald die Verbindung wieder da ist, können Sie weitermachen.",
  slowText:
    "Das dauert länger als sonst. Ihre Verbindung scheint langsam zu sein; bitte warten Sie einen Moment.",

  pickTitle: "Testpass auswählen",
  pickLead: "Jeder endet auf seine Weise, damit sich jedes Ergebnis ausprobieren lässt.",
  pickGroup: {
    passes: "Besteht",
    document: "Das Dokument besteht nicht",
    face: "Das Gesicht besteht nicht",
  },
  pickEnds: (failure) => `Endet mit: ${failure}`,
  pickUse: "Dieses Dokument lesen",
  virtualStop: "Nach jedem erfolglosen Versuch können Sie neu wählen.",

  scan: {
    start: "Mit der Kamera lesen",
    lead: "Die Kamera liest Nummer und Daten aus den Zeilen mit vielen <, auf der Seite mit dem Foto oder auf der Rückseite der Karte.",
    privacy: "Das Bild wird auf diesem Gerät gelesen. Es wird nicht gesendet und nicht aufbewahrt.",
    photo: "Ein Foto verwenden",
    type: "Lieber eintippen",
    torch: "Licht",
    loading: "Wird vorbereitet …",
    done: "Die Zeilen sind gelesen",
    cameraLabel: "Bild der Kamera, Dokument",
    hint: {
      show_lines: "Halten Sie die Zeilen mit vielen < ins Bild",
      closer: "Näher heran",
      flatter: "Halten Sie das Dokument flach vor die Kamera",
      less_glare: "Etwas neigen, weg von der Spiegelung",
      more_light: "Es braucht mehr Licht",
      hold_still: "Ruhig halten",
    },
    visa: "Das ist ein Visum, es hat keinen Chip. Zeigen Sie die Seite des Passes mit Ihrem Foto.",
    photoUnread:
      "Die Zeilen sind auf diesem Foto nicht lesbar. Machen Sie ein anderes, näher und scharf, oder tippen Sie sie ein.",
    pageTitle: "Die Seite eines Testpasses",
    pageText:
      "Zeigen Sie sie auf einem anderen Bildschirm und halten Sie sie vor die Kamera, oder nehmen Sie ein Foto davon: dann wird der Chip dieses Testpasses gelesen.",
    pageShow: "Seite zeigen",
    noTestDocument: "Diese Zeilen gehören zu keinem Testpass.",
    refusedTitle: "Der Chip ging dreimal nicht auf",
    refusedText:
      "Die Angaben gehören nicht zu diesem Chip. Lesen Sie die Zeilen des Dokuments mit der Kamera, oder vergleichen Sie jedes Zeichen.",
  },

  accessTitle: "Was steht auf Ihrem Dokument?",
  accessLead:
    "Der Chip öffnet sich nur für den, der das Dokument vor sich hat. Was Sie eingeben, bleibt auf diesem Gerät.",
  accessBy: "Öffnen mit",
  accessByMrz: "Nummer und Daten",
  accessByCan: "Zugangsnummer (CAN)",
  documentNumber: "Dokumentennummer",
  documentNumberHint: "Buchstaben und Ziffern, wie in den Zeilen mit den <-Zeichen.",
  dateOfBirth: "Geburtsdatum",
  dateOfExpiry: "Gültig bis",
  can: "Zugangsnummer",
  canHint: "Sechs Ziffern auf der Vorderseite der Karte.",
  documentNumberWrong: "Die Dokumentennummer besteht aus höchstens 22 Buchstaben und Ziffern.",
  checkDigitWrong:
    "Diese Nummer endet mit einer Prüfziffer, die nicht passt. Vergleichen Sie sie noch einmal mit dem Dokument.",
  dateOfBirthWrong: "Geben Sie das Geburtsdatum ein, wie es auf dem Dokument steht.",
  dateOfExpiryWrong: "Geben Sie das Ablaufdatum ein, wie es auf dem Dokument steht.",
  canWrong: "Die Zugangsnummer hat sechs Ziffern.",
  errorSummary: "Bitte prüfen Sie die markierten Angaben.",
  readButton: "Chip lesen",

  readingTitle: "Der Chip wird gelesen",
  nfcOff: "NFC ist ausgeschaltet",
  nfcOffText:
    "Das Telefon liest den Chip über NFC. Schalten Sie es ein und kommen Sie dann auf diese Seite zurück.",
  nfcOffButton: "Einstellungen öffnen",
  nfcAbsent: "Dieses Telefon kann keine Chips lesen",
  nfcAbsentText: "Es hat keinen NFC-Leser. Nehmen Sie ein anderes Gerät.",
  holdAt: {
    top: "Halten Sie das Dokument an den oberen Teil der Rückseite des Telefons.",
    middle: "Halten Sie das Dokument an die Mitte der Rückseite des Telefons.",
    bottom: "Halten Sie das Dokument an den unteren Teil der Rückseite des Telefons.",
  },
  holdHow:
    "Der Chip eines Reisepasses ist im Einband oder in der Seite mit Ihrem Bild: Schließen Sie ihn und legen Sie das Telefon darauf, danach versuchen Sie es mit der Bildseite. Eine Karte legen Sie flach an das Telefon.",
  holdStill: "Halten Sie das Dokument ruhig an das Gerät, bis alle Schritte erledigt sind.",
  readConnecting: "Chip finden",
  readOpening: "Chip öffnen",
  readData: "Daten lesen",
  readPortrait: "Bild lesen",
  readSending: "Zur Prüfung senden",
  readChecking: "Echtheit prüfen",
  readProof: "Prüfen, ob es das Original ist",
  readBusy: "Gerade ist viel los. Bitte warten Sie, Ihr Platz bleibt erhalten.",
  percent: (text) => `${text} gelesen`,
  chipLost: "Der Kontakt zum Chip ging verloren. Halten Sie das Dokument noch einmal an das Gerät.",
  chipKeyWrong: "Der Chip hat sich nicht geöffnet. Vergleichen Sie Nummer und Daten mit dem Dokument.",
  chipUnreadable:
    "Der Chip ließ sich nicht lesen. Nehmen Sie das Dokument aus der Hülle und versuchen Sie es noch einmal.",
  chipUnsupported: "Dieses Gerät kann diese Art Chip nicht lesen. Bitte nehmen Sie ein anderes Gerät.",
  chipReaderFailed:
    "Das Lesen ist auf diesem Gerät fehlgeschlagen. Versuchen Sie es noch einmal, oder nehmen Sie ein anderes Gerät.",
  readerSilent: "Vom Lesegerät kam seit einer Weile nichts mehr.",
  readerSilentText:
    "Halten Sie das Dokument ruhig an das Gerät. Wenn nichts geschieht, beginnen Sie noch einmal: Ein Versuch wird nicht verbraucht.",
  beginAgain: "Noch einmal beginnen",
  noTryUsed: "Es wurde kein Versuch verbraucht.",
  tryAgain: "Noch einmal versuchen",

  faceTitle: "Zeigen Sie nun Ihr Gesicht",
  faceLead: "Die Kamera vergleicht Sie mit dem Bild auf dem Chip. Das dauert etwa 15 Sekunden.",
  faceAdvice: ["Gleichmäßiges Licht von vorn", "Ohne Hut und Sonnenbrille", "Niemand sonst im Bild"],
  faceExplained: {
    happens: {
      title: "Was geschieht",
      text: "Sie halten Ihr Gesicht in ein Oval. Dann bittet die Seite nacheinander um vier Bewegungen, zum Beispiel den Kopf zu drehen. Gleichmäßiges Licht von vorn hilft; nehmen Sie Hut und Sonnenbrille ab und seien Sie allein im Bild.",
    },
    colours: {
      title: "Der Bildschirm wechselt die Farbe",
      text: "Während der Prüfung wird der ganze Bildschirm etwa einmal in der Sekunde rot, grün, blau oder weiß, und Ihr Gesicht wirft das Licht zurück. Das gehört zur Prüfung, auch wenn auf Ihrem Gerät Animationen abgeschaltet sind. Wenn Ihnen das schaden könnte, starten Sie nicht und fragen Sie dort, wo Sie herkamen, nach einem anderen Weg.",
    },
    kept: {
      title: "Es wird nichts gespeichert",
      text: "Die Bilder gehen nur an diesen Dienst, werden mit dem Bild auf dem Chip verglichen und nicht gespeichert. Was Ihnen hilft, die richtige Haltung zu finden, läuft auf Ihrem Gerät.",
    },
    permission: {
      title: "Ihre Erlaubnis",
      text: "Der Browser fragt nun, ob diese Seite die Kamera benutzen darf. Bitte erlauben Sie es. Sobald die Prüfung vorbei ist, ist die Kamera wieder aus.",
    },
  },
  facePrivacy: "Die Kamera ist aus. Die Bilder dienen nur diesem Vergleich und werden nicht gespeichert.",
  faceStart: "Kamera starten",
  faceSimulatedLead:
    "Im Testbetrieb ist keine Kamera nötig: Der Testpass bestimmt, wie dieser Schritt endet.",
  faceSimulatedStart: "Weiter",
  faceWithCameraTitle: "Oder die echte Prüfung ausprobieren",
  faceWithCameraText:
    "Mit der Kamera läuft dieser Schritt genauso ab wie mit einem echten Dokument. Der Testpass zeigt eine gezeichnete Person, Ihr eigenes Gesicht wird also nicht dazu passen.",
  faceUseCamera: "Kamera benutzen",
  faceUnavailable:
    "Der Gesichtsvergleich ist bei diesem Dienst gerade nicht verfügbar. Bitte versuchen Sie es später noch einmal.",
  faceNoCamera: {
    framed: {
      title: "Die Kamera ist in diesem Rahmen gesperrt",
      text: "Die umgebende Seite lässt die Kamera hier nicht zu. Machen Sie in einem eigenen Tab weiter: Drücken Sie auf die Schaltfläche unten, dann auf „In neuem Tab öffnen“.",
    },
    denied: {
      title: "Die Kamera ist nicht erlaubt",
      text: "Erlauben Sie die Kamera für diese Seite: meist über das Zeichen neben der Adresse oder in den Einstellungen des Browsers. Starten Sie dann noch einmal.",
    },
    missing: {
      title: "Es wurde keine Kamera gefunden",
      text: "Schließen Sie eine Kamera an oder schalten Sie sie ein und starten Sie dann noch einmal.",
    },
    in_use: {
      title: "Die Kamera ist belegt",
      text: "Ein anderes Programm oder eine andere Seite benutzt die Kamera. Schließen Sie es dort und starten Sie dann noch einmal.",
    },
    failed: {
      title: "Die Kamera lässt sich nicht benutzen",
      text: "Dieser Browser gibt keinen Zugang zu einer Kamera. Versuchen Sie es mit einem anderen Browser.",
    },
    not_loaded: {
      title: "Die Prüfung konnte nicht geladen werden",
      text: "Prüfen Sie die Verbindung zum Internet und starten Sie dann noch einmal.",
    },
  },
  faceOtherDevice:
    "Sie können auch mit einem anderen Gerät weitermachen, das eine Kamera hat. Das Dokument wird dann dort noch einmal gelesen.",
  faceOtherDeviceFromThere:
    "Sie können auch mit einem anderen Gerät weitermachen: Scannen Sie den Code auf der Seite, auf der Sie begonnen haben. Das Dokument wird dann dort noch einmal gelesen.",
  faceGuideLoading: "Halten Sie Ihr Gesicht in das Oval. Einen Augenblick …",
  faceNoGuide: "Halten Sie Ihr Gesicht in das Oval, schauen Sie geradeaus und drücken Sie „Jetzt starten“.",
  faceFraming: {
    no_face: "Halten Sie Ihr Gesicht in das Oval",
    several_faces: "Bitte nur eine Person",
    too_dark: "Es ist zu dunkel. Suchen Sie mehr Licht",
    too_far: "Kommen Sie näher",
    too_close: "Gehen Sie weiter weg",
    off_centre: "Bringen Sie Ihr Gesicht in die Mitte des Ovals",
    not_straight: "Schauen Sie geradeaus",
    good: "Gut. Halten Sie still …",
  },
  faceStartNow: "Jetzt starten",
  faceStop: "Anhalten",
  faceWaits:
    "Die Anweisungen von vorhin müssen erst ablaufen. Das dauert weniger als eine Minute; bitte bleiben Sie hier.",
  faceStopped: {
    hidden: "Die Prüfung wurde angehalten, weil diese Seite nicht zu sehen war.",
    camera: "Die Prüfung wurde angehalten, weil die Kamera kein Bild mehr gab.",
  },
  faceProgress: (movement: number, movements: number) => `Bewegung ${movement} von ${movements}`,
  faceLookAhead: "Schauen Sie geradeaus",
  faceMovement: {
    turn_left: "Drehen Sie den Kopf langsam nach links",
    turn_right: "Drehen Sie den Kopf langsam nach rechts",
    look_up: "Schauen Sie langsam nach oben",
    come_closer: "Kommen Sie näher an die Kamera",
  },
  faceChecking: "Ihr Gesicht wird verglichen …",
  faceCheckingLead: "Das dauert einige Sekunden.",
  faceBusyTitle: "Im Augenblick werden zu viele Gesichter geprüft",
  faceBusyText: "Nichts wurde gezählt und kein Versuch verbraucht. Versuchen Sie es gleich noch einmal.",
  facePortraitTitle: "Dieses Bild lässt sich nicht vergleichen",
  facePortraitText:
    "Das Bild auf dem Chip dieses Dokuments lässt sich nicht mit einem Gesicht vergleichen. Es wurde kein Versuch verbraucht. Bitten Sie um einen neuen Link und nehmen Sie ein anderes Dokument.",
  faceCameraLabel: "Bild der Kamera",

  otherTitle: "Weiter mit dem anderen Gerät",
  otherLead:
    "Ein anderes Gerät, die App oder ein Lesegerät am Schalter hat übernommen: Ihr Dokument wird dort gelesen. Diese Seite zeigt den Fortgang.",
  otherChip: "Der Chip wird gelesen.",
  otherChipCheck: "Das Dokument wird geprüft.",
  otherFace: "Das Gesicht wird verglichen.",
  otherWaiting: "Warten auf das andere Gerät.",
  otherGone: "Vom anderen Gerät war eine Weile nichts zu hören.",
  otherRefused: "Der letzte Versuch wurde nicht angenommen",
  otherRefusedText:
    "Das andere Gerät sagt, warum und was zu tun ist. Am Schalter fragen Sie, wer Ihr Dokument liest.",
  otherFaceNext: "Ihr Dokument ist in Ordnung. Als Nächstes kommt Ihr Gesicht",
  otherFaceNextText:
    "Machen Sie mit dem Gerät weiter, das es gelesen hat. Am Schalter scannen Sie mit einem Telefon den Code, den man Ihnen dort zeigt.",
  otherNewCode: "Anderes Gerät verwenden",
  otherBack: "Zurück zu diesem Gerät",
  resumeTitle: "Weitermachen, wo Sie aufgehört haben",
  resumeText:
    "Sie haben auf diesem Gerät begonnen und wurden unterbrochen, oder die Prüfung ist in einem anderen Fenster offen. Vielleicht muss das Dokument noch einmal gelesen werden; das zählt nicht als Versuch.",
  resumeButton: "Hier weitermachen",

  deviceDoneTitle: "Sie können dieses Gerät weglegen",
  deviceDoneText: "Die Seite, auf der Sie begonnen haben, zeigt das Ergebnis. Dort geht es weiter.",
  takenTitle: "Ein anderes Gerät macht weiter",
  takenText: "Ein anderes Gerät oder ein anderes Fenster hat die Prüfung übernommen.",

  triesLeft: (count) =>
    count === 0
      ? "Es ist kein Versuch mehr übrig."
      : count === 1
        ? "Es ist noch ein Versuch übrig."
        : `Es sind noch ${count} Versuche übrig.`,
  minutesLeft: (count) => (count === 1 ? "1 Minute" : `${count} Minuten`),
  lessThanAMinute: "weniger als eine Minute",
  timeLeftLabel: "Verbleibende Zeit:",

  succeededTitle: "Ihre Identität ist bestätigt",
  succeededText: (name) => `${name} erhält nun, was Sie freigegeben haben, und sonst nichts.`,
  sharedList: "Weitergegeben",
  failedTitle: "Die Prüfung war nicht erfolgreich",
  failedNothingShared: "Es wurde nichts über Sie weitergegeben.",
  nextTitle: "Was Sie tun können",
  failure: {
    document_authenticity_failed: {
      title: "Die Echtheit des Dokuments ließ sich nicht bestätigen",
      text: "Die Daten auf dem Chip sind nicht die, die der ausstellende Staat unterschrieben hat, oder der Staat ist diesem Dienst nicht bekannt.",
      next: "Versuchen Sie es mit einem anderen Pass oder Ausweis. Ist dieser echt, wenden Sie sich an die ausstellende Behörde.",
    },
    document_active_authentication_failed: {
      title: "Der Chip konnte nicht zeigen, dass er das Original ist",
      text: "Der Chip hat auf eine frische Aufgabe nicht so geantwortet, wie es das Original täte.",
      next: "Halten Sie das Dokument ruhig und versuchen Sie es noch einmal, oder nehmen Sie einen anderen Pass oder Ausweis.",
    },
    document_chip_authentication_failed: {
      title: "Der Chip konnte nicht zeigen, dass er das Original ist",
      text: "Dem Chip fehlt der Schlüssel, der zu diesem Dokument gehört.",
      next: "Halten Sie das Dokument ruhig und versuchen Sie es noch einmal, oder nehmen Sie einen anderen Pass oder Ausweis.",
    },
    document_data_invalid: {
      title: "Die Daten auf dem Chip sind unvollständig oder beschädigt",
      text: "Das Gelesene ist nicht verständlich oder passt nicht zusammen.",
      next: "Halten Sie das Dokument ruhig und versuchen Sie es noch einmal, oder nehmen Sie einen anderen Pass oder Ausweis.",
    },
    document_expired: {
      title: "Das Dokument ist abgelaufen",
      text: "Sein letzter gültiger Tag ist vorbei.",
      next: "Nehmen Sie einen Pass oder Ausweis, der noch gültig ist.",
    },
    liveness_failed: {
      title: "Wir konnten keinen Menschen vor der Kamera erkennen",
      text: "Die Bewegungen wurden nicht erkannt, oder das Bild war nicht gut genug.",
      next: "Sorgen Sie für gleichmäßiges Licht, nehmen Sie Hut und Sonnenbrille ab und seien Sie allein im Bild. Machen Sie jede Bewegung langsam und deutlich und schauen Sie danach wieder geradeaus.",
    },
    selfie_face_mismatch: {
      title: "Ihr Gesicht passte nicht zum Bild",
      text: "Die Person vor der Kamera und das Bild auf dem Chip sind sich nicht ähnlich genug.",
      next: "Nehmen Sie Ihr eigenes Dokument. Sorgen Sie für gleichmäßiges Licht, nehmen Sie die Brille ab und schauen Sie zwischen den Bewegungen geradeaus.",
    },
  },
  unmet: {
    clone_detection: {
      title: "Dieses Dokument kann nicht beweisen, dass es das Original ist",
      text: "Sein Chip bietet keinen solchen Beweis an. Mit dem Dokument ist alles in Ordnung, aber wer Sie fragt, braucht eines, das es beweisen kann.",
      next: "Verwenden Sie einen anderen Pass oder Personalausweis, am besten den zuletzt ausgestellten. Diesen noch einmal zu lesen hilft nicht.",
    },
    revocation: {
      title: "Es ließ sich nicht nachsehen, ob die Unterschrift dieses Dokuments noch gilt",
      text: "Vom Staat, der es ausgestellt hat, gibt es keine aktuelle Liste. Mit dem Dokument ist alles in Ordnung, aber wer Sie fragt, braucht eines, bei dem sich das nachsehen lässt.",
      next: "Verwenden Sie einen anderen Pass oder Personalausweis, am besten eines anderen Staates, oder versuchen Sie es an einem anderen Tag.",
    },
  },
  failedAskAgain: (name) =>
    `Wenn Sie es noch einmal versuchen möchten, bitten Sie ${name} um einen neuen Link.`,
  expiredTitle: "Dieser Link ist abgelaufen",
  expiredText: (minutes: number) =>
    `Eine Prüfung ist ${minutes} Minuten offen. Diese wurde nicht abgeschlossen.`,
  cancelledTitle: "Die Prüfung wurde abgebrochen",
  cancelledText: "Es wurde nichts über Sie weitergegeben.",
  withdrawnTitle: "Ihre Zustimmung wurde widerrufen",
  withdrawnText:
    "Was noch nicht zugestellt war, ist gelöscht. Was der Empfänger schon hat, muss er löschen; bitten Sie ihn darum.",
  helpTitle: "Brauchen Sie Hilfe?",
  helpText: (name: string) => `${name} hat Sie hierher geschickt und kann Ihnen sagen, wie es weitergeht.`,
  notFoundTitle: "Dieser Link führt zu keiner Prüfung",
  notFoundText:
    "Vielleicht ist er unvollständig, oder die Prüfung wurde inzwischen gelöscht. Gehen Sie zurück zu der Seite, von der Sie kamen, und beginnen Sie neu.",
  troubleTitle: "Bei uns ist etwas schiefgegangen",
  troubleText: "Nichts ging verloren, und kein Versuch wurde verbraucht.",
  noAnswerTitle: "Der Dienst antwortet nicht",
  noAnswerText:
    "Es gibt keine Verbindung, oder sie ist sehr langsam. Nichts ist verloren; bitte versuchen Sie es noch einmal.",
  handoffExpiredTitle: "Dieser Code ist zu alt",
  handoffExpiredText: "Scannen Sie den Code auf der anderen Seite noch einmal; dort steht ein frischer.",
  handoffConsumedTitle: "Dieser Code wurde schon benutzt",
  handoffConsumedText:
    "Ein anderes Gerät hat damit übernommen. Scannen Sie den Code auf der anderen Seite noch einmal.",
  handoffInvalidTitle: "Dieser Code funktioniert nicht",
  handoffInvalidText: "Scannen Sie den Code auf der anderen Seite noch einmal.",
  handoffMismatchTitle: "Ein anderes Gerät ist an der Reihe",
  handoffMismatchText:
    "Machen Sie mit dem Gerät weiter, das begonnen hat, oder nehmen Sie einen frischen Code von der anderen Seite.",
  handoffLostAll: (name: string) =>
    `Wenn jene Seite geschlossen und das Gerät, mit dem Sie begonnen haben, nicht mehr zur Hand ist, bitten Sie ${name} um einen neuen Link.`,

  returnTo: (name) => `Zurück zu ${name}`,
  returnSoon: (seconds) =>
    seconds === 1 ? "In 1 Sekunde geht es zurück." : `In ${seconds} Sekunden geht es zurück.`,
  returnStay: "Hier bleiben",
  closePage: "Sie können diese Seite schließen.",

  cancelButton: "Prüfung abbrechen",
  cancelAskTitle: "Prüfung abbrechen?",
  cancelAskText: (name) =>
    `Sie endet hier, nichts wird weitergegeben, und ${name} erfährt, dass Sie abgebrochen haben.`,
  cancelConfirm: "Ja, abbrechen",
  cancelBack: "Nein, weitermachen",
  cancelElsewhere:
    "Abbrechen kann nur die Seite, auf der Sie zugestimmt haben. Sie können diese Seite auch einfach schließen: Vor dem Ende wird nichts weitergegeben.",

  receiptTitle: "Ihr Beleg",
  receiptText:
    "Er hält fest, wonach Sie gefragt wurden, wozu und wann Sie zugestimmt haben, unterschrieben von diesem Dienst.",
  receiptGiven: (moment) => `Sie haben am ${moment} zugestimmt.`,
  receiptShow: "Beleg ansehen",
  receiptWhen: "Zugestimmt am",
  receiptAgreed: "Sie geben weiter",
  receiptDeclined: "Sie geben nicht weiter",
  receiptTerms: "Fassung des Textes",
  receiptNumber: "Nummer des Belegs",
  receiptIssuer: "Ausgestellt von",
  receiptNobody:
    "Der Beleg sagt, wozu Sie zugestimmt haben, nicht wer Sie sind. Die Datei enthält dasselbe mit der Unterschrift, damit jeder sie prüfen kann.",
  receiptBack: "Zurück",
  receiptPrint: "Drucken",
  receiptChecking: "Die Unterschrift wird geprüft …",
  receiptGood:
    "Die Unterschrift ist gültig: Dieser Dienst hat den Beleg ausgestellt, und nichts darin wurde geändert.",
  receiptBad: "Die Unterschrift passt nicht. Verlassen Sie sich nicht auf diesen Beleg.",
  receiptUnknown:
    "Die Unterschrift konnte hier nicht geprüft werden. Die Datei lässt sich jederzeit anderswo prüfen.",
  receiptDownload: "Beleg herunterladen",
  withdrawTitle: "Zustimmung widerrufen",
  withdrawText: (name) =>
    `Hat ${name} noch nichts erhalten, bleibt es dabei. Was schon zugestellt ist, lässt sich von hier aus nicht zurückholen.`,
  withdrawButton: "Zustimmung widerrufen",
  withdrawConfirm: "Ja, widerrufen",
  withdrawKeep: "Nein, dabei bleiben",
  withdrawUsed: "Das wurde bereits abgebrochen oder widerrufen.",
  withdrawCode: "Ihr Widerrufscode",
  withdrawCodeText:
    "Heben Sie ihn auf, falls Sie später widerrufen möchten. Wer ihn hat, kann an Ihrer Stelle widerrufen.",
  withdrawCodeLabel: "Widerrufscode",
  withdrawCodeAsk: "Geben Sie den Code ein, den diese Seite Ihnen am Ende gezeigt hat.",
  withdrawCodeWrong: "Dieser Code gehört nicht zu dieser Prüfung.",
  copyCode: "Code kopieren",
  codeCopied: "Der Code wurde kopiert.",

  frame: {
    openTab: "In neuem Tab öffnen",
    tabLead:
      "Diese Seite wird innerhalb einer anderen gezeigt. Damit niemand unbemerkt etwas darüberlegen kann, stimmen Sie in einem eigenen Tab zu.",
    movedTitle: "Machen Sie im neuen Tab weiter",
    movedText: "Die Prüfung geht dort weiter. Diese Seite folgt und zeigt, wie sie ausgeht.",
    movedStay: "Lieber hier weitermachen",
    unseenTitle: "Sehen Sie diese Seite einen Moment an und drücken Sie dann noch einmal",
    unseenText:
      "Ihre Zustimmung zählt nur, nachdem der Anfang dieser Seite zu sehen war und solange die Schaltfläche zu sehen ist. Wenn etwas sie verdeckt, machen Sie in einem eigenen Tab weiter.",
    forgottenTitle: "Diese Seite wurde neu geladen",
    forgottenText: (name) =>
      `Ihr Browser speichert nichts für eine Seite innerhalb einer anderen. Was hier begonnen wurde, ist daher verloren. Wenn Sie auf einem anderen Gerät oder in einem neuen Tab begonnen haben, machen Sie dort weiter; sonst bitten Sie ${name}, noch einmal zu beginnen.`,
    tabDoneTitle: "Sie können diesen Tab schließen",
    tabClose: "Diesen Tab schließen",
  },

  claim: {
    document_type_code: "Art des Dokuments",
    issuing_country_code: "Ausstellendes Land",
    family_name: "Nachname",
    given_names: "Vornamen",
    document_number: "Dokumentennummer",
    nationality_code: "Staatsangehörigkeit",
    date_of_birth: "Geburtsdatum",
    sex_marker: "Geschlecht laut Dokument",
    document_expiry_date: "Ablaufdatum",
    mrz_optional_data: "Zusätzliche Angaben in den maschinenlesbaren Zeilen",
    service_document_id: "Eine Kennung anstelle Ihres Dokuments",
  },
  claimAbout: {
    service_document_id:
      "Sagt, ob es dasselbe Dokument ist wie beim letzten Mal. Sie sagt nichts über Sie und ist für jeden Empfänger eine andere.",
  },
  claimAgeOver: (years) => `Ob Sie mindestens ${years} sind`,
  claimAgeOverAbout: "Nur ja oder nein. Ihr Geburtsdatum gehört nicht dazu.",
};
