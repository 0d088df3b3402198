import type { MailTexts } from "../mail-texts.ts";

export const de: MailTexts = {
  hello: "Guten Tag,",
  helloName: "Guten Tag {name},",
  orOpen: "Falls der Knopf nicht funktioniert, öffnen Sie diese Adresse:",
  sentBy:
    "Gesendet von Assay auf {host}. Assay prüft Personen anhand des Chips in Pass oder Personalausweis.",
  closing: {
    ignore: "Wenn Sie das nicht erwartet haben, können Sie diese Mail ignorieren.",
    notYou:
      "Wenn Sie das nicht waren, setzen Sie sofort Ihr Passwort zurück und melden Sie sich überall sonst ab.",
  },
  because: {
    asked: "Sie erhalten diese Mail, weil sie auf {host} mit Ihrer Adresse angefordert wurde.",
    address: "Sie erhalten diese Mail, weil jemand auf {host} Ihre Adresse eingegeben hat.",
    account: "Sie erhalten diese Mail, weil sie die Sicherheit Ihres Kontos auf {host} betrifft.",
    formerAccount: "Sie erhalten diese Mail, weil Sie ein Konto auf {host} hatten.",
    invited: "Sie erhalten diese Mail, weil jemand diese Adresse auf {host} eingeladen hat.",
    owner: "Sie erhalten diese Mail, weil Ihnen {organization} auf {host} gehört.",
    formerOwner: "Sie erhalten diese Mail, weil Ihnen {organization} auf {host} gehört hat.",
    operator: "Sie erhalten diese Mail, weil OPERATOR_EMAIL der Installation auf {host} diese Adresse nennt.",
  },
  removed: {
    passkeys:
      "Passkeys melden ohne Passwort an und wurden deshalb entfernt: {names}. Fügen Sie Ihre wieder hinzu.",
    second_factor:
      "Der zweite Faktor, der vor der Bestätigung der E-Mail eingerichtet wurde, wurde entfernt.",
  },
  roles: { member: "Mitglied", admin: "Administrator", owner: "Inhaber" },
  letters: {
    magic_link: {
      subject: "Ihr Link zum Anmelden",
      body: ["Mit diesem Link melden Sie sich an. Er gilt einmal und 15 Minuten lang."],
      button: "Anmelden",
    },
    reset_password: {
      subject: "Neues Passwort setzen",
      body: [
        "Mit diesem Link setzen Sie ein neues Passwort und werden überall abgemeldet. Er gilt einmal und eine Stunde lang.",
      ],
      button: "Neues Passwort setzen",
    },
    verify_email: {
      subject: "Bestätigen Sie Ihre E-Mail",
      body: [
        "Mit dieser Adresse wurde ein Konto angelegt. Öffnen Sie den Link und melden Sie sich mit dem gewählten Passwort an. Er gilt einen Tag.",
        "Wenn Sie das Konto nicht angelegt haben, können Sie diese Mail ignorieren: Die Adresse wird dann nicht bestätigt.",
      ],
      button: "E-Mail bestätigen",
    },
    change_email: {
      subject: "Bestätigen Sie Ihre neue E-Mail",
      body: [
        "Diese Adresse soll die E-Mail Ihres Kontos werden. Öffnen Sie den Link, während Sie angemeldet sind. Er gilt einmal und eine Stunde lang.",
      ],
      button: "Diese E-Mail verwenden",
    },
    account_exists: {
      subject: "Sie haben bereits ein Konto",
      body: [
        "Jemand wollte sich mit dieser Adresse registrieren. Sie hat bereits ein Konto, deshalb wurde nichts geändert.",
        "Wenn Sie es waren, melden Sie sich an. Wenn Sie das Passwort nicht kennen, setzen Sie ein neues: {reset}",
      ],
      button: "Anmelden",
    },
    email_taken: {
      subject: "Diese E-Mail hat bereits ein Konto",
      body: [
        "Jemand wollte diese Adresse zur E-Mail eines anderen Kontos machen. Sie hat bereits ein Konto, deshalb wurde nichts geändert.",
        "Wenn Sie es waren, melden Sie sich mit dieser Adresse an oder löschen Sie zuerst ihr Konto.",
      ],
    },
    email_change_requested: {
      subject: "Eine Änderung Ihrer E-Mail wurde angefordert",
      body: [
        "Ihr Konto soll die E-Mail {email} erhalten. Nichts ändert sich, bis diese Adresse es bestätigt.",
      ],
    },
    email_changed: {
      subject: "Ihre E-Mail wurde geändert",
      body: [
        "Ihr Konto hat jetzt die E-Mail {email}. Mit dieser Adresse können Sie sich nicht mehr anmelden.",
      ],
    },
    password_changed: {
      subject: "Ihr Passwort wurde geändert",
      body: ["Das Passwort Ihres Kontos wurde geändert, und alle anderen Sitzungen wurden abgemeldet."],
    },
    password_reset: {
      subject: "Ihr Passwort wurde zurückgesetzt",
      body: [
        "Mit einem gemailten Link wurde ein neues Passwort gesetzt, und alle Sitzungen wurden abgemeldet.",
      ],
    },
    email_verified: {
      subject: "Ihre E-Mail wurde bestätigt",
      body: [
        "Sie haben sich mit einem Link angemeldet, bevor die E-Mail bestätigt war. Jetzt ist sie bestätigt. Das zuvor gesetzte Passwort wurde entfernt; setzen Sie mit „Passwort vergessen“ ein neues.",
      ],
    },
    passkey_added: {
      subject: "Ein Passkey wurde hinzugefügt",
      body: ["Der Passkey „{name}“ wurde Ihrem Konto hinzugefügt. Mit ihm kann man sich anmelden."],
    },
    passkey_deleted: {
      subject: "Ein Passkey wurde gelöscht",
      body: ["Der Passkey „{name}“ wurde aus Ihrem Konto gelöscht."],
    },
    second_factor_on: {
      subject: "Der zweite Faktor wurde eingeschaltet",
      body: ["Ab jetzt verlangt Ihr Konto einen Code der Authenticator-App."],
    },
    second_factor_off: {
      subject: "Der zweite Faktor wurde ausgeschaltet",
      body: ["Ihr Konto verlangt keinen Code mehr."],
    },
    account_deleted: {
      subject: "Ihr Konto wurde gelöscht",
      body: [
        "Ihr Konto und alles, was nur dazu gehörte, wurde gelöscht. Sie können sich mit derselben E-Mail wieder registrieren.",
      ],
    },
    invitation: {
      subject: "Einladung zu {organization}",
      body: [
        "{inviter} ({email}) lädt Sie ein, {organization} beizutreten. Ihre Rolle: {role}.",
        "{organization} prüft mit Assay, wer seine Kunden sind. Melden Sie sich mit dieser E-Mail-Adresse an oder legen Sie ein Konto damit an und nehmen Sie an. Der Link gilt 7 Tage.",
      ],
      button: "Einladung öffnen",
    },
    deletion_code: {
      subject: "Code zum Löschen von {organization}",
      body: [
        "Sie möchten die Organisation {organization} löschen. Geben Sie zur Bestätigung diesen Code ein:",
        "{code}",
        "Er gilt 24 Stunden und nur für Sie. Nach der Bestätigung wird die Organisation sofort eingefroren, und 48 Stunden später wird alles darin endgültig gelöscht.",
        "Wenn Sie das nicht angefordert haben, ändern Sie Ihr Passwort: Jemand ist in Ihrem Konto angemeldet.",
      ],
    },
    deletion_scheduled: {
      subject: "{organization} wird gelöscht",
      body: [
        "{person} ({email}) hat die Löschung der Organisation {organization} bestätigt.",
        "Sie ist jetzt eingefroren: API-Schlüssel funktionieren nicht, und nichts kann geändert werden. Am {at} wird alles darin endgültig gelöscht.",
        "Bis dahin kann ein Inhaber oder Administrator sie behalten.",
      ],
      button: "Organisation öffnen",
    },
    deletion_cancelled: {
      subject: "{organization} bleibt",
      body: [
        "{person} ({email}) hat die Löschung der Organisation {organization} abgebrochen. Alles funktioniert wieder, auch die API-Schlüssel.",
      ],
      button: "Organisation öffnen",
    },
    organization_deleted: {
      subject: "{organization} wurde gelöscht",
      body: [
        "Die Organisation {organization} und alles darin wurde am {at} gelöscht. Ihr eigenes Konto bleibt.",
        "Dies ist die signierte Quittung. Bewahren Sie sie auf: Hier ist nichts mehr, woraus sie neu erstellt werden könnte.",
        "{receipt}",
        "Sie ist eine kompakte JWS, signiert mit Ed25519. Der öffentliche Schlüssel steht unter {keys}, benannt durch „kid“.",
      ],
    },
    domain_missing: {
      subject: "Der Bestätigungseintrag von {domain} fehlt",
      body: [
        "Drei tägliche Prüfungen in Folge haben den TXT-Eintrag nicht gefunden, der Ihre Kontrolle über {domain} belegt.",
        "Bis er wieder da ist, können Live-Sitzungen niemanden auf diese Domain leiten. Die Weiterleitungsadressen bleiben erhalten.",
        "Veröffentlichen Sie den Eintrag wieder unter {record} oder bestätigen Sie die Domain neu.",
      ],
      button: "Domains öffnen",
    },
    domain_back: {
      subject: "{domain} ist wieder bestätigt",
      body: [
        "Der Bestätigungseintrag von {domain} ist wieder da. Live-Sitzungen können wieder dorthin leiten.",
      ],
      button: "Domains öffnen",
    },
    domain_lost: {
      subject: "{domain} ist jetzt von einer anderen Organisation bestätigt",
      body: [
        "Eine andere Organisation hat nachgewiesen, dass sie {domain} kontrolliert, und hat die Domain von {organization} übernommen.",
        "Die Weiterleitungsadressen auf dieser Domain sind entfernt, und Live-Sitzungen können niemanden mehr dorthin leiten.",
        "Wenn die Domain Ihnen gehört, prüfen Sie, wer ihr DNS ändern kann, entfernen Sie den fremden Eintrag und bestätigen Sie die Domain erneut.",
      ],
      button: "Domains öffnen",
    },
    no_active_key: {
      subject: "Ein Webhook konnte nicht gesendet werden: kein aktiver Schlüssel",
      body: [
        "Ein Ereignis war für einen Webhook-Endpunkt bestimmt, der keinen aktiven Verschlüsselungsschlüssel hat. Webhooks werden immer verschlüsselt, deshalb wurde nichts gesendet, und dieses Ereignis kann nicht nachgeholt werden.",
        "Endpunkt: {endpoint}",
        "Registrieren Sie einen Schlüssel oder aktivieren Sie einen wieder, damit das nächste Ereignis ankommt. Das Ergebnis selbst steht in der Sitzung.",
      ],
      button: "Webhooks öffnen",
    },
    endpoint_gone: {
      subject: "Ein Webhook-Endpunkt wurde abgeschaltet",
      body: [
        "Wir haben einen Webhook-Endpunkt abgeschaltet, weil er 410 Gone geantwortet hat; das bittet uns aufzuhören.",
        "Endpunkt: {endpoint}",
        "Was auf ihn wartet, wird aufgehoben. Schalten Sie ihn wieder ein, wenn er funktioniert, dann geht es weiter.",
      ],
      button: "Webhooks öffnen",
    },
    endpoint_failing: {
      subject: "Ein Webhook-Endpunkt wurde abgeschaltet",
      body: [
        "Wir haben einen Webhook-Endpunkt abgeschaltet, weil seit fünf Tagen keine Zustellung gelungen ist.",
        "Endpunkt: {endpoint}",
        "Was auf ihn wartet, wird aufgehoben. Schalten Sie ihn wieder ein, wenn er funktioniert, dann geht es weiter.",
      ],
      button: "Webhooks öffnen",
    },
    member_keys: {
      subject: "API-Schlüssel eines Mitglieds ohne Zugriff",
      body: [
        "{person} ({email}) verwaltet keine API-Schlüssel von {organization} mehr.",
        "Von dieser Person erstellt und jetzt abgeschaltet: {disabled}.",
        "Von dieser Person erstellt und weiterhin gültig: {active}. Wer einen davon aufbewahrt hat, kann ihn verwenden, bis Sie ihn abschalten oder löschen.",
      ],
      button: "API-Schlüssel öffnen",
    },
    endpoint_added: {
      subject: "Ein Webhook-Endpunkt wurde hinzugefügt",
      body: [
        "Im Livebetrieb wurde ein Webhook-Endpunkt hinzugefügt. Sobald er einen Verschlüsselungsschlüssel hat, gehen Ergebnisse von Prüfungen an ihn.",
        "Endpunkt: {endpoint}",
        "Hinzugefügt von: {actor}",
        "Wenn Sie das nicht erwartet haben, schalten Sie den Endpunkt ab und prüfen Sie, wer API-Schlüssel hat.",
      ],
      button: "Webhooks öffnen",
    },
    endpoint_moved: {
      subject: "Die Adresse eines Webhook-Endpunkts wurde geändert",
      body: [
        "Die URL eines Webhook-Endpunkts im Livebetrieb wurde geändert. Ergebnisse von Prüfungen gehen von jetzt an an die neue Adresse.",
        "Endpunkt: {endpoint}",
        "Geändert von: {actor}",
        "Wenn Sie das nicht erwartet haben, schalten Sie den Endpunkt ab und prüfen Sie, wer API-Schlüssel hat.",
      ],
      button: "Webhooks öffnen",
    },
    key_added: {
      subject: "Ein Verschlüsselungsschlüssel wurde hinzugefügt",
      body: [
        "Zu einem Webhook-Endpunkt im Livebetrieb wurde ein Verschlüsselungsschlüssel hinzugefügt oder wieder aktiviert. Wer den privaten Teil besitzt, kann die Ergebnisse lesen, die dorthin gehen.",
        "Endpunkt: {endpoint}",
        "Schlüssel: {key}",
        "Hinzugefügt von: {actor}",
        "Wenn Sie das nicht erwartet haben, deaktivieren Sie den Schlüssel und prüfen Sie, wer API-Schlüssel hat.",
      ],
      button: "Webhooks öffnen",
    },
    signer_revoked: {
      subject: "Der Unterzeichner einer vertrauten Liste wurde widerrufen",
      body: [
        "{signer}, Unterzeichner von {list}, steht auf einer Sperrliste, die nach dem Import kam. Was die Liste nennt, bleibt vertraut, bis Sie entscheiden.",
        "Um sie zurückzunehmen, führen Sie aus:",
        "{remove}",
      ],
    },
    authorities_leave: {
      subject: "{count} vertraute Stellen sollen entfernt werden",
      body: [
        "In der neuesten Ausgabe von {address} fehlen {count} Stellen der vorigen Ausgabe. Sie gelten bis {at} und werden dann entfernt.",
        "Stellen:\n{names}",
        "Um sie zu behalten, führen Sie aus:",
        "{keep}",
        "Um sie sofort zu entfernen, führen Sie aus:",
        "{remove}",
      ],
    },
  },
};
