import type { MailTexts } from "../mail-texts.ts";

export const pl: MailTexts = {
  hello: "Dzień dobry,",
  helloName: "Dzień dobry, {name},",
  orOpen: "Jeśli przycisk nie działa, otwórz ten adres:",
  sentBy:
    "Wysłane przez Assay na {host}. Assay sprawdza osoby za pomocą chipa w paszporcie lub dowodzie osobistym.",
  closing: {
    ignore: "Jeśli ta wiadomość jest nieoczekiwana, można ją zignorować.",
    notYou: "Jeśli to nie Ty, natychmiast zresetuj hasło i wyloguj się wszędzie indziej.",
  },
  because: {
    asked: "Otrzymujesz tę wiadomość, bo poproszono o nią na {host}, podając Twój adres.",
    address: "Otrzymujesz tę wiadomość, bo ktoś podał Twój adres na {host}.",
    account: "Otrzymujesz tę wiadomość, bo dotyczy bezpieczeństwa Twojego konta na {host}.",
    formerAccount: "Otrzymujesz tę wiadomość, bo Twoje konto było na {host}.",
    invited: "Otrzymujesz tę wiadomość, bo ktoś zaprosił ten adres na {host}.",
    owner: "Otrzymujesz tę wiadomość jako właściciel {organization} na {host}.",
    formerOwner: "Otrzymujesz tę wiadomość jako były właściciel {organization} na {host}.",
    operator: "Otrzymujesz tę wiadomość, bo OPERATOR_EMAIL instalacji {host} wskazuje ten adres.",
  },
  removed: {
    passkeys: "Klucze dostępu logują bez hasła, dlatego zostały usunięte: {names}. Dodaj swoje ponownie.",
    second_factor: "Usunięto drugi składnik ustawiony przed potwierdzeniem adresu e-mail.",
  },
  roles: { member: "członek", admin: "administrator", owner: "właściciel" },
  letters: {
    magic_link: {
      subject: "Twój link do logowania",
      body: ["Ten link Cię zaloguje. Działa raz, przez 15 minut."],
      button: "Zaloguj się",
    },
    reset_password: {
      subject: "Ustaw nowe hasło",
      body: ["Ten link pozwala ustawić nowe hasło i wylogowuje Cię wszędzie. Działa raz, przez godzinę."],
      button: "Ustaw nowe hasło",
    },
    verify_email: {
      subject: "Potwierdź swój adres e-mail",
      body: [
        "Utworzono konto z tym adresem. Otwórz link i zaloguj się wybranym hasłem. Działa przez jeden dzień.",
        "Jeśli to nie Twoje konto, zignoruj tę wiadomość: adres nie zostanie wtedy potwierdzony.",
      ],
      button: "Potwierdź adres",
    },
    change_email: {
      subject: "Potwierdź nowy adres e-mail",
      body: [
        "Ten adres ma zostać adresem e-mail Twojego konta. Otwórz link, będąc zalogowanym. Działa raz, przez godzinę.",
      ],
      button: "Użyj tego adresu",
    },
    account_exists: {
      subject: "Masz już konto",
      body: [
        "Ktoś chciał się zarejestrować z tym adresem. Ma on już konto, więc nic nie zmieniono.",
        "Jeśli to Ty, zaloguj się. Jeśli nie znasz hasła, ustaw nowe: {reset}",
      ],
      button: "Zaloguj się",
    },
    email_taken: {
      subject: "Ten adres e-mail ma już konto",
      body: [
        "Ktoś chciał przypisać ten adres do innego konta. Ma on już konto, więc nic nie zmieniono.",
        "Jeśli to Ty, zaloguj się tym adresem albo najpierw usuń jego konto.",
      ],
    },
    email_change_requested: {
      subject: "Poproszono o zmianę Twojego adresu e-mail",
      body: [
        "Twoje konto ma otrzymać adres {email}. Nic się nie zmieni, dopóki ten adres tego nie potwierdzi.",
      ],
    },
    email_changed: {
      subject: "Twój adres e-mail został zmieniony",
      body: ["Twoje konto ma teraz adres {email}. Tym adresem nie można się już zalogować."],
    },
    password_changed: {
      subject: "Twoje hasło zostało zmienione",
      body: ["Hasło do Twojego konta zostało zmienione, a wszystkie inne sesje wylogowano."],
    },
    password_reset: {
      subject: "Twoje hasło zostało zresetowane",
      body: ["Ustawiono nowe hasło za pomocą linku z wiadomości i wylogowano wszystkie sesje."],
    },
    email_verified: {
      subject: "Twój adres e-mail został potwierdzony",
      body: [
        "Zalogowano Cię linkiem, zanim adres został potwierdzony. Teraz jest potwierdzony. Poprzednie hasło usunięto; ustaw nowe przez „nie pamiętam hasła”.",
      ],
    },
    passkey_added: {
      subject: "Dodano klucz dostępu",
      body: ["Klucz dostępu „{name}” dodano do Twojego konta. Można się nim zalogować."],
    },
    passkey_deleted: {
      subject: "Usunięto klucz dostępu",
      body: ["Klucz dostępu „{name}” usunięto z Twojego konta."],
    },
    second_factor_on: {
      subject: "Włączono drugi składnik",
      body: ["Od teraz Twoje konto prosi o kod z aplikacji uwierzytelniającej."],
    },
    second_factor_off: {
      subject: "Wyłączono drugi składnik",
      body: ["Twoje konto nie prosi już o kod."],
    },
    account_deleted: {
      subject: "Twoje konto zostało usunięte",
      body: [
        "Usunięto Twoje konto i wszystko, co należało tylko do niego. Możesz zarejestrować się ponownie z tym samym adresem.",
      ],
    },
    invitation: {
      subject: "Zaproszenie do {organization}",
      body: [
        "{inviter} ({email}) zaprasza Cię do {organization}. Twoja rola: {role}.",
        "{organization} sprawdza tożsamość klientów za pomocą Assay. Zaloguj się tym adresem albo załóż z nim konto i przyjmij zaproszenie. Link jest ważny 7 dni.",
      ],
      button: "Otwórz zaproszenie",
    },
    deletion_code: {
      subject: "Kod do usunięcia {organization}",
      body: [
        "Poproszono o usunięcie organizacji {organization}. Aby potwierdzić, wpisz ten kod:",
        "{code}",
        "Jest ważny 24 godziny i tylko dla Ciebie. Po potwierdzeniu organizacja zostaje od razu zamrożona, a 48 godzin później wszystko zostanie usunięte na zawsze.",
        "Jeśli to nie Ty, zmień hasło: ktoś jest zalogowany na Twoim koncie.",
      ],
    },
    deletion_scheduled: {
      subject: "{organization} zostanie usunięta",
      body: [
        "{person} ({email}) potwierdza usunięcie organizacji {organization}.",
        "Jest teraz zamrożona: klucze API nie działają i nic nie można zmienić. Wszystko zostanie usunięte na zawsze: {at}.",
        "Do tego czasu właściciel lub administrator może ją zachować.",
      ],
      button: "Otwórz organizację",
    },
    deletion_cancelled: {
      subject: "{organization} zostaje",
      body: [
        "{person} ({email}) anuluje usunięcie organizacji {organization}. Wszystko znów działa, także klucze API.",
      ],
      button: "Otwórz organizację",
    },
    organization_deleted: {
      subject: "{organization} została usunięta",
      body: [
        "Organizację {organization} i wszystko, co w niej było, usunięto: {at}. Twoje własne konto pozostaje.",
        "To podpisane potwierdzenie. Zachowaj je: nie zostało tu nic, z czego można by je odtworzyć.",
        "{receipt}",
        "To kompaktowy JWS podpisany Ed25519. Klucz publiczny jest pod {keys}, wskazany przez „kid”.",
      ],
    },
    domain_missing: {
      subject: "Brakuje rekordu weryfikacyjnego {domain}",
      body: [
        "Trzy kolejne codzienne sprawdzenia nie znalazły rekordu TXT, który dowodzi kontroli nad {domain}.",
        "Dopóki nie wróci, sesje produkcyjne nie mogą nikogo tam kierować. Adresy przekierowań są zachowane.",
        "Opublikuj rekord ponownie pod {record} albo zweryfikuj domenę od nowa.",
      ],
      button: "Otwórz domeny",
    },
    domain_back: {
      subject: "{domain} jest znów zweryfikowana",
      body: ["Rekord weryfikacyjny {domain} wrócił. Sesje produkcyjne mogą znów tam kierować."],
      button: "Otwórz domeny",
    },
    domain_lost: {
      subject: "{domain} jest teraz zweryfikowana przez inną organizację",
      body: [
        "Inna organizacja dowiodła, że kontroluje {domain}, i przejęła domenę od {organization}.",
        "Adresy przekierowań w tej domenie usunięto, a sesje produkcyjne nie mogą już tam kierować.",
        "Jeśli domena jest Twoja, sprawdź, kto może zmieniać jej DNS, usuń obcy rekord i zweryfikuj domenę ponownie.",
      ],
      button: "Otwórz domeny",
    },
    no_active_key: {
      subject: "Nie można było wysłać webhooka: brak aktywnego klucza szyfrującego",
      body: [
        "Zdarzenie było przeznaczone dla punktu odbioru bez aktywnego klucza szyfrującego. Webhooki są zawsze szyfrowane, więc nic nie wysłano, a tego zdarzenia nie da się wysłać później.",
        "Punkt odbioru: {endpoint}",
        "Zarejestruj klucz lub aktywuj jeden ponownie, aby następne zdarzenie dotarło. Sam wynik można odczytać z sesji.",
      ],
      button: "Otwórz webhooki",
    },
    endpoint_gone: {
      subject: "Wyłączono punkt odbioru webhooków",
      body: [
        "Wyłączyliśmy punkt odbioru, bo odpowiedział 410 Gone, czyli prosi, by przestać.",
        "Punkt odbioru: {endpoint}",
        "To, co na niego czeka, jest wstrzymane. Włącz go, gdy będzie działać, a wysyłka ruszy dalej.",
      ],
      button: "Otwórz webhooki",
    },
    endpoint_failing: {
      subject: "Wyłączono punkt odbioru webhooków",
      body: [
        "Wyłączyliśmy punkt odbioru, bo od pięciu dni żadna dostawa się nie powiodła.",
        "Punkt odbioru: {endpoint}",
        "To, co na niego czeka, jest wstrzymane. Włącz go, gdy będzie działać, a wysyłka ruszy dalej.",
      ],
      button: "Otwórz webhooki",
    },
    member_keys: {
      subject: "Klucze API osoby, która straciła dostęp",
      body: [
        "{person} ({email}) nie zarządza już kluczami API organizacji {organization}.",
        "Klucze utworzone przez tę osobę i teraz wyłączone: {disabled}.",
        "Klucze utworzone przez tę osobę, które nadal działają: {active}. Kto zachował taki klucz, może go używać, dopóki go nie wyłączysz lub nie usuniesz.",
      ],
      button: "Otwórz klucze API",
    },
    endpoint_added: {
      subject: "Dodano punkt odbioru webhooków",
      body: [
        "W środowisku produkcyjnym dodano punkt odbioru webhooków. Gdy tylko będzie miał klucz szyfrowania, będą do niego wysyłane wyniki weryfikacji.",
        "Punkt odbioru: {endpoint}",
        "Dodano przez: {actor}",
        "Jeśli się tego nie spodziewasz, wyłącz punkt odbioru i sprawdź, kto ma klucze API.",
      ],
      button: "Otwórz webhooki",
    },
    endpoint_moved: {
      subject: "Zmieniono adres punktu odbioru webhooków",
      body: [
        "Zmieniono adres URL punktu odbioru webhooków w środowisku produkcyjnym. Od teraz wyniki weryfikacji są wysyłane pod nowy adres.",
        "Punkt odbioru: {endpoint}",
        "Zmieniono przez: {actor}",
        "Jeśli się tego nie spodziewasz, wyłącz punkt odbioru i sprawdź, kto ma klucze API.",
      ],
      button: "Otwórz webhooki",
    },
    key_added: {
      subject: "Dodano klucz szyfrowania",
      body: [
        "W punkcie odbioru webhooków w środowisku produkcyjnym dodano lub ponownie aktywowano klucz szyfrowania. Kto ma jego część prywatną, może czytać wysyłane tam wyniki.",
        "Punkt odbioru: {endpoint}",
        "Klucz: {key}",
        "Dodano przez: {actor}",
        "Jeśli się tego nie spodziewasz, dezaktywuj klucz i sprawdź, kto ma klucze API.",
      ],
      button: "Otwórz webhooki",
    },
    signer_revoked: {
      subject: "Unieważniono podpisującego zaufaną listę",
      body: [
        "{signer}, kto podpisał {list}, jest na liście unieważnień nowszej niż import. To, co wymienia lista, pozostaje zaufane do Twojej decyzji.",
        "Aby ją cofnąć, uruchom:",
        "{remove}",
      ],
    },
    authorities_leave: {
      subject: "Zaufane urzędy do usunięcia: {count}",
      body: [
        "W najnowszym wydaniu {address} brakuje urzędów z poprzedniego: {count}. Liczą się do {at}, potem zostaną usunięte.",
        "Urzędy:\n{names}",
        "Aby je zachować, uruchom:",
        "{keep}",
        "Aby usunąć je od razu, uruchom:",
        "{remove}",
      ],
    },
  },
};
