import type { MailTexts } from "../mail-texts.ts";

export const fr: MailTexts = {
  hello: "Bonjour,",
  helloName: "Bonjour {name},",
  orOpen: "Si le bouton ne fonctionne pas, ouvrez cette adresse :",
  sentBy:
    "Envoyé par Assay sur {host}. Assay vérifie l’identité grâce à la puce du passeport ou de la carte d’identité.",
  closing: {
    ignore: "Si vous n’attendiez pas ce message, vous pouvez l’ignorer.",
    notYou:
      "Si ce n’était pas vous, réinitialisez votre mot de passe et déconnectez-vous partout ailleurs sans attendre.",
  },
  because: {
    asked: "Vous recevez ce message parce qu’il a été demandé avec votre adresse sur {host}.",
    address: "Vous recevez ce message parce que quelqu’un a saisi votre adresse sur {host}.",
    account: "Vous recevez ce message parce qu’il concerne la sécurité de votre compte sur {host}.",
    formerAccount: "Vous recevez ce message parce que vous aviez un compte sur {host}.",
    invited: "Vous recevez ce message parce que quelqu’un a invité cette adresse sur {host}.",
    owner: "Vous recevez ce message parce que vous êtes propriétaire de {organization} sur {host}.",
    formerOwner: "Vous recevez ce message parce que vous étiez propriétaire de {organization} sur {host}.",
    operator:
      "Vous recevez ce message parce que OPERATOR_EMAIL de l’installation {host} désigne cette adresse.",
  },
  removed: {
    passkeys:
      "Les clés d’accès connectent sans mot de passe ; elles ont donc été supprimées : {names}. Ajoutez de nouveau les vôtres.",
    second_factor: "Le second facteur configuré avant la vérification de l’adresse a été supprimé.",
  },
  roles: { member: "membre", admin: "administrateur", owner: "propriétaire" },
  letters: {
    magic_link: {
      subject: "Votre lien de connexion",
      body: ["Ce lien vous connecte. Il fonctionne une fois, pendant 15 minutes."],
      button: "Se connecter",
    },
    reset_password: {
      subject: "Définir un nouveau mot de passe",
      body: [
        "Ce lien permet de définir un nouveau mot de passe et vous déconnecte partout. Il fonctionne une fois, pendant une heure.",
      ],
      button: "Nouveau mot de passe",
    },
    verify_email: {
      subject: "Vérifiez votre adresse e-mail",
      body: [
        "Un compte a été créé avec cette adresse. Ouvrez le lien et connectez-vous avec le mot de passe choisi. Il est valable un jour.",
        "Si vous n’avez pas créé ce compte, vous pouvez ignorer ce message : l’adresse ne sera pas vérifiée.",
      ],
      button: "Vérifier l’adresse",
    },
    change_email: {
      subject: "Confirmez votre nouvelle adresse e-mail",
      body: [
        "Cette adresse doit devenir celle de votre compte. Ouvrez le lien en étant connecté. Il fonctionne une fois, pendant une heure.",
      ],
      button: "Utiliser cette adresse",
    },
    account_exists: {
      subject: "Vous avez déjà un compte",
      body: [
        "Quelqu’un a voulu s’inscrire avec cette adresse. Elle a déjà un compte ; rien n’a donc été modifié.",
        "Si c’était vous, connectez-vous. Si vous ne connaissez pas le mot de passe, définissez-en un nouveau : {reset}",
      ],
      button: "Se connecter",
    },
    email_taken: {
      subject: "Cette adresse e-mail a déjà un compte",
      body: [
        "Quelqu’un a voulu attribuer cette adresse à un autre compte. Elle a déjà un compte ; rien n’a donc été modifié.",
        "Si c’était vous, connectez-vous avec cette adresse, ou supprimez d’abord son compte.",
      ],
    },
    email_change_requested: {
      subject: "Un changement de votre adresse e-mail a été demandé",
      body: [
        "Votre compte doit recevoir l’adresse {email}. Rien ne change tant que cette adresse n’a pas confirmé.",
      ],
    },
    email_changed: {
      subject: "Votre adresse e-mail a été modifiée",
      body: ["Votre compte a maintenant l’adresse {email}. Cette adresse-ci ne permet plus de se connecter."],
    },
    password_changed: {
      subject: "Votre mot de passe a été modifié",
      body: [
        "Le mot de passe de votre compte a été modifié et toutes les autres sessions ont été déconnectées.",
      ],
    },
    password_reset: {
      subject: "Votre mot de passe a été réinitialisé",
      body: [
        "Un nouveau mot de passe a été défini avec un lien reçu par e-mail, et toutes les sessions ont été déconnectées.",
      ],
    },
    email_verified: {
      subject: "Votre adresse e-mail a été vérifiée",
      body: [
        "Vous vous êtes connecté avec un lien avant que l’adresse soit vérifiée. Elle l’est maintenant. Le mot de passe défini auparavant a été supprimé ; définissez-en un nouveau avec « mot de passe oublié ».",
      ],
    },
    passkey_added: {
      subject: "Une clé d’accès a été ajoutée",
      body: ["La clé d’accès « {name} » a été ajoutée à votre compte. Elle permet de se connecter."],
    },
    passkey_deleted: {
      subject: "Une clé d’accès a été supprimée",
      body: ["La clé d’accès « {name} » a été supprimée de votre compte."],
    },
    second_factor_on: {
      subject: "Le second facteur a été activé",
      body: ["Désormais, votre compte demande un code de l’application d’authentification."],
    },
    second_factor_off: {
      subject: "Le second facteur a été désactivé",
      body: ["Votre compte ne demande plus de code."],
    },
    account_deleted: {
      subject: "Votre compte a été supprimé",
      body: [
        "Votre compte et tout ce qui n’appartenait qu’à lui ont été supprimés. Vous pouvez vous réinscrire avec la même adresse.",
      ],
    },
    invitation: {
      subject: "Invitation à rejoindre {organization}",
      body: [
        "{inviter} ({email}) vous invite à rejoindre {organization}. Votre rôle : {role}.",
        "{organization} utilise Assay pour vérifier l’identité de ses clients. Connectez-vous avec cette adresse, ou créez un compte avec elle, puis acceptez. Le lien est valable 7 jours.",
      ],
      button: "Ouvrir l’invitation",
    },
    deletion_code: {
      subject: "Code pour supprimer {organization}",
      body: [
        "Vous avez demandé la suppression de l’organisation {organization}. Saisissez ce code pour confirmer :",
        "{code}",
        "Il est valable 24 heures et pour vous seul. Après confirmation, l’organisation est gelée aussitôt et, 48 heures plus tard, tout son contenu est supprimé définitivement.",
        "Si ce n’était pas vous, changez votre mot de passe : quelqu’un est connecté à votre compte.",
      ],
    },
    deletion_scheduled: {
      subject: "{organization} va être supprimée",
      body: [
        "{person} ({email}) a confirmé la suppression de l’organisation {organization}.",
        "Elle est gelée : les clés d’API ne fonctionnent plus et rien ne peut être modifié. Le {at}, tout son contenu sera supprimé définitivement.",
        "D’ici là, un propriétaire ou un administrateur peut la conserver.",
      ],
      button: "Ouvrir l’organisation",
    },
    deletion_cancelled: {
      subject: "{organization} est conservée",
      body: [
        "{person} ({email}) a annulé la suppression de l’organisation {organization}. Tout fonctionne de nouveau, clés d’API comprises.",
      ],
      button: "Ouvrir l’organisation",
    },
    organization_deleted: {
      subject: "{organization} a été supprimée",
      body: [
        "L’organisation {organization} et tout son contenu ont été supprimés le {at}. Votre propre compte reste.",
        "Voici le reçu signé. Conservez-le : il ne reste rien ici qui permette de le refaire.",
        "{receipt}",
        "C’est un JWS compact signé avec Ed25519. La clé publique se trouve à l’adresse {keys}, désignée par son « kid ».",
      ],
    },
    domain_missing: {
      subject: "L’enregistrement de vérification de {domain} manque",
      body: [
        "Trois contrôles quotidiens de suite n’ont pas trouvé l’enregistrement TXT qui prouve que vous contrôlez {domain}.",
        "Tant qu’il manque, les sessions réelles ne peuvent rediriger personne vers ce domaine. Les adresses de redirection sont conservées.",
        "Publiez de nouveau l’enregistrement sous {record}, ou vérifiez le domaine à nouveau.",
      ],
      button: "Ouvrir les domaines",
    },
    domain_back: {
      subject: "{domain} est de nouveau vérifié",
      body: [
        "L’enregistrement de vérification de {domain} est revenu. Les sessions réelles peuvent de nouveau y rediriger.",
      ],
      button: "Ouvrir les domaines",
    },
    domain_lost: {
      subject: "{domain} est maintenant vérifié par une autre organisation",
      body: [
        "Une autre organisation a prouvé qu’elle contrôle {domain} et a repris le domaine de {organization}.",
        "Les adresses de redirection de ce domaine sont supprimées et les sessions réelles ne peuvent plus y rediriger.",
        "Si le domaine est à vous, vérifiez qui peut modifier son DNS, supprimez l’enregistrement étranger et vérifiez de nouveau le domaine.",
      ],
      button: "Ouvrir les domaines",
    },
    no_active_key: {
      subject: "Un webhook n’a pas pu être envoyé : aucune clé de chiffrement active",
      body: [
        "Un événement était destiné à un point de réception qui n’a aucune clé de chiffrement active. Les webhooks sont toujours chiffrés ; rien n’a donc été envoyé, et cet événement ne pourra pas l’être plus tard.",
        "Point de réception : {endpoint}",
        "Enregistrez une clé, ou réactivez-en une, pour que le prochain événement arrive. Le résultat lui-même peut être lu dans la session.",
      ],
      button: "Ouvrir les webhooks",
    },
    endpoint_gone: {
      subject: "Un point de réception de webhooks a été désactivé",
      body: [
        "Nous avons désactivé un point de réception parce qu’il a répondu 410 Gone, ce qui nous demande d’arrêter.",
        "Point de réception : {endpoint}",
        "Ce qui l’attend est conservé. Réactivez-le quand il fonctionne, et les envois reprendront.",
      ],
      button: "Ouvrir les webhooks",
    },
    endpoint_failing: {
      subject: "Un point de réception de webhooks a été désactivé",
      body: [
        "Nous avons désactivé un point de réception parce qu’aucun envoi n’y a réussi depuis cinq jours.",
        "Point de réception : {endpoint}",
        "Ce qui l’attend est conservé. Réactivez-le quand il fonctionne, et les envois reprendront.",
      ],
      button: "Ouvrir les webhooks",
    },
    member_keys: {
      subject: "Clés d’API d’un membre sans accès",
      body: [
        "{person} ({email}) ne gère plus les clés d’API de {organization}.",
        "Clés créées par cette personne et désactivées à cette occasion : {disabled}.",
        "Clés créées par cette personne et toujours valables : {active}. Quiconque en a gardé une peut s’en servir jusqu’à ce que vous la désactiviez ou la supprimiez.",
      ],
      button: "Ouvrir les clés d’API",
    },
    endpoint_added: {
      subject: "Un point de réception de webhooks a été ajouté",
      body: [
        "Un point de réception de webhooks a été ajouté en production. Dès qu’il a une clé de chiffrement, les résultats des vérifications lui sont envoyés.",
        "Point de réception : {endpoint}",
        "Ajouté par : {actor}",
        "Si vous ne vous y attendiez pas, désactivez le point de réception et vérifiez qui détient des clés d’API.",
      ],
      button: "Ouvrir les webhooks",
    },
    endpoint_moved: {
      subject: "L’adresse d’un point de réception a été modifiée",
      body: [
        "L’URL d’un point de réception de webhooks en production a été modifiée. Les résultats des vérifications sont désormais envoyés à la nouvelle adresse.",
        "Point de réception : {endpoint}",
        "Modifié par : {actor}",
        "Si vous ne vous y attendiez pas, désactivez le point de réception et vérifiez qui détient des clés d’API.",
      ],
      button: "Ouvrir les webhooks",
    },
    key_added: {
      subject: "Une clé de chiffrement a été ajoutée",
      body: [
        "Une clé de chiffrement a été ajoutée ou réactivée pour un point de réception de webhooks en production. Quiconque détient sa partie privée peut lire les résultats qui y sont envoyés.",
        "Point de réception : {endpoint}",
        "Clé : {key}",
        "Ajoutée par : {actor}",
        "Si vous ne vous y attendiez pas, désactivez la clé et vérifiez qui détient des clés d’API.",
      ],
      button: "Ouvrir les webhooks",
    },
    signer_revoked: {
      subject: "Le signataire d’une liste de confiance a été révoqué",
      body: [
        "{signer}, qui a signé {list}, figure sur une liste de révocation arrivée après l’importation. Ce que la liste nomme reste de confiance jusqu’à votre décision.",
        "Pour la retirer, exécutez :",
        "{remove}",
      ],
    },
    authorities_leave: {
      subject: "{count} autorités de confiance vont être retirées",
      body: [
        "La dernière édition de {address} ne contient plus {count} autorités de l’édition précédente. Elles comptent jusqu’au {at}, puis sont retirées.",
        "Autorités :\n{names}",
        "Pour les garder, exécutez :",
        "{keep}",
        "Pour les retirer tout de suite, exécutez :",
        "{remove}",
      ],
    },
  },
};
