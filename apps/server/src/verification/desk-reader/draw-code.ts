const quietModules = 2;
/** Upper and lower half of a character, each light or dark. Drawn parts are light, as terminals are dark. */
const halves = { "00": "█", "01": "▀", "10": "▄", "11": " " } as const;

/** A text as a code for a camera (QR code), in lines for a terminal, and the text itself below. */
export async function drawCode(text: string): Promise<readonly string[]> {
  // Loaded here, because every other command does without it.
  const { default: qrcode } = await import("qrcode-generator");
  const code = qrcode(0, "L");
  code.addData(text, "Byte");
  code.make();
  const count = code.getModuleCount();
  const isDark = (row: number, column: number) =>
    row >= 0 && column >= 0 && row < count && column < count && code.isDark(row, column);
  const lines: string[] = [];
  for (let row = -quietModules; row < count + quietModules; row += 2) {
    let line = "";
    for (let column = -quietModules; column < count + quietModules; column++)
      line += halves[`${isDark(row, column) ? 1 : 0}${isDark(row + 1, column) ? 1 : 0}`];
    lines.push(line);
  }
  return [...lines, text];
}
