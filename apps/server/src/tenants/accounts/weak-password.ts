/**
 * The words in the most common passwords of twelve characters and more, which add digits and symbols. A
 * longer list would refuse little more: the limits of sign-in already stop guesses at the rest.
 */
const commonWords = `
  password passwort passphrase pass pwd secret geheim contrasena motdepasse haslo parola qwertyuiop
  qwertzuiop azertyuiop qwerty qwertz azerty asdfghjkl asdf zxcvbnm yxcvbnm qazwsx qazwsxedc letmein
  iloveyou welcome willkommen hallo hello changeme change default login access trustno admin
  administrator root user test testing temp guest master company abc abcd assay football baseball
  basketball superman batman pokemon starwars princess sunshine dragon monkey shadow summer winter
  spring autumn january december monday friday computer internet samsung google
`
  .trim()
  .split(/\s+/)
  .sort((a, b) => b.length - a.length);

/** Symbols that stand for letters inside a word. */
const lookAlikes = new Map(
  ["0o", "1l", "3e", "4a", "5s", "7t", "@a", "$s", "!i"].map(([sign = "", letter = ""]) => [sign, letter]),
);

/**
 * Why a long password is easy to guess, as the end of a sentence, or null. `about`: e-mail and name of its
 * owner.
 */
export function weakness(password: string, about: readonly string[]): string | null {
  const text = password.normalize("NFKC").toLowerCase();
  if (isPeriodic(text) || new Set(text).size < 4) return "repeats the same few characters";
  if (isSequence(text)) return "is a sequence of consecutive characters";
  if (isMadeOf(text, commonWords)) return "is one of the most common passwords";
  const own = about.flatMap((each) =>
    each
      .normalize("NFKC")
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u),
  );
  return isMadeOf(
    text,
    own.filter((word) => word.length >= 4),
  )
    ? "consists of your name or e-mail"
    : null;
}

/** `abcabcabcabc`, also with an incomplete last repetition. */
function isPeriodic(text: string): boolean {
  const units = [...text];
  return [1, 2, 3, 4].some((period) => units.every((unit, at) => at < period || unit === units[at - period]));
}

/** `123456789012`, `abcdefghijkl` and backwards. */
function isSequence(text: string): boolean {
  const codes = [...text.replaceAll("0", ":")].map((unit) => unit.codePointAt(0) ?? 0);
  const steps = codes.slice(1).map((code, at) => code - (codes[at] ?? 0));
  // After 9 comes 0, and then 1 again.
  const follows = (step: number) => (at: number) => at === step || at === -9 * step;
  return steps.every(follows(1)) || steps.every(follows(-1));
}

/** Whether only digits, symbols and at most three letters are left without these words. */
function isMadeOf(text: string, words: readonly string[]): boolean {
  const spellings = [
    text,
    [...text.replace(/[^\p{L}]+$/u, "")].map((unit) => lookAlikes.get(unit) ?? unit).join(""),
  ];
  return spellings.some((spelling) => {
    const left = words.reduce((rest, word) => rest.replaceAll(word, " "), spelling);
    return left !== spelling && left.replace(/[^\p{L}]/gu, "").length <= 3;
  });
}
