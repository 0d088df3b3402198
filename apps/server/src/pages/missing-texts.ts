import type { PageLanguage } from "@assay/contract/facts";

/** What a wrong address is answered with, in every language of the verify page: its links are the ones that get mistyped or cut off. */
export const missingTexts: Readonly<Record<PageLanguage, { title: string; text: string; home: string }>> = {
  en: {
    title: "Page not found",
    text: "The address may be mistyped or incomplete. If somebody sent you this link, ask them for a new one.",
    home: "Go to the start page",
  },
  bg: {
    title: "Страницата не е намерена",
    text: "Адресът може да е сгрешен или непълен. Ако някой ви е изпратил тази връзка, помолете го за нова.",
    home: "Към началната страница",
  },
  cs: {
    title: "Stránka nenalezena",
    text: "Adresa může být chybná nebo neúplná. Pokud vám tento odkaz někdo poslal, požádejte ho o nový.",
    home: "Přejít na úvodní stránku",
  },
  da: {
    title: "Siden blev ikke fundet",
    text: "Adressen kan være forkert eller ufuldstændig. Hvis nogen har sendt dig linket, så bed dem om et nyt.",
    home: "Gå til startsiden",
  },
  de: {
    title: "Seite nicht gefunden",
    text: "Die Adresse ist vielleicht falsch geschrieben oder unvollständig. Wenn Ihnen jemand diesen Link geschickt hat, bitten Sie um einen neuen.",
    home: "Zur Startseite",
  },
  el: {
    title: "Η σελίδα δεν βρέθηκε",
    text: "Η διεύθυνση μπορεί να είναι λανθασμένη ή ελλιπής. Αν κάποιος σας έστειλε αυτόν τον σύνδεσμο, ζητήστε του έναν νέο.",
    home: "Μετάβαση στην αρχική σελίδα",
  },
  es: {
    title: "Página no encontrada",
    text: "La dirección puede estar mal escrita o incompleta. Si alguien le envió este enlace, pídale uno nuevo.",
    home: "Ir a la página de inicio",
  },
  et: {
    title: "Lehte ei leitud",
    text: "Aadress võib olla vale või poolik. Kui keegi saatis teile selle lingi, paluge temalt uus.",
    home: "Mine avalehele",
  },
  fi: {
    title: "Sivua ei löytynyt",
    text: "Osoite voi olla väärin kirjoitettu tai puutteellinen. Jos joku lähetti teille tämän linkin, pyytäkää uusi.",
    home: "Siirry etusivulle",
  },
  fr: {
    title: "Page introuvable",
    text: "L’adresse est peut-être mal écrite ou incomplète. Si quelqu’un vous a envoyé ce lien, demandez-lui en un nouveau.",
    home: "Aller à la page d’accueil",
  },
  ga: {
    title: "Níor aimsíodh an leathanach",
    text: "B’fhéidir go bhfuil an seoladh mícheart nó neamhiomlán. Má sheol duine éigin an nasc seo chugat, iarr ceann nua air.",
    home: "Téigh go dtí an leathanach tosaigh",
  },
  hr: {
    title: "Stranica nije pronađena",
    text: "Adresa je možda pogrešna ili nepotpuna. Ako vam je netko poslao ovu poveznicu, zatražite novu.",
    home: "Idi na početnu stranicu",
  },
  hu: {
    title: "Az oldal nem található",
    text: "Lehet, hogy a cím hibás vagy hiányos. Ha valakitől kapta ezt a linket, kérjen tőle egy újat.",
    home: "Ugrás a kezdőlapra",
  },
  it: {
    title: "Pagina non trovata",
    text: "L’indirizzo potrebbe essere errato o incompleto. Se qualcuno le ha inviato questo link, ne chieda uno nuovo.",
    home: "Vai alla pagina iniziale",
  },
  lt: {
    title: "Puslapis nerastas",
    text: "Adresas gali būti klaidingas arba nepilnas. Jei šią nuorodą jums kas nors atsiuntė, paprašykite naujos.",
    home: "Eiti į pradžios puslapį",
  },
  lv: {
    title: "Lapa nav atrasta",
    text: "Adrese var būt kļūdaina vai nepilnīga. Ja šo saiti jums kāds atsūtīja, palūdziet jaunu.",
    home: "Doties uz sākumlapu",
  },
  mt: {
    title: "Il-paġna ma nstabitx",
    text: "L-indirizz jista’ jkun ħażin jew mhux komplut. Jekk xi ħadd bagħatlek dan il-link, itolbu wieħed ġdid.",
    home: "Mur fil-paġna ewlenija",
  },
  nl: {
    title: "Pagina niet gevonden",
    text: "Het adres is misschien verkeerd gespeld of onvolledig. Als iemand u deze link heeft gestuurd, vraag dan om een nieuwe.",
    home: "Naar de startpagina",
  },
  pl: {
    title: "Nie znaleziono strony",
    text: "Adres może być błędny lub niepełny. Jeśli ktoś przysłał Państwu ten link, prosimy poprosić o nowy.",
    home: "Przejdź do strony głównej",
  },
  pt: {
    title: "Página não encontrada",
    text: "O endereço pode estar errado ou incompleto. Se alguém lhe enviou esta ligação, peça uma nova.",
    home: "Ir para a página inicial",
  },
  ro: {
    title: "Pagina nu a fost găsită",
    text: "Adresa poate fi greșită sau incompletă. Dacă v-a trimis cineva acest link, cereți unul nou.",
    home: "Mergeți la pagina de start",
  },
  sk: {
    title: "Stránka sa nenašla",
    text: "Adresa môže byť chybná alebo neúplná. Ak vám tento odkaz niekto poslal, požiadajte ho o nový.",
    home: "Prejsť na úvodnú stránku",
  },
  sl: {
    title: "Strani ni mogoče najti",
    text: "Naslov je morda napačen ali nepopoln. Če vam je to povezavo nekdo poslal, ga prosite za novo.",
    home: "Na začetno stran",
  },
  sv: {
    title: "Sidan hittades inte",
    text: "Adressen kan vara felskriven eller ofullständig. Om någon skickade länken till dig, be om en ny.",
    home: "Gå till startsidan",
  },
  uk: {
    title: "Сторінку не знайдено",
    text: "Можливо, адреса хибна або неповна. Якщо це посилання вам хтось надіслав, попросіть нове.",
    home: "Перейти на головну сторінку",
  },
  tr: {
    title: "Sayfa bulunamadı",
    text: "Adres yanlış yazılmış veya eksik olabilir. Bu bağlantıyı size biri gönderdiyse yenisini isteyin.",
    home: "Başlangıç sayfasına git",
  },
  ar: {
    title: "الصفحة غير موجودة",
    text: "قد يكون العنوان مكتوبًا بشكل خاطئ أو ناقصًا. إذا أرسل إليك أحدهم هذا الرابط، فاطلب منه رابطًا جديدًا.",
    home: "الانتقال إلى صفحة البداية",
  },
};
