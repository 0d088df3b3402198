import type { Messages } from "./en.ts";

export const fr: Messages = {
  pageTitle: "Vérifier votre identité",
  skipToContent: "Aller au contenu",
  language: "Langue",
  loading: "Chargement…",
  sandboxBadge: "Mode test",
  sandboxNote: "Les vrais documents ne sont pas acceptés ici.",
  footerRun: "Rien de ce qui vous identifie n’est conservé ici.",
  byAssay: "Vérification par Assay",

  stepsLabel: "Étapes",
  stepAgree: "Accepter",
  stepRead: "Lire la puce",
  stepFace: "Montrer votre visage",
  stepDone: "Terminé",
  stepDoneState: "fait",

  consentTitle: (name) => `${name} vous demande de vérifier votre identité`,
  consentLead:
    "C’est vous qui décidez de ce qui est transmis. Rien n’est envoyé avant votre accord, et vous pouvez arrêter à tout moment.",
  whoAsks: "Qui demande",
  verifiedDomain: "Adresse internet vérifiée",
  domainProved: (name) => `${name} a prouvé que cette adresse internet lui appartient.`,
  notVerifiedTitle: "Nous n’avons pas pu confirmer de qui il s’agit",
  notVerifiedText: (name) =>
    `L’auteur de cette demande se présente sous le nom « ${name} » et n’a pas prouvé qu’une adresse internet lui appartient. Continuez seulement si vous venez d’une page à laquelle vous faites confiance.`,
  notVerifiedSandbox: (name) =>
    `En mode test seulement : ${name} n’a pas encore prouvé d’adresse internet. Avec un vrai document, vous seriez averti.`,
  businessName: "Nom de l’entreprise",
  businessJurisdiction: "Pays d’immatriculation",
  businessRegistration: "Numéro d’immatriculation",
  selfAsserted: "Selon les indications de l’entreprise elle-même.",
  website: "Site internet",
  supportEmail: "Aide",
  privacyPolicy: "Politique de confidentialité",
  termsOfUse: "Conditions d’utilisation",

  whatIsAsked: "Ce qui est transmis",
  requiredNote: "Sans ces données, la vérification n’est pas possible.",
  optionalFields: "À vous de choisir",
  optionalNote: "Cochez ce que vous voulez transmettre. Cela ne change rien à la vérification.",
  reasonLabel: "Pourquoi :",
  reasonDefault: "Pour reconnaître le même document si vous revenez.",

  privacyTitle: "Ce que deviennent vos données",
  needTitle: "Ce qu’il vous faut",
  needDocument: "Un passeport ou une carte d’identité avec une puce",
  needThisDevice: "Cet appareil : il lit la puce",
  needPhone: "Un téléphone capable de lire la puce. Vous obtiendrez un code pour lui à l’étape suivante.",
  needNothing: "Aucun document à vous : en mode test, cette page fournit des passeports d’essai",
  needTime: "Environ trois minutes",
  needRequired: {
    clone_detection: {
      title: "Le document doit prouver qu’il est l’original",
      text: "On demande à sa puce une preuve qu’une copie ne peut pas donner. Les puces de certains documents anciens ne le peuvent pas non plus, et la vérification échoue alors. Si vous avez plusieurs documents, prenez le plus récent.",
    },
    revocation: {
      title: "L’État du document doit dire que sa signature est encore valable",
      text: "Cela est vérifié dans une liste à jour de l’État qui a délivré le document. S’il n’existe pas de telle liste, la vérification échoue, et un autre document peut aider.",
    },
  },
  agreeLabel: "J’accepte la vérification et la transmission de ce qui est sélectionné ci-dessus.",
  agreeMissing: "Cochez la case pour donner votre accord.",
  agreeButton: "Accepter et continuer",
  declineButton: "Non, annuler",
  working: "Un instant…",

  handoffTitle: "Continuez sur votre téléphone",
  handoffOtherTitle: "Continuez sur un autre appareil",
  handoffLead: "Dirigez l’appareil photo de votre téléphone vers ce code, puis ouvrez le lien qui s’affiche.",
  handoffOtherLead:
    "Dirigez l’appareil photo de l’autre appareil vers ce code, puis ouvrez le lien qui s’affiche.",
  handoffAlt: "Code QR contenant un lien vers cette vérification",
  handoffKeepOpen:
    "Laissez cette page ouverte. Elle continue d’elle-même dès que l’autre appareil a pris le relais.",
  handoffRenewed: "Le code se renouvelle tout seul.",
  handoffWaiting: "En attente de l’autre appareil…",
  handoffPreparing: "Le code est en préparation…",
  phonesBoth: "Cela fonctionne avec les téléphones Android et les iPhone.",
  phonesAndroid: "Il vous faut un téléphone Android avec NFC ; les iPhone ne fonctionnent pas ici.",
  phonesIphone: "Il vous faut un iPhone ; les téléphones Android ne fonctionnent pas ici.",
  copyLink: "Copier le lien",
  linkCopied: "Le lien a été copié.",
  linkToCopy: "Lien pour l’autre appareil",
  linkInstead: "Utiliser plutôt un lien",
  linkIsSecret: "Ne partagez pas ce lien : la première personne qui l’ouvre prend le relais.",
  whichDevices: "Quels appareils peuvent lire la puce ?",
  deviceShell: "Un téléphone avec NFC et l’application de cette vérification.",
  deviceDesk: "Un lecteur au guichet, utilisé par le personnel.",
  deviceBrowser: "Un navigateur seul ne peut pas lire de puce, ni sur téléphone ni sur ordinateur.",
  readHereTitle: "Lisez votre document",
  readHereShell: "Cet appareil peut lire la puce de votre document.",
  readHereButton: "Lire le document ici",
  virtualTitle: "Utiliser un passeport de test",
  virtualLead:
    "En mode test, cette page dispose de passeports logiciels. Ils passent les mêmes contrôles qu’une vraie puce.",
  virtualButton: "Choisir un passeport de test",
  appTitle: "Continuez dans l’application",
  appLead:
    "La puce de votre passeport ou de votre carte d’identité doit être lue. Votre téléphone peut le faire dans l’application, mais pas dans le navigateur.",
  appOpen: "Continuer dans l’application",
  appNotYet: "Vous n’avez pas encore l’application ? Installez-la, puis revenez sur cette page et continuez.",
  appInstall: "Installer l’application",
  appMissingTitle: "L’application ne s’est pas ouverte",
  appMissingText:
    "Elle n’est sans doute pas encore sur ce téléphone. Installez-la, puis revenez sur cette page et continuez dans l’application. Rien n’est perdu.",
  appIosHint: "Si Safari reste sur cette page, touchez « Ouvrir » dans la barre en haut.",
  appClipHint: "Vous n’avez rien à installer : touchez « Ouvrir » sur la carte que Safari affiche.",
  scannedKeep: "La page où vous avez commencé continue d’elle-même dès que l’application a pris le relais.",
  noWayTitle: "Ce téléphone ne peut pas lire votre document ici",
  noWayIphone:
    "La puce de votre document doit être lue. Les navigateurs d’un iPhone en sont incapables, et il n’existe pas d’application iPhone pour cette vérification.",
  noWayAndroid:
    "La puce de votre document doit être lue. Un navigateur en est incapable, et il n’existe pas d’application Android pour cette vérification.",
  wayAndroid: "Utilisez un téléphone Android avec NFC, si vous en avez un ou pouvez en emprunter un.",
  wayIphone: "Utilisez un iPhone, si vous en avez un ou pouvez en emprunter un.",
  wayDesk: (name: string) => `Demandez à ${name} s’il existe un guichet où votre document peut être lu.`,

  claimTitle: "Connexion…",
  claimLead: "Cet appareil est en train d’être relié à la vérification.",
  noReaderTitle: "Ce navigateur ne peut pas lire les puces",
  noReaderText:
    "Les navigateurs n’ont pas accès à la puce d’un document. Prenez un appareil qui peut la lire et scannez à nouveau le code sur la page où vous avez commencé.",
  connectionLost: "La connexion a été perdue. Nouvel essai…",
  connectionRetry: "Se reconnecter",
  connectionGone: "Le service est injoignable. Rien n’est perdu et aucun essai n’a été compté.",
  offlineTitle: "Vous êtes hors ligne",
  offlineText:
    "Cet appareil n’a pas de connexion au réseau. Rien n’est perdu : vous pourrez continuer dès que la connexion sera revenue.",
  slowText:
    "Cela prend plus de temps que d’habitude. Votre connexion semble lente ; veuillez patienter un instant.",

  pickTitle: "Choisir un passeport de test",
  pickLead: "Chacun se termine à sa façon, pour que chaque résultat puisse être essayé.",
  pickGroup: {
    passes: "Réussit",
    document: "Le document échoue",
    face: "Le visage échoue",
  },
  pickEnds: (failure) => `Se termine par : ${failure}`,
  pickUse: "Lire ce document",
  virtualStop: "Après chaque essai sans succès, vous pouvez choisir à nouveau.",

  scan: {
    start: "Lire avec la caméra",
    lead: "La caméra lit le numéro et les dates dans les lignes qui contiennent beaucoup de <, sur la page de la photo ou au dos de la carte.",
    privacy: "L’image est lue sur cet appareil. Elle n’est ni envoyée ni conservée.",
    photo: "Utiliser une photo",
    type: "Saisir à la main",
    torch: "Lumière",
    loading: "Préparation…",
    done: "Les lignes ont été lues",
    cameraLabel: "Image de la caméra, document",
    hint: {
      show_lines: "Placez dans l’image les lignes avec beaucoup de <",
      closer: "Rapprochez-vous",
      flatter: "Tenez le document bien à plat devant la caméra",
      less_glare: "Inclinez-le un peu pour éviter le reflet",
      more_light: "Il faut plus de lumière",
      hold_still: "Ne bougez plus",
    },
    visa: "C’est un visa, il n’a pas de puce. Montrez la page du passeport avec votre photo.",
    photoUnread:
      "Les lignes sont illisibles sur cette photo. Prenez-en une autre, plus près et nette, ou saisissez-les.",
    pageTitle: "La page d’un passeport de test",
    pageText:
      "Affichez-la sur un autre écran et présentez-la à la caméra, ou utilisez une photo : la puce de ce passeport de test est alors lue.",
    pageShow: "Afficher sa page",
    noTestDocument: "Ces lignes n’appartiennent à aucun passeport de test.",
    refusedTitle: "La puce ne s’est pas ouverte trois fois de suite",
    refusedText:
      "Ces données n’appartiennent pas à cette puce. Lisez les lignes du document avec la caméra, ou comparez chaque caractère.",
  },

  accessTitle: "Qu’est-il imprimé sur votre document ?",
  accessLead:
    "La puce ne s’ouvre qu’à celui qui a le document sous les yeux. Ce que vous saisissez reste sur cet appareil.",
  accessBy: "Ouvrir avec",
  accessByMrz: "Numéro et dates",
  accessByCan: "Numéro d’accès (CAN)",
  documentNumber: "Numéro du document",
  documentNumberHint: "Lettres et chiffres, comme dans les lignes avec des signes <.",
  dateOfBirth: "Date de naissance",
  dateOfExpiry: "Date d’expiration",
  can: "Numéro d’accès",
  canHint: "Six chiffres au recto de la carte.",
  documentNumberWrong: "Le numéro du document comporte uniquement des lettres et des chiffres, 22 au plus.",
  checkDigitWrong:
    "Ce numéro se termine par un chiffre de contrôle qui ne correspond pas. Comparez-le encore une fois avec le document.",
  dateOfBirthWrong: "Saisissez la date de naissance telle qu’elle figure sur le document.",
  dateOfExpiryWrong: "Saisissez la date d’expiration telle qu’elle figure sur le document.",
  canWrong: "Le numéro d’accès comporte six chiffres.",
  errorSummary: "Veuillez vérifier les champs signalés.",
  readButton: "Lire la puce",

  readingTitle: "Lecture de la puce",
  nfcOff: "Le NFC est désactivé",
  nfcOffText: "Le téléphone lit la puce par NFC. Activez-le, puis revenez à cette page.",
  nfcOffButton: "Ouvrir les réglages",
  nfcAbsent: "Ce téléphone ne peut pas lire de puces",
  nfcAbsentText: "Il n’a pas de lecteur NFC. Utilisez un autre appareil.",
  holdAt: {
    top: "Placez le document contre le haut du dos du téléphone.",
    middle: "Placez le document contre le milieu du dos du téléphone.",
    bottom: "Placez le document contre le bas du dos du téléphone.",
  },
  holdHow:
    "La puce d’un passeport est dans sa couverture ou dans la page avec votre photo : fermez-le et posez le téléphone dessus, puis essayez la page de la photo. Posez une carte à plat contre le téléphone.",
  holdStill: "Gardez le document immobile contre l’appareil jusqu’à la fin de toutes les étapes.",
  readConnecting: "Trouver la puce",
  readOpening: "Ouvrir la puce",
  readData: "Lire les données",
  readPortrait: "Lire le portrait",
  readSending: "Envoyer pour contrôle",
  readChecking: "Vérifier l’authenticité",
  readProof: "Vérifier que ce n’est pas une copie",
  readBusy: "Beaucoup de personnes se vérifient en ce moment. Patientez, votre place est gardée.",
  percent: (text) => `${text} lus`,
  chipLost: "Le contact avec la puce a été perdu. Approchez à nouveau le document de l’appareil.",
  chipKeyWrong: "La puce ne s’est pas ouverte. Comparez le numéro et les dates avec le document.",
  chipUnreadable: "La puce n’a pas pu être lue. Sortez le document de son étui et réessayez.",
  chipUnsupported: "Cet appareil ne peut pas lire ce type de puce. Utilisez un autre appareil.",
  chipReaderFailed: "La lecture a échoué sur cet appareil. Réessayez, ou utilisez un autre appareil.",
  readerSilent: "Le lecteur n’a rien transmis depuis un moment.",
  readerSilentText:
    "Tenez le document immobile contre l’appareil. Si rien ne se passe, recommencez : aucun essai n’est utilisé.",
  beginAgain: "Recommencer",
  noTryUsed: "Aucun essai n’a été compté.",
  tryAgain: "Réessayer",

  faceTitle: "Montrez maintenant votre visage",
  faceLead: "La caméra vous compare au portrait de la puce. Cela dure environ 15 secondes.",
  faceAdvice: [
    "Une lumière régulière de face",
    "Sans chapeau ni lunettes de soleil",
    "Personne d’autre dans l’image",
  ],
  faceExplained: {
    happens: {
      title: "Ce qui se passe",
      text: "Vous placez votre visage dans un ovale. Puis la page demande quatre mouvements, l’un après l’autre, comme tourner la tête. Une lumière régulière de face aide ; retirez chapeau et lunettes de soleil, et soyez seul dans l’image.",
    },
    colours: {
      title: "L’écran change de couleur",
      text: "Pendant le contrôle, tout l’écran devient rouge, vert, bleu ou blanc environ une fois par seconde, et votre visage reflète cette lumière. Cela fait partie du contrôle, même si les animations sont désactivées sur votre appareil. Si cela peut vous nuire, ne commencez pas et demandez un autre moyen à qui vous a envoyé ici.",
    },
    kept: {
      title: "Ce qui est conservé : rien",
      text: "Les images ne vont qu’à ce service, sont comparées au portrait et ne sont pas conservées. Ce qui vous aide à trouver la bonne position fonctionne sur votre appareil.",
    },
    permission: {
      title: "Votre autorisation",
      text: "Le navigateur va demander si cette page peut utiliser la caméra. Veuillez l’autoriser. La caméra s’éteint dès que le contrôle est terminé.",
    },
  },
  facePrivacy: "La caméra est éteinte. Les images servent à cette comparaison et ne sont pas conservées.",
  faceStart: "Démarrer la caméra",
  faceSimulatedLead:
    "En mode test, la caméra n’est pas nécessaire : c’est le passeport de test qui décide de la suite.",
  faceSimulatedStart: "Continuer",
  faceWithCameraTitle: "Ou essayer le vrai contrôle",
  faceWithCameraText:
    "Avec la caméra, cette étape se déroule exactement comme avec un vrai document. Le passeport de test montre une personne dessinée : votre propre visage n’y correspondra donc pas.",
  faceUseCamera: "Utiliser la caméra",
  faceUnavailable:
    "La comparaison du visage n’est pas disponible sur ce service pour le moment. Réessayez plus tard.",
  faceNoCamera: {
    framed: {
      title: "La caméra est bloquée dans ce cadre",
      text: "La page qui entoure celle-ci ne lui laisse pas utiliser la caméra. Continuez dans un onglet à part : appuyez sur le bouton ci-dessous, puis sur « Ouvrir dans un nouvel onglet ».",
    },
    denied: {
      title: "La caméra n’est pas autorisée",
      text: "Autorisez la caméra pour cette page : en général par le signe à côté de l’adresse, ou dans les réglages du navigateur. Puis recommencez.",
    },
    missing: {
      title: "Aucune caméra n’a été trouvée",
      text: "Branchez ou activez une caméra, puis recommencez.",
    },
    in_use: {
      title: "La caméra est occupée",
      text: "Un autre programme ou une autre page utilise la caméra. Fermez-le, puis recommencez.",
    },
    failed: {
      title: "La caméra ne peut pas être utilisée",
      text: "Ce navigateur ne donne pas accès à une caméra. Essayez un autre navigateur.",
    },
    not_loaded: {
      title: "Le contrôle n’a pas pu être chargé",
      text: "Vérifiez la connexion à Internet, puis recommencez.",
    },
  },
  faceOtherDevice:
    "Vous pouvez aussi continuer avec un autre appareil équipé d’une caméra. Le document y sera alors lu de nouveau.",
  faceOtherDeviceFromThere:
    "Vous pouvez aussi continuer avec un autre appareil : scannez le code sur la page où vous avez commencé. Le document y sera alors lu de nouveau.",
  faceGuideLoading: "Placez votre visage dans l’ovale. Un instant…",
  faceNoGuide:
    "Placez votre visage dans l’ovale, regardez droit devant vous, puis appuyez sur « Commencer maintenant ».",
  faceFraming: {
    no_face: "Placez votre visage dans l’ovale",
    several_faces: "Une seule personne, s’il vous plaît",
    too_dark: "Il fait trop sombre. Cherchez plus de lumière",
    too_far: "Approchez-vous",
    too_close: "Reculez un peu",
    off_centre: "Mettez votre visage au milieu de l’ovale",
    not_straight: "Regardez droit devant vous",
    good: "Bien. Ne bougez plus…",
  },
  faceStartNow: "Commencer maintenant",
  faceStop: "Arrêter",
  faceWaits:
    "Les indications précédentes doivent d’abord arriver à leur terme. Cela prend moins d’une minute ; restez ici.",
  faceStopped: {
    hidden: "Le contrôle a été arrêté parce que cette page n’était plus visible.",
    camera: "Le contrôle a été arrêté parce que la caméra ne donnait plus d’image.",
  },
  faceProgress: (movement: number, movements: number) => `Mouvement ${movement} sur ${movements}`,
  faceLookAhead: "Regardez droit devant vous",
  faceMovement: {
    turn_left: "Tournez lentement la tête vers la gauche",
    turn_right: "Tournez lentement la tête vers la droite",
    look_up: "Levez lentement les yeux et la tête",
    come_closer: "Approchez-vous de la caméra",
  },
  faceChecking: "Votre visage est en cours de comparaison…",
  faceCheckingLead: "Cela prend quelques secondes.",
  faceBusyTitle: "Trop de visages sont contrôlés en ce moment",
  faceBusyText: "Rien n’a été compté et aucun essai n’a été utilisé. Réessayez dans un instant.",
  facePortraitTitle: "Ce portrait ne peut pas être comparé",
  facePortraitText:
    "Le portrait de la puce de ce document ne peut pas être comparé à un visage. Aucun essai n’a été utilisé. Demandez un nouveau lien et utilisez un autre document.",
  faceCameraLabel: "Image de la caméra",

  otherTitle: "Continuez avec l’autre appareil",
  otherLead:
    "Un autre appareil, l’application ou un lecteur au guichet a pris le relais : votre document y est lu. Cette page suit le déroulement.",
  otherChip: "La puce est en cours de lecture.",
  otherChipCheck: "Le document est en cours de contrôle.",
  otherFace: "Le visage est en cours de comparaison.",
  otherWaiting: "En attente de l’autre appareil.",
  otherGone: "L’autre appareil ne donne plus de nouvelles depuis un moment.",
  otherRefused: "La dernière tentative n’a pas été acceptée",
  otherRefusedText:
    "L’autre appareil indique pourquoi et que faire. Au guichet, demandez à la personne qui lit votre document.",
  otherFaceNext: "Votre document est accepté. Votre visage vient ensuite",
  otherFaceNextText:
    "Continuez avec l’appareil qui l’a lu. Au guichet, scannez avec un téléphone le code que l’on vous y montre.",
  otherNewCode: "Utiliser un autre appareil",
  otherBack: "Revenir à cet appareil",
  resumeTitle: "Reprenez là où vous vous êtes arrêté",
  resumeText:
    "Vous avez commencé sur cet appareil et avez été interrompu, ou la vérification est ouverte dans une autre fenêtre. Il faudra peut-être relire le document ; cela ne compte pas comme un essai.",
  resumeButton: "Continuer ici",

  deviceDoneTitle: "Vous pouvez poser cet appareil",
  deviceDoneText: "La page où vous avez commencé affiche le résultat et continue à partir de là.",
  takenTitle: "Un autre appareil continue",
  takenText: "La vérification a été reprise par un autre appareil ou une autre fenêtre.",

  triesLeft: (count) =>
    count === 0
      ? "Il ne reste aucun essai."
      : count === 1
        ? "Il reste un essai."
        : `Il reste ${count} essais.`,
  minutesLeft: (count) => (count === 1 ? "1 minute" : `${count} minutes`),
  lessThanAMinute: "moins d’une minute",
  timeLeftLabel: "Temps restant :",

  succeededTitle: "Votre identité est vérifiée",
  succeededText: (name) =>
    `${name} reçoit maintenant ce que vous avez accepté de transmettre, et rien d’autre.`,
  sharedList: "Transmis",
  failedTitle: "La vérification n’a pas abouti",
  failedNothingShared: "Rien vous concernant n’a été transmis.",
  nextTitle: "Ce que vous pouvez faire",
  failure: {
    document_authenticity_failed: {
      title: "L’authenticité du document n’a pas pu être confirmée",
      text: "Les données de la puce ne sont pas celles que l’État émetteur a signées, ou cet État n’est pas connu de ce service.",
      next: "Essayez avec un autre passeport ou une autre carte d’identité. Si celui-ci est authentique, adressez-vous à l’autorité qui l’a délivré.",
    },
    document_active_authentication_failed: {
      title: "La puce n’a pas pu prouver qu’elle est l’originale",
      text: "La puce n’a pas répondu à une question nouvelle comme le ferait l’originale.",
      next: "Gardez le document immobile et réessayez, ou utilisez un autre passeport ou une autre carte d’identité.",
    },
    document_chip_authentication_failed: {
      title: "La puce n’a pas pu prouver qu’elle est l’originale",
      text: "La puce ne possède pas la clé qui va avec ce document.",
      next: "Gardez le document immobile et réessayez, ou utilisez un autre passeport ou une autre carte d’identité.",
    },
    document_data_invalid: {
      title: "Les données de la puce sont incomplètes ou abîmées",
      text: "Ce qui a été lu est incompréhensible ou incohérent.",
      next: "Gardez le document immobile et réessayez, ou utilisez un autre passeport ou une autre carte d’identité.",
    },
    document_expired: {
      title: "Le document a expiré",
      text: "Son dernier jour de validité est passé.",
      next: "Utilisez un passeport ou une carte d’identité encore valable.",
    },
    liveness_failed: {
      title: "Nous n’avons pas reconnu de personne devant la caméra",
      text: "Les mouvements n’ont pas été reconnus, ou l’image n’était pas assez bonne.",
      next: "Choisissez un éclairage régulier, retirez chapeau et lunettes de soleil, et soyez seul dans l’image. Faites chaque mouvement lentement et nettement, puis regardez de nouveau droit devant vous.",
    },
    selfie_face_mismatch: {
      title: "Votre visage ne correspond pas au portrait",
      text: "La personne devant la caméra et le portrait de la puce ne se ressemblent pas assez.",
      next: "Utilisez votre propre document. Choisissez un éclairage régulier, retirez vos lunettes et regardez droit devant vous entre les mouvements.",
    },
  },
  unmet: {
    clone_detection: {
      title: "Ce document ne peut pas prouver qu’il est l’original",
      text: "Sa puce n’offre pas cette preuve. Le document n’a aucun défaut, mais la personne qui vous interroge a besoin d’un document qui peut le prouver.",
      next: "Utilisez un autre passeport ou une autre carte d’identité, de préférence le dernier délivré. Relire celui-ci ne sert à rien.",
    },
    revocation: {
      title: "Impossible de vérifier si la signature de ce document est encore valable",
      text: "Il n’y a pas de liste à jour de l’État qui l’a délivré. Le document n’a aucun défaut, mais la personne qui vous interroge a besoin d’un document pour lequel cela peut être vérifié.",
      next: "Utilisez un autre passeport ou une autre carte d’identité, de préférence d’un autre État, ou réessayez un autre jour.",
    },
  },
  failedAskAgain: (name) => `Pour essayer encore une fois, demandez un nouveau lien à ${name}.`,
  expiredTitle: "Ce lien a expiré",
  expiredText: (minutes: number) =>
    `Une vérification reste ouverte ${minutes} minutes, et celle-ci n’a pas été terminée.`,
  cancelledTitle: "La vérification a été annulée",
  cancelledText: "Rien vous concernant n’a été transmis.",
  withdrawnTitle: "Votre accord a été retiré",
  withdrawnText:
    "Ce qui n’était pas encore remis a été effacé. Ce que le destinataire possède déjà, c’est à lui de l’effacer ; demandez-le-lui.",
  helpTitle: "Besoin d’aide ?",
  helpText: (name: string) => `${name} vous a envoyé ici et peut vous dire quoi faire ensuite.`,
  notFoundTitle: "Ce lien ne mène à aucune vérification",
  notFoundText:
    "Il est peut-être incomplet, ou la vérification a été effacée depuis. Revenez à la page d’où vous venez et recommencez.",
  troubleTitle: "Un problème est survenu de notre côté",
  troubleText: "Rien n’est perdu et aucun essai n’a été compté.",
  noAnswerTitle: "Le service ne répond pas",
  noAnswerText: "Il n’y a pas de connexion, ou elle est très lente. Rien n’est perdu ; veuillez réessayer.",
  handoffExpiredTitle: "Ce code est trop ancien",
  handoffExpiredText: "Scannez à nouveau le code de l’autre page ; un nouveau y est affiché.",
  handoffConsumedTitle: "Ce code a déjà servi",
  handoffConsumedText:
    "Un autre appareil a pris le relais avec ce code. Scannez à nouveau le code de l’autre page.",
  handoffInvalidTitle: "Ce code ne fonctionne pas",
  handoffInvalidText: "Scannez à nouveau le code de l’autre page.",
  handoffMismatchTitle: "Un autre appareil est à l’œuvre",
  handoffMismatchText:
    "Continuez avec l’appareil qui a commencé, ou utilisez un nouveau code de l’autre page.",
  handoffLostAll: (name: string) =>
    `Si cette page est fermée et que vous n’avez plus l’appareil avec lequel vous avez commencé, demandez un nouveau lien à ${name}.`,

  returnTo: (name) => `Revenir à ${name}`,
  returnSoon: (seconds) => (seconds === 1 ? "Retour dans 1 seconde." : `Retour dans ${seconds} secondes.`),
  returnStay: "Rester ici",
  closePage: "Vous pouvez fermer cette page.",

  cancelButton: "Annuler la vérification",
  cancelAskTitle: "Annuler la vérification ?",
  cancelAskText: (name) => `Elle s’arrête ici, rien n’est transmis et ${name} apprend que vous avez annulé.`,
  cancelConfirm: "Oui, annuler",
  cancelBack: "Non, continuer",
  cancelElsewhere:
    "Seule la page où vous avez donné votre accord peut annuler. Vous pouvez aussi simplement fermer cette page : rien n’est transmis avant la fin.",

  receiptTitle: "Votre reçu",
  receiptText:
    "Il indique ce qui vous a été demandé, ce que vous avez accepté et quand, signé par ce service.",
  receiptGiven: (moment) => `Vous avez donné votre accord le ${moment}.`,
  receiptShow: "Voir le reçu",
  receiptWhen: "Accepté le",
  receiptAgreed: "Vous transmettez",
  receiptDeclined: "Vous ne transmettez pas",
  receiptTerms: "Version du texte",
  receiptNumber: "Numéro du reçu",
  receiptIssuer: "Délivré par",
  receiptNobody:
    "Le reçu dit ce que vous avez accepté, pas qui vous êtes. Le fichier contient la même chose avec sa signature, pour que chacun puisse la vérifier.",
  receiptBack: "Retour",
  receiptPrint: "Imprimer",
  receiptChecking: "Vérification de la signature…",
  receiptGood: "La signature est valable : ce service a délivré le reçu et rien n’y a été modifié.",
  receiptBad: "La signature ne correspond pas. Ne vous fiez pas à ce reçu.",
  receiptUnknown:
    "La signature n’a pas pu être vérifiée ici. Le fichier peut être vérifié ailleurs à tout moment.",
  receiptDownload: "Télécharger le reçu",
  withdrawTitle: "Retirer votre accord",
  withdrawText: (name) =>
    `Si ${name} n’a encore rien reçu, rien ne lui parviendra. Ce qui est déjà remis ne peut pas être repris d’ici.`,
  withdrawButton: "Retirer mon accord",
  withdrawConfirm: "Oui, retirer",
  withdrawKeep: "Non, le maintenir",
  withdrawUsed: "Cela a déjà été annulé ou retiré.",
  withdrawCode: "Votre code de retrait",
  withdrawCodeText:
    "Gardez-le si vous pensez vouloir retirer votre accord plus tard. Celui qui l’a peut le faire à votre place.",
  withdrawCodeLabel: "Code de retrait",
  withdrawCodeAsk: "Saisissez le code que cette page vous a montré à la fin.",
  withdrawCodeWrong: "Ce code n’appartient pas à cette vérification.",
  copyCode: "Copier le code",
  codeCopied: "Le code a été copié.",

  frame: {
    openTab: "Ouvrir dans un nouvel onglet",
    tabLead:
      "Cette page est affichée à l’intérieur d’une autre. Pour que personne ne puisse la recouvrir à votre insu, vous donnez votre accord dans un onglet à part.",
    movedTitle: "Continuez dans le nouvel onglet",
    movedText: "La vérification s’y poursuit. Cette page la suit et montre comment elle se termine.",
    movedStay: "Continuer plutôt ici",
    unseenTitle: "Regardez cette page un instant, puis appuyez de nouveau",
    unseenText:
      "Votre accord ne compte qu’après que le haut de cette page a été visible, et tant que son bouton l’est. Si quelque chose la recouvre, continuez dans un onglet à part.",
    forgottenTitle: "Cette page a été rechargée",
    forgottenText: (name) =>
      `Votre navigateur n’enregistre rien pour une page affichée dans une autre : ce qui avait été commencé ici est perdu. Si vous avez commencé sur un autre appareil ou dans un nouvel onglet, continuez là-bas ; sinon, demandez à ${name} de recommencer.`,
    tabDoneTitle: "Vous pouvez fermer cet onglet",
    tabClose: "Fermer cet onglet",
  },

  claim: {
    document_type_code: "Type de document",
    issuing_country_code: "Pays émetteur",
    family_name: "Nom de famille",
    given_names: "Prénoms",
    document_number: "Numéro du document",
    nationality_code: "Nationalité",
    date_of_birth: "Date de naissance",
    sex_marker: "Sexe indiqué dans le document",
    document_expiry_date: "Date d’expiration",
    mrz_optional_data: "Données supplémentaires des lignes lisibles par machine",
    service_document_id: "Un code à la place de votre document",
  },
  claimAbout: {
    service_document_id:
      "Indique s’il s’agit du même document que la dernière fois. Il ne dit rien de vous et change d’un destinataire à l’autre.",
  },
  claimAgeOver: (years) => `Si vous avez au moins ${years} ans`,
  claimAgeOverAbout: "Seulement oui ou non. Votre date de naissance n’en fait pas partie.",
};
