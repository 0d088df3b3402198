import type { MailTexts } from "../mail-texts.ts";

export const it: MailTexts = {
  hello: "Buongiorno,",
  helloName: "Buongiorno {name},",
  orOpen: "Se il pulsante non funziona, apra questo indirizzo:",
  sentBy:
    "Inviato da Assay su {host}. Assay verifica le persone con il chip del passaporto o della carta d’identità.",
  closing: {
    ignore: "Se non si aspettava questo messaggio, può ignorarlo.",
    notYou: "Se non è stato Lei, reimposti subito la password ed esca da tutte le altre sessioni.",
  },
  because: {
    asked: "Riceve questo messaggio perché è stato richiesto con il Suo indirizzo su {host}.",
    address: "Riceve questo messaggio perché qualcuno ha inserito il Suo indirizzo su {host}.",
    account: "Riceve questo messaggio perché riguarda la sicurezza del Suo account su {host}.",
    formerAccount: "Riceve questo messaggio perché aveva un account su {host}.",
    invited: "Riceve questo messaggio perché qualcuno ha invitato questo indirizzo su {host}.",
    owner: "Riceve questo messaggio perché è proprietario di {organization} su {host}.",
    formerOwner: "Riceve questo messaggio perché era proprietario di {organization} su {host}.",
    operator: "Riceve questo messaggio perché OPERATOR_EMAIL dell’installazione {host} è questo indirizzo.",
  },
  removed: {
    passkeys:
      "Le passkey accedono senza password, perciò sono state rimosse: {names}. Aggiunga di nuovo le Sue.",
    second_factor: "Il secondo fattore impostato prima della verifica dell’e-mail è stato rimosso.",
  },
  roles: { member: "membro", admin: "amministratore", owner: "proprietario" },
  letters: {
    magic_link: {
      subject: "Il Suo link per accedere",
      body: ["Questo link La fa accedere. Funziona una volta, per 15 minuti."],
      button: "Accedi",
    },
    reset_password: {
      subject: "Imposti una nuova password",
      body: ["Con questo link imposta una nuova password ed esce ovunque. Funziona una volta, per un’ora."],
      button: "Nuova password",
    },
    verify_email: {
      subject: "Verifichi il Suo indirizzo e-mail",
      body: [
        "Con questo indirizzo è stato creato un account. Apra il link e acceda con la password scelta. Vale un giorno.",
        "Se non ha creato l’account, può ignorare questo messaggio: l’indirizzo non verrà verificato.",
      ],
      button: "Verifica l’e-mail",
    },
    change_email: {
      subject: "Confermi il nuovo indirizzo e-mail",
      body: [
        "Questo indirizzo diventerà l’e-mail del Suo account. Apra il link mentre è connesso. Funziona una volta, per un’ora.",
      ],
      button: "Usa questa e-mail",
    },
    account_exists: {
      subject: "Ha già un account",
      body: [
        "Qualcuno voleva registrarsi con questo indirizzo. Ha già un account, quindi non è cambiato nulla.",
        "Se è stato Lei, acceda. Se non conosce la password, ne imposti una nuova: {reset}",
      ],
      button: "Accedi",
    },
    email_taken: {
      subject: "Questo indirizzo e-mail ha già un account",
      body: [
        "Qualcuno voleva usare questo indirizzo come e-mail di un altro account. Ha già un account, quindi non è cambiato nulla.",
        "Se è stato Lei, acceda con questo indirizzo oppure elimini prima il suo account.",
      ],
    },
    email_change_requested: {
      subject: "È stato richiesto un cambio della Sua e-mail",
      body: ["Il Suo account avrà l’e-mail {email}. Nulla cambia finché quell’indirizzo non conferma."],
    },
    email_changed: {
      subject: "La Sua e-mail è stata cambiata",
      body: ["Il Suo account ha ora l’e-mail {email}. Con questo indirizzo non si accede più."],
    },
    password_changed: {
      subject: "La Sua password è stata cambiata",
      body: ["La password del Suo account è stata cambiata e tutte le altre sessioni sono state chiuse."],
    },
    password_reset: {
      subject: "La Sua password è stata reimpostata",
      body: [
        "È stata impostata una nuova password con un link inviato per e-mail e tutte le sessioni sono state chiuse.",
      ],
    },
    email_verified: {
      subject: "La Sua e-mail è stata verificata",
      body: [
        "Ha effettuato l’accesso con un link prima che l’e-mail fosse verificata. Ora lo è. La password impostata prima è stata rimossa; ne imposti una nuova con «password dimenticata».",
      ],
    },
    passkey_added: {
      subject: "È stata aggiunta una passkey",
      body: ["La passkey «{name}» è stata aggiunta al Suo account. Permette di accedere."],
    },
    passkey_deleted: {
      subject: "È stata eliminata una passkey",
      body: ["La passkey «{name}» è stata eliminata dal Suo account."],
    },
    second_factor_on: {
      subject: "Il secondo fattore è stato attivato",
      body: ["D’ora in poi il Suo account chiede un codice dell’app di autenticazione."],
    },
    second_factor_off: {
      subject: "Il secondo fattore è stato disattivato",
      body: ["Il Suo account non chiede più un codice."],
    },
    account_deleted: {
      subject: "Il Suo account è stato eliminato",
      body: [
        "Il Suo account e tutto ciò che apparteneva solo ad esso sono stati eliminati. Può registrarsi di nuovo con la stessa e-mail.",
      ],
    },
    invitation: {
      subject: "Invito a {organization}",
      body: [
        "{inviter} ({email}) La invita a unirsi a {organization}. Il Suo ruolo: {role}.",
        "{organization} usa Assay per verificare chi sono i suoi clienti. Acceda con questo indirizzo, o crei un account con esso, e accetti. Il link vale 7 giorni.",
      ],
      button: "Apri l’invito",
    },
    deletion_code: {
      subject: "Codice per eliminare {organization}",
      body: [
        "Ha chiesto di eliminare l’organizzazione {organization}. Inserisca questo codice per confermare:",
        "{code}",
        "Vale 24 ore e solo per Lei. Dopo la conferma l’organizzazione viene bloccata subito e 48 ore dopo tutto viene eliminato per sempre.",
        "Se non è stato Lei, cambi la password: qualcuno è entrato nel Suo account.",
      ],
    },
    deletion_scheduled: {
      subject: "{organization} verrà eliminata",
      body: [
        "{person} ({email}) ha confermato l’eliminazione dell’organizzazione {organization}.",
        "Ora è bloccata: le chiavi API non funzionano e nulla può essere modificato. Il {at} tutto verrà eliminato per sempre.",
        "Fino ad allora un proprietario o amministratore può conservarla.",
      ],
      button: "Apri l’organizzazione",
    },
    deletion_cancelled: {
      subject: "{organization} resta",
      body: [
        "{person} ({email}) ha annullato l’eliminazione dell’organizzazione {organization}. Tutto funziona di nuovo, chiavi API comprese.",
      ],
      button: "Apri l’organizzazione",
    },
    organization_deleted: {
      subject: "{organization} è stata eliminata",
      body: [
        "L’organizzazione {organization} e tutto il suo contenuto sono stati eliminati il {at}. Il Suo account resta.",
        "Questa è la ricevuta firmata. La conservi: qui non resta nulla da cui rifarla.",
        "{receipt}",
        "È un JWS compatto firmato con Ed25519. La chiave pubblica si trova su {keys}, indicata dal suo «kid».",
      ],
    },
    domain_missing: {
      subject: "Manca il record di verifica di {domain}",
      body: [
        "Tre controlli giornalieri di seguito non hanno trovato il record TXT che prova il Suo controllo su {domain}.",
        "Finché non torna, le sessioni reali non possono indirizzare nessuno a questo dominio. Gli indirizzi di reindirizzamento restano.",
        "Pubblichi di nuovo il record su {record} oppure verifichi il dominio da capo.",
      ],
      button: "Apri i domini",
    },
    domain_back: {
      subject: "{domain} è di nuovo verificato",
      body: [
        "Il record di verifica di {domain} è tornato. Le sessioni reali possono di nuovo indirizzare lì.",
      ],
      button: "Apri i domini",
    },
    domain_lost: {
      subject: "{domain} è ora verificato da un’altra organizzazione",
      body: [
        "Un’altra organizzazione ha provato di controllare {domain} e ha preso il dominio a {organization}.",
        "Gli indirizzi di reindirizzamento su questo dominio sono rimossi e le sessioni reali non possono più indirizzare lì.",
        "Se il dominio è Suo, verifichi chi può modificarne il DNS, rimuova il record altrui e verifichi di nuovo il dominio.",
      ],
      button: "Apri i domini",
    },
    no_active_key: {
      subject: "Impossibile inviare un webhook: nessuna chiave di cifratura attiva",
      body: [
        "Un evento era destinato a un endpoint senza chiave di cifratura attiva. I webhook sono sempre cifrati, quindi nulla è stato inviato e questo evento non potrà essere inviato dopo.",
        "Destinazione: {endpoint}",
        "Registri una chiave o ne riattivi una, così il prossimo evento arriva. Il risultato si può leggere nella sessione.",
      ],
      button: "Apri i webhook",
    },
    endpoint_gone: {
      subject: "Un endpoint webhook è stato disattivato",
      body: [
        "Abbiamo disattivato un endpoint webhook perché ha risposto 410 Gone, che ci chiede di smettere.",
        "Destinazione: {endpoint}",
        "Ciò che lo attende è trattenuto. Lo riattivi quando funziona e gli invii riprendono.",
      ],
      button: "Apri i webhook",
    },
    endpoint_failing: {
      subject: "Un endpoint webhook è stato disattivato",
      body: [
        "Abbiamo disattivato un endpoint webhook perché da cinque giorni nessun invio riesce.",
        "Destinazione: {endpoint}",
        "Ciò che lo attende è trattenuto. Lo riattivi quando funziona e gli invii riprendono.",
      ],
      button: "Apri i webhook",
    },
    member_keys: {
      subject: "Chiavi API di un membro senza accesso",
      body: [
        "{person} ({email}) non gestisce più le chiavi API di {organization}.",
        "Chiavi create da questa persona e disattivate ora: {disabled}.",
        "Chiavi create da questa persona e ancora valide: {active}. Chi ne ha conservata una può usarla finché Lei non la disattiva o la elimina.",
      ],
      button: "Apri le chiavi API",
    },
    endpoint_added: {
      subject: "È stato aggiunto un endpoint webhook",
      body: [
        "In produzione è stato aggiunto un endpoint webhook. Appena ha una chiave di cifratura, riceve i risultati delle verifiche.",
        "Destinazione: {endpoint}",
        "Aggiunto da: {actor}",
        "Se non se lo aspettava, disattivi l’endpoint e controlli chi possiede chiavi API.",
      ],
      button: "Apri i webhook",
    },
    endpoint_moved: {
      subject: "L’indirizzo di un endpoint webhook è cambiato",
      body: [
        "L’URL di un endpoint webhook in produzione è stato cambiato. D’ora in poi i risultati delle verifiche vanno al nuovo indirizzo.",
        "Destinazione: {endpoint}",
        "Cambiato da: {actor}",
        "Se non se lo aspettava, disattivi l’endpoint e controlli chi possiede chiavi API.",
      ],
      button: "Apri i webhook",
    },
    key_added: {
      subject: "È stata aggiunta una chiave di cifratura",
      body: [
        "A un endpoint webhook in produzione è stata aggiunta o riattivata una chiave di cifratura. Chi possiede la parte privata può leggere i risultati inviati lì.",
        "Destinazione: {endpoint}",
        "Chiave: {key}",
        "Aggiunta da: {actor}",
        "Se non se lo aspettava, disattivi la chiave e controlli chi possiede chiavi API.",
      ],
      button: "Apri i webhook",
    },
    signer_revoked: {
      subject: "Il firmatario di una lista fidata è stato revocato",
      body: [
        "{signer}, che ha firmato {list}, è in una lista di revoca arrivata dopo l’importazione. Ciò che la lista nomina resta fidato finché non decide Lei.",
        "Per ritirarla, esegua:",
        "{remove}",
      ],
    },
    authorities_leave: {
      subject: "{count} autorità fidate stanno per essere rimosse",
      body: [
        "Nell’ultima edizione di {address} mancano {count} autorità dell’edizione precedente. Valgono fino al {at} e poi vengono rimosse.",
        "Autorità:\n{names}",
        "Per tenerle, esegua:",
        "{keep}",
        "Per rimuoverle subito, esegua:",
        "{remove}",
      ],
    },
  },
};
