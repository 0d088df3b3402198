import type { Colour, Style } from "@assay/cli/style";

/** How a reading at a counter ended, to be read from two metres away. */
export type BigWord = "PASSED" | "FACE NEXT" | "REFUSED" | "NOT READ";

const colours: Readonly<Record<BigWord, Colour>> = {
  PASSED: "green",
  "FACE NEXT": "cyan",
  REFUSED: "red",
  "NOT READ": "yellow",
};

/** Five rows of a letter, each five dots wide. */
const letters: Readonly<Record<string, readonly string[]>> = {
  " ": ["  ", "  ", "  ", "  ", "  "],
  A: [" ### ", "#   #", "#####", "#   #", "#   #"],
  C: [" ####", "#    ", "#    ", "#    ", " ####"],
  D: ["#### ", "#   #", "#   #", "#   #", "#### "],
  E: ["#####", "#    ", "#### ", "#    ", "#####"],
  F: ["#####", "#    ", "#### ", "#    ", "#    "],
  N: ["#   #", "##  #", "# # #", "#  ##", "#   #"],
  O: [" ### ", "#   #", "#   #", "#   #", " ### "],
  P: ["#### ", "#   #", "#### ", "#    ", "#    "],
  R: ["#### ", "#   #", "#### ", "#  # ", "#   #"],
  S: [" ####", "#    ", " ### ", "    #", "#### "],
  T: ["#####", "  #  ", "  #  ", "  #  ", "  #  "],
  U: ["#   #", "#   #", "#   #", "#   #", " ### "],
  X: ["#   #", " # # ", "  #  ", " # # ", "#   #"],
};

/** The word in large coloured letters, or unchanged without a terminal, colour or enough width. */
export function bigLetters(word: BigWord, style: Style): readonly string[] {
  const hasColour = style.paint("bold", word) !== word;
  const rows = [0, 1, 2, 3, 4].map((row) =>
    [...word].map((letter) => letters[letter]?.[row] ?? letter).join(" "),
  );
  const width = Math.max(...rows.map((row) => row.length));
  if (!hasColour || style.width === null || style.width < width) return [word];
  return ["", ...rows.map((row) => style.paint(colours[word], row.replaceAll("#", "█"))), ""];
}
