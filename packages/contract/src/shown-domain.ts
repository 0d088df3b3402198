import { decodePunycode } from "./punycode.ts";

/**
 * The form in which people see a domain. The Unicode form of `xn--pple-43d.com` reads as another name (a
 * homograph). So it is shown only where it is unmistakable, by rules like those of browsers (UTS 39, "highly
 * restrictive", no whole-script confusables). Otherwise the `xn--` form is shown. See
 * docs/decisions/0032-domains-are-shown-unmistakably.md.
 */
export function shownDomain(ascii: string): string {
  if (!/(?:^|\.)xn--/.test(ascii)) return ascii;
  const labels: string[] = [];
  for (const label of ascii.split(".")) {
    const decoded = label.startsWith("xn--") ? decodePunycode(label.slice(4)) : label;
    if (decoded === null) return ascii;
    labels.push(decoded);
  }
  const unicode = labels.join(".");
  // A form that does not map back to the ASCII name is no valid DNS name.
  return isUnmistakable(labels) && readUrl(`https://${unicode}`)?.hostname === ascii ? unicode : ascii;
}

/** A link for display: its target without the scheme. Beyond the host a parsed URL is ASCII. */
export function shownLink(link: string): string {
  const url = readUrl(link);
  if (url === null) return link;
  const port = url.port === "" ? "" : `:${url.port}`;
  const path = url.pathname === "/" ? "" : url.pathname;
  return `${shownDomain(url.hostname)}${port}${path}${url.search}${url.hash}`;
}

function readUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

function isUnmistakable(labels: readonly string[]): boolean {
  const tld = labels.at(-1) ?? "";
  const systems = labels.map((label) => systemOf(label, tld));
  if (systems.includes(null)) return false;
  // Between two right-to-left labels the dot is right-to-left too, so the labels swap places.
  const fromRight = systems.filter((system) => system?.fromRight === true).length;
  if (fromRight > 1 && fromRight < labels.length) return false;
  return labels.every((label, index) => {
    if (!looksLikeAscii(label)) return true;
    // Next to an unmistakably Cyrillic label, readers do not take Cyrillic letters for Latin ones. Only the
    // TLD counts as that label, because the registrant chooses all labels to the left of it. For the TLD
    // itself, the label before it counts.
    const last = labels.length - 1;
    const witness = index === last ? last - 1 : last;
    return systems[witness] === systems[index] && !looksLikeAscii(labels[witness] ?? "");
  });
}

type WritingSystem = { readonly pattern: RegExp; readonly fromRight?: boolean };

const asciiOnly: WritingSystem = { pattern: /^[a-z0-9-]+$/ };
const latin: WritingSystem = { pattern: /^[a-z0-9\-\p{Script=Latin}]+$/u };

/**
 * A label must be of one of these. Modifier letters, digits other than 0 to 9, joiners, symbols and historic
 * scripts are in none. Combining marks are allowed only where a script needs them.
 */
function makeSystems(): readonly WritingSystem[] {
  return [
    // Current spelling only: older letters and accents are easily missed.
    { pattern: /^[0-9\-\u0430-\u045f\u048a-\u052f]+$/ },
    { pattern: /^[0-9\-\u0390\u03ac-\u03ce]+$/ },
    ...["Armenian", "Georgian", "Ethiopic"].map((script) => ({ pattern: letters(script) })),
    ...["Hebrew", "Arabic"].map((script) => ({ pattern: letters(script), fromRight: true })),
    { pattern: lettersAndMarks("Thaana"), fromRight: true },
    ...[
      ...[
        "Devanagari",
        "Bengali",
        "Gurmukhi",
        "Gujarati",
        "Oriya",
        "Tamil",
        "Telugu",
        "Kannada",
        "Malayalam",
      ],
      ...["Sinhala", "Thai", "Lao", "Myanmar", "Khmer", "Tibetan"],
    ].map((script) => ({ pattern: lettersAndMarks(script) })),
    // These are written together, and with Latin letters.
    { pattern: /^(?:[a-z0-9\-ー々]|(?=\p{Lo})[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])+$/u },
    { pattern: /^(?:[a-z0-9\-가-힣]|(?=\p{Lo})\p{Script=Han})+$/u },
    { pattern: /^(?=.*\p{Script=Han})(?:[a-z0-9\-々]|(?=\p{Lo})[\p{Script=Han}\p{Script=Bopomofo}])+$/u },
  ];
}

/** Compiled on first use: these patterns take longer to compile than all other code around them to load. */
let systems: readonly WritingSystem[] | null = null;

function letters(script: string): RegExp {
  return new RegExp(`^(?:[0-9-]|(?=\\p{Ll}|\\p{Lo})\\p{Script=${script}})+$`, "u");
}

function lettersAndMarks(script: string): RegExp {
  return new RegExp(`^(?:[0-9-]|(?=\\p{Lo}|\\p{M}|[ๆໆៗ])\\p{Script=${script}})+$`, "u");
}

/** The same mark twice in a row is drawn as one, and a tower of marks as a stain. */
const oddMarks = /(\p{M})\1|\p{M}{5}/u;

function systemOf(label: string, tld: string): WritingSystem | null {
  if (asciiOnly.pattern.test(label)) return asciiOnly;
  if (oddMarks.test(label)) return null;
  if (latin.pattern.test(label)) return hasUsualLatin(label, tld) ? latin : null;
  systems ??= makeSystems();
  return systems.find(({ pattern }) => pattern.test(label)) ?? null;
}

const vietnameseMarks = /^[\u0300-\u0303\u0306\u0309\u031b\u0323]{1,2}$/;
/**
 * Letters that many languages share and most readers know.
 * Others are easily missed, such as the accent in `amazoń`.
 */
const commonLatin = /^[a-z0-9\-ßæœøàáâãäåçèéêëìíîïñòóôõöùúûüýÿ]$/;
const southSlavic = "čćđšž";
/** Other letters, in the countries in whose languages they are usual. */
const latinOf: Readonly<Record<string, string>> = {
  ...{ pl: "ąćęłńśźż", cz: "čďěňřšťůž", sk: "čďĺľňŕšťž", hu: "őű", ro: "ăşșţț", md: "ăşșţț" },
  ...{ lt: "ąčęėįšųūž", lv: "āčēģīķļņšūž", ee: "šž", fi: "šž", al: "ë", mt: "ċġħż", is: "þð", fo: "ð" },
  ...{ tr: "ğış", az: "əğış", wales: "ŵŷ", nz: "āēīōū" },
  ...{ hr: southSlavic, si: southSlavic, ba: southSlavic, rs: southSlavic, me: southSlavic, mk: southSlavic },
};

function hasUsualLatin(label: string, tld: string): boolean {
  return [...label].every((letter) => {
    if (commonLatin.test(letter) || latinOf[tld]?.includes(letter) === true) return true;
    const [base = "", ...marks] = letter.normalize("NFD");
    return tld === "vn" && (letter === "đ" || (/^[a-z]$/.test(base) && vietnameseMarks.test(marks.join(""))));
  });
}

/**
 * Letters that look like a Latin letter or a digit (whole-script confusables of UTS 39, and others in small
 * type). A label of only these letters reads as ASCII. A missing or extra letter here only decides whether an
 * honest short name is shown as `xn--`.
 */
const lookAlikes = new Set([
  ..."авгезікмнопрстухьъыюѕјӏԁԍһԛԝѡѵҽғґқңҳүұҫєҙӡ", // Cyrillic
  ..."αβγεηθικμνορςστυχω", // Greek
  ..."ագզէիլհյոպռստցւօշճ", // Armenian
  ..."იოყძხჽჿვპ", // Georgian
  ..."דוחטיןםסר", // Hebrew
  ..."اأإآهةوىہھں", // Arabic
  ..."ሀሁሠሰስበነተከዐዕዘጠፐ", // Ethiopic
  ..."ऽउওਤੜડટಽടഠധനറଠடப", // scripts of India
  ..."กดทนบปพฟมรลหเแບປພຟນທດລຣຮ", // Thai and Lao
  ..."ခဂငထပဝၔၜဒ", // Myanmar
  // Strokes that look like ASCII, or like the slash that ends a domain.
  ..."ー一丨丶丿乀乁亅二工口卜八ノンソゾニエロトハへヘ",
]);

function looksLikeAscii(label: string): boolean {
  if (asciiOnly.pattern.test(label)) return false;
  const foreign = [...label].filter((letter) => !/^[a-z0-9-]$/.test(letter));
  const isLookAlike = (letter: string) =>
    lookAlikes.has(letter.normalize("NFD").charAt(0)) || lookAlikes.has(letter);
  // Between Latin letters one of them is enough.
  return /[a-z]/.test(label) && !latin.pattern.test(label)
    ? foreign.some(isLookAlike)
    : foreign.every(isLookAlike);
}
