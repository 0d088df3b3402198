"""Writes packages/emrtd/src/virtual/ocr-b-outlines.ts: the outlines of the zone's 37 characters, from the free OCR-B (Debian package fonts-ocr-b, public domain).

Needs fontTools. The outlines draw the data pages of test documents; no font is shipped.
"""

from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTFont

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ<"


def main():
    font = TTFont("/usr/share/fonts/opentype/ocr-b/OCRB.otf")
    glyphs, names = font.getGlyphSet(), font.getBestCmap()
    advance = glyphs[names[ord("0")]].width
    # One character is 100 wide, and y goes down from the base line.
    f = 100 / advance
    rows = []
    for letter in ALPHABET:
        pen = SVGPathPen(glyphs, ntos=lambda v: str(round(v)))
        glyphs[names[ord(letter)]].draw(TransformPen(pen, (f, 0, 0, -f, 0, 0)))
        key = letter if letter.isalpha() else f'"{letter}"'
        rows.append(f'  {key}: "{pen.getCommands()}",')
    with open("../../emrtd/src/virtual/ocr-b-outlines.ts", "w") as out:
        out.write("// Written by training/make_outlines.py.\n\n")
        out.write("/** The outline of each character of the zone in OCR-B, 100 wide, y downwards from the base line. Drawn after the font of Matthew Skala and Norbert Schwarz, which is in the public domain. */\n")
        out.write("export const ocrBOutlines: Readonly<Record<string, string>> = {\n" + "\n".join(rows) + "\n};\n")


if __name__ == "__main__":
    main()
