import type { MailTexts } from "../mail-texts.ts";

export const nl: MailTexts = {
  hello: "Hallo,",
  helloName: "Hallo {name},",
  orOpen: "Werkt de knop niet, open dan dit adres:",
  sentBy:
    "Verzonden door Assay op {host}. Assay controleert personen met de chip van hun paspoort of identiteitskaart.",
  closing: {
    ignore: "Had u dit niet verwacht, dan kunt u deze mail negeren.",
    notYou: "Was u dit niet, stel dan meteen uw wachtwoord opnieuw in en log overal elders uit.",
  },
  because: {
    asked: "U krijgt deze mail omdat erom is gevraagd met uw adres op {host}.",
    address: "U krijgt deze mail omdat iemand uw adres heeft ingevuld op {host}.",
    account: "U krijgt deze mail omdat het om de veiligheid van uw account op {host} gaat.",
    formerAccount: "U krijgt deze mail omdat u een account had op {host}.",
    invited: "U krijgt deze mail omdat iemand dit adres heeft uitgenodigd op {host}.",
    owner: "U krijgt deze mail omdat u eigenaar bent van {organization} op {host}.",
    formerOwner: "U krijgt deze mail omdat u eigenaar was van {organization} op {host}.",
    operator: "U krijgt deze mail omdat OPERATOR_EMAIL van de installatie op {host} dit adres is.",
  },
  removed: {
    passkeys:
      "Passkeys loggen in zonder wachtwoord en zijn daarom verwijderd: {names}. Voeg de uwe opnieuw toe.",
    second_factor: "De tweede factor die was ingesteld voordat het e-mailadres bewezen was, is verwijderd.",
  },
  roles: { member: "lid", admin: "beheerder", owner: "eigenaar" },
  letters: {
    magic_link: {
      subject: "Uw link om in te loggen",
      body: ["Met deze link logt u in. Hij werkt één keer, 15 minuten lang."],
      button: "Inloggen",
    },
    reset_password: {
      subject: "Stel een nieuw wachtwoord in",
      body: [
        "Met deze link stelt u een nieuw wachtwoord in en wordt u overal uitgelogd. Hij werkt één keer, een uur lang.",
      ],
      button: "Nieuw wachtwoord",
    },
    verify_email: {
      subject: "Bevestig uw e-mailadres",
      body: [
        "Met dit adres is een account gemaakt. Open de link en log in met het gekozen wachtwoord. Hij werkt een dag.",
        "Hebt u het account niet gemaakt, dan kunt u deze mail negeren: het adres wordt dan niet bevestigd.",
      ],
      button: "E-mailadres bevestigen",
    },
    change_email: {
      subject: "Bevestig uw nieuwe e-mailadres",
      body: [
        "Dit adres wordt het e-mailadres van uw account. Open de link terwijl u bent ingelogd. Hij werkt één keer, een uur lang.",
      ],
      button: "Dit adres gebruiken",
    },
    account_exists: {
      subject: "U hebt al een account",
      body: [
        "Iemand wilde zich met dit adres aanmelden. Het heeft al een account, dus er is niets veranderd.",
        "Was u het, log dan in. Weet u het wachtwoord niet, stel dan een nieuw in: {reset}",
      ],
      button: "Inloggen",
    },
    email_taken: {
      subject: "Dit e-mailadres heeft al een account",
      body: [
        "Iemand wilde dit adres aan een ander account geven. Het heeft al een account, dus er is niets veranderd.",
        "Was u het, log dan in met dit adres, of verwijder eerst dat account.",
      ],
    },
    email_change_requested: {
      subject: "Er is gevraagd uw e-mailadres te wijzigen",
      body: ["Uw account krijgt het e-mailadres {email}. Er verandert niets tot dat adres het bevestigt."],
    },
    email_changed: {
      subject: "Uw e-mailadres is gewijzigd",
      body: ["Uw account heeft nu het e-mailadres {email}. Met dit adres kunt u niet meer inloggen."],
    },
    password_changed: {
      subject: "Uw wachtwoord is gewijzigd",
      body: ["Het wachtwoord van uw account is gewijzigd en alle andere sessies zijn uitgelogd."],
    },
    password_reset: {
      subject: "Uw wachtwoord is opnieuw ingesteld",
      body: ["Met een gemailde link is een nieuw wachtwoord ingesteld, en alle sessies zijn uitgelogd."],
    },
    email_verified: {
      subject: "Uw e-mailadres is bevestigd",
      body: [
        "U logde in met een link voordat het e-mailadres bevestigd was. Nu is het bevestigd. Het eerdere wachtwoord is verwijderd; stel een nieuw in met “wachtwoord vergeten”.",
      ],
    },
    passkey_added: {
      subject: "Er is een passkey toegevoegd",
      body: ["De passkey “{name}” is aan uw account toegevoegd. Daarmee kan worden ingelogd."],
    },
    passkey_deleted: {
      subject: "Er is een passkey verwijderd",
      body: ["De passkey “{name}” is uit uw account verwijderd."],
    },
    second_factor_on: {
      subject: "De tweede factor is ingeschakeld",
      body: ["Vanaf nu vraagt uw account om een code van de authenticator-app."],
    },
    second_factor_off: {
      subject: "De tweede factor is uitgeschakeld",
      body: ["Uw account vraagt niet meer om een code."],
    },
    account_deleted: {
      subject: "Uw account is verwijderd",
      body: [
        "Uw account en alles wat er alleen bij hoorde, is verwijderd. U kunt zich met hetzelfde e-mailadres opnieuw aanmelden.",
      ],
    },
    invitation: {
      subject: "Uitnodiging voor {organization}",
      body: [
        "{inviter} ({email}) nodigt u uit om lid te worden van {organization}. Uw rol: {role}.",
        "{organization} controleert met Assay wie zijn klanten zijn. Log in met dit e-mailadres, of maak er een account mee, en neem de uitnodiging aan. De link is 7 dagen geldig.",
      ],
      button: "Uitnodiging openen",
    },
    deletion_code: {
      subject: "Code om {organization} te verwijderen",
      body: [
        "U wilt de organisatie {organization} verwijderen. Voer deze code in om te bevestigen:",
        "{code}",
        "Hij is 24 uur geldig en alleen voor u. Na de bevestiging wordt de organisatie meteen bevroren en 48 uur later wordt alles voorgoed verwijderd.",
        "Was u dit niet, wijzig dan uw wachtwoord: iemand is ingelogd op uw account.",
      ],
    },
    deletion_scheduled: {
      subject: "{organization} wordt verwijderd",
      body: [
        "{person} ({email}) heeft de verwijdering van de organisatie {organization} bevestigd.",
        "Ze is nu bevroren: API-sleutels werken niet en niets kan worden gewijzigd. Op {at} wordt alles voorgoed verwijderd.",
        "Tot dan kan een eigenaar of beheerder haar behouden.",
      ],
      button: "Organisatie openen",
    },
    deletion_cancelled: {
      subject: "{organization} blijft",
      body: [
        "{person} ({email}) heeft de verwijdering van de organisatie {organization} geannuleerd. Alles werkt weer, ook de API-sleutels.",
      ],
      button: "Organisatie openen",
    },
    organization_deleted: {
      subject: "{organization} is verwijderd",
      body: [
        "De organisatie {organization} en alles daarin is verwijderd op {at}. Uw eigen account blijft.",
        "Dit is het ondertekende bewijs. Bewaar het: hier is niets meer waaruit het opnieuw gemaakt kan worden.",
        "{receipt}",
        "Het is een compacte JWS, ondertekend met Ed25519. De openbare sleutel staat op {keys}, aangeduid met “kid”.",
      ],
    },
    domain_missing: {
      subject: "Het verificatierecord van {domain} ontbreekt",
      body: [
        "Drie dagelijkse controles achter elkaar vonden het TXT-record niet dat bewijst dat u {domain} beheert.",
        "Tot het terug is, kunnen live-sessies niemand naar dit domein sturen. De doorverwijsadressen blijven bewaard.",
        "Publiceer het record opnieuw op {record}, of verifieer het domein opnieuw.",
      ],
      button: "Domeinen openen",
    },
    domain_back: {
      subject: "{domain} is weer geverifieerd",
      body: ["Het verificatierecord van {domain} is terug. Live-sessies kunnen er weer naartoe sturen."],
      button: "Domeinen openen",
    },
    domain_lost: {
      subject: "{domain} is nu geverifieerd door een andere organisatie",
      body: [
        "Een andere organisatie heeft bewezen dat ze {domain} beheert en heeft het domein overgenomen van {organization}.",
        "De doorverwijsadressen op dit domein zijn verwijderd en live-sessies kunnen er niemand meer naartoe sturen.",
        "Is het domein van u, kijk dan wie de DNS kan wijzigen, verwijder het vreemde record en verifieer het domein opnieuw.",
      ],
      button: "Domeinen openen",
    },
    no_active_key: {
      subject: "Een webhook kon niet worden verzonden: geen actieve sleutel",
      body: [
        "Een gebeurtenis was bedoeld voor een webhook-eindpunt zonder actieve versleutelingssleutel. Webhooks zijn altijd versleuteld, dus er is niets verzonden, en deze gebeurtenis kan later niet meer worden verzonden.",
        "Eindpunt: {endpoint}",
        "Registreer een sleutel of activeer er een opnieuw, zodat de volgende gebeurtenis aankomt. De uitkomst zelf staat in de sessie.",
      ],
      button: "Webhooks openen",
    },
    endpoint_gone: {
      subject: "Een webhook-eindpunt is uitgeschakeld",
      body: [
        "We hebben een webhook-eindpunt uitgeschakeld omdat het 410 Gone antwoordde; dat vraagt ons te stoppen.",
        "Eindpunt: {endpoint}",
        "Wat erop wacht, wordt vastgehouden. Schakel het weer in als het werkt, dan gaat de bezorging verder.",
      ],
      button: "Webhooks openen",
    },
    endpoint_failing: {
      subject: "Een webhook-eindpunt is uitgeschakeld",
      body: [
        "We hebben een webhook-eindpunt uitgeschakeld omdat er vijf dagen geen bezorging is gelukt.",
        "Eindpunt: {endpoint}",
        "Wat erop wacht, wordt vastgehouden. Schakel het weer in als het werkt, dan gaat de bezorging verder.",
      ],
      button: "Webhooks openen",
    },
    member_keys: {
      subject: "API-sleutels van een lid zonder toegang",
      body: [
        "{person} ({email}) beheert geen API-sleutels van {organization} meer.",
        "Sleutels die deze persoon maakte en die hierbij zijn uitgeschakeld: {disabled}.",
        "Sleutels die deze persoon maakte en die nog werken: {active}. Wie er een heeft bewaard, kan die gebruiken tot u hem uitschakelt of verwijdert.",
      ],
      button: "API-sleutels openen",
    },
    endpoint_added: {
      subject: "Er is een webhook-eindpunt toegevoegd",
      body: [
        "In live is een webhook-eindpunt toegevoegd. Zodra het een versleutelingssleutel heeft, gaan resultaten van verificaties erheen.",
        "Eindpunt: {endpoint}",
        "Toegevoegd door: {actor}",
        "Verwachtte u dit niet, schakel het eindpunt dan uit en controleer wie API-sleutels heeft.",
      ],
      button: "Webhooks openen",
    },
    endpoint_moved: {
      subject: "Het adres van een webhook-eindpunt is gewijzigd",
      body: [
        "De URL van een webhook-eindpunt in live is gewijzigd. Resultaten van verificaties gaan vanaf nu naar het nieuwe adres.",
        "Eindpunt: {endpoint}",
        "Gewijzigd door: {actor}",
        "Verwachtte u dit niet, schakel het eindpunt dan uit en controleer wie API-sleutels heeft.",
      ],
      button: "Webhooks openen",
    },
    key_added: {
      subject: "Er is een versleutelingssleutel toegevoegd",
      body: [
        "Aan een webhook-eindpunt in live is een versleutelingssleutel toegevoegd of opnieuw geactiveerd. Wie het privédeel heeft, kan de resultaten lezen die daarheen gaan.",
        "Eindpunt: {endpoint}",
        "Sleutel: {key}",
        "Toegevoegd door: {actor}",
        "Verwachtte u dit niet, deactiveer de sleutel dan en controleer wie API-sleutels heeft.",
      ],
      button: "Webhooks openen",
    },
    signer_revoked: {
      subject: "De ondertekenaar van een vertrouwde lijst is ingetrokken",
      body: [
        "{signer}, die {list} heeft ondertekend, staat op een intrekkingslijst van na de import. Wat de lijst noemt, blijft vertrouwd tot u beslist.",
        "Om haar terug te nemen, voer uit:",
        "{remove}",
      ],
    },
    authorities_leave: {
      subject: "{count} vertrouwde instanties worden verwijderd",
      body: [
        "In de nieuwste editie van {address} ontbreken {count} instanties uit de vorige. Ze gelden tot {at} en worden dan verwijderd.",
        "Instanties:\n{names}",
        "Om ze te houden, voer uit:",
        "{keep}",
        "Om ze meteen te verwijderen, voer uit:",
        "{remove}",
      ],
    },
  },
};
