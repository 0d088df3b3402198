"""Draws the glyphs and the clutter that training and evaluation are rendered from.

Needs Pillow and the fonts of the Debian packages named in README.md; everything after this step needs NumPy and PyTorch only.
No font is shipped: the result goes into the ignored folder `build/`.
"""

import argparse
import math
import multiprocessing
import pathlib
import random

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ<"
# One cell is one character pitch wide (2.54 mm) and one line pitch high (6.1 mm).
CELL_W, CELL_H = 28, 64
CAP_PIXELS = 26
VARIANTS = 6
DEBIAN = "/usr/share/fonts/"
TEXLIVE = "/usr/share/texlive/texmf-dist/fonts/opentype/public/"
# (file, share of the text, use). "held" and "foreign" faces are never trained on: "held" are designs of OCR-B,
# the font of documents, "foreign" are others.
FACES = [
    (DEBIAN + "opentype/ocr-b/OCRB.otf", 0.34, "train"),
    # Drawn lines in a design of OCR-B with round ends, cut by scans.py; see README.md.
    ("build/generated.npz", 0.34, "train"),
    (DEBIAN + "opentype/ocr-b/OCRBS.otf", 0.34, "train"),
    # The oblique one is drawn upright again by a random shear, see `variant`.
    (DEBIAN + "opentype/ocr-b/OCRBL.otf", 0.28, "train"),
    (DEBIAN + "truetype/ocr-a/OCRA.ttf", 0.02, "train"),
    (DEBIAN + "truetype/liberation/LiberationMono-Regular.ttf", 0.02, "train"),
    (DEBIAN + "truetype/liberation/LiberationMono-Bold.ttf", 0.03, "train"),
    (DEBIAN + "truetype/dejavu/DejaVuSansMono.ttf", 0.02, "train"),
    (DEBIAN + "truetype/dejavu/DejaVuSansMono-Bold.ttf", 0.02, "train"),
    (DEBIAN + "truetype/dejavu/DejaVuSans-Bold.ttf", 0.02, "train"),
    (DEBIAN + "truetype/dejavu/DejaVuSansCondensed-Bold.ttf", 0.02, "train"),
    (TEXLIVE + "fira/FiraMono-Regular.otf", 0.02, "train"),
    (TEXLIVE + "fira/FiraMono-Medium.otf", 0.02, "train"),
    (TEXLIVE.replace("public", "adobe") + "sourcecodepro/SourceCodePro-Semibold.otf", 0.03, "train"),
    (DEBIAN + "truetype/inconsolata/Inconsolata.otf", 0.02, "train"),
    (DEBIAN + "opentype/courier-prime/Courier Prime Bold.otf", 0.02, "train"),
    (DEBIAN + "opentype/courier-prime/Courier Prime Sans.otf", 0.02, "train"),
    (DEBIAN + "fonts-go/Go-Mono.ttf", 0.02, "train"),
    (DEBIAN + "truetype/agave/agave-r-autohinted.ttf", 0.02, "train"),
    (DEBIAN + "opentype/league-mono/LeagueMono-Regular.otf", 0.02, "train"),
    ("/usr/share/texmf/fonts/opentype/public/lm/lmmonolt10-bold.otf", 0.02, "train"),
    (DEBIAN + "truetype/anonymous-pro/Anonymous Pro B.ttf", 0.02, "train"),
    (DEBIAN + "truetype/hack/Hack-Regular.ttf", 0.02, "train"),
    (DEBIAN + "truetype/mononoki/mononoki-Bold.ttf", 0.02, "train"),
    (DEBIAN + "truetype/firacode/FiraCode-Medium.ttf", 0.02, "train"),
    (DEBIAN + "truetype/jetbrains-mono/JetBrainsMono-Medium.ttf", 0.03, "train"),
    (TEXLIVE + "ocr-b-outline/ocrb10.otf", 0.5, "held"),
    # Of the npm package bwip-js, put here by hand.
    ("build/OCRB7.ttf", 0.5, "held"),
    (DEBIAN + "truetype/noto/NotoSansMono-Bold.ttf", 0.5, "foreign"),
    (DEBIAN + "opentype/b612/B612Mono-Regular.otf", 0.5, "foreign"),
]
TEXT_FACES = [
    DEBIAN + "truetype/dejavu/DejaVuSans.ttf",
    DEBIAN + "truetype/liberation/LiberationSans-Regular.ttf",
    DEBIAN + "truetype/liberation/LiberationSerif-Regular.ttf",
    DEBIAN + "truetype/liberation/LiberationSans-Bold.ttf",
    DEBIAN + "truetype/liberation/LiberationMono-Regular.ttf",
    DEBIAN + "truetype/dejavu/DejaVuSansMono.ttf",
]


def thickened(ink, by):
    """The most (or, below zero, the least) of a square around each pixel, one axis after the other."""
    pick, n = (np.maximum, by) if by > 0 else (np.minimum, -by)
    for axis in (0, 1):
        out = ink
        for shift in range(-n, n + 1):
            out = pick(out, np.roll(ink, shift, axis))
        ink = out
    return ink


def glyphs_of(path, seed):
    """[VARIANTS, 37, CELL_H, CELL_W], ink as 255. All glyphs of a variant share size and baseline."""
    scale, dice = 4, random.Random(seed)
    cut = cut_glyphs(path, scale) if path.endswith(".npz") else None
    if cut is None:
        font = ImageFont.truetype(path, 200)
        left, top, right, bottom = font.getbbox("H", anchor="ls")
        size = 200 * CAP_PIXELS * scale / (bottom - top)
        advance = font.getlength("0") * size / 200
    else:
        advance = CELL_W * scale
    out = np.zeros((VARIANTS, len(ALPHABET), CELL_H, CELL_W), np.uint8)
    for v in range(VARIANTS):
        stretch = dice.uniform(0.92, 1.08)
        font = None if cut is not None else ImageFont.truetype(path, int(size * stretch))
        # Proportions differ between printers; no glyph may leave its cell.
        squeeze = min(1.12, max(0.8, dice.uniform(0.93, 1.07) * CELL_W * scale / (advance * stretch)))
        shear = dice.uniform(-0.05, 0.05)
        if path.endswith("OCRBL.otf"):
            shear -= dice.choice([0.0, 0.19, 0.19, 0.19])
        weight = dice.choice([-1, 0, 0, 1, 2]) * 2
        for c, letter in enumerate(ALPHABET):
            w, h = CELL_W * scale, CELL_H * scale
            big = Image.new("L", (w * 2, h), 0)
            if cut is None:
                ImageDraw.Draw(big).text((w, h // 2 + CAP_PIXELS * scale * stretch / 2), letter, font=font, fill=255, anchor="ms")
            else:
                glyph = cut[c].resize((round(w * stretch), round(h * stretch)), Image.Resampling.BILINEAR)
                big.paste(glyph, (w - glyph.width // 2, h // 2 - glyph.height // 2))
            big = Image.fromarray(thickened(np.asarray(big), weight))
            jx, jy = dice.uniform(-3, 3), dice.uniform(-3, 3)
            # Output to input: undo squeeze and shear around the middle of the cell.
            a = 1 / squeeze
            matrix = (a, shear, w - a * w / 2 - shear * h / 2 + jx, 0, 1, jy)
            cell = big.transform((w, h), Image.Transform.AFFINE, matrix, Image.Resampling.BILINEAR)
            out[v, c] = np.asarray(cell.resize((CELL_W, CELL_H), Image.Resampling.BOX))
    return out


def cut_glyphs(path, scale):
    """Of characters that scans.py has cut from lines in one face: of each the one of middle weight."""
    data, out = np.load(path), []
    for c in range(len(ALPHABET)):
        found = data["glyphs"][data["classes"] == c]
        one = found[np.argsort(found.sum((1, 2), dtype=np.int64), kind="stable")[len(found) // 2]]
        out.append(Image.fromarray(one).resize((CELL_W * scale, CELL_H * scale), Image.Resampling.BICUBIC))
    return out


WORDS = ("SURNAME GIVEN NAMES NATIONALITY DATE OF BIRTH SEX PLACE AUTHORITY HOLDER SIGNATURE REPUBLIC KINGDOM IDENTITY CARD PASSPORT "
         "DRIVING LICENCE ADDRESS TELEPHONE TOTAL INVOICE order the of and to in is that for it was on are with as his they at be this "
         "from have or by one had not but what all were when we there can an your which their said if do will each about how up out").split()


def words(dice, count):
    def one():
        r = dice.random()
        if r < 0.25:
            return str(dice.randrange(10 ** dice.randrange(1, 9)))
        if r < 0.35:
            return "".join(dice.choice(ALPHABET[:36]) for _ in range(dice.randrange(3, 12)))
        return dice.choice(WORDS)
    return " ".join(one() for _ in range(count))


def clutter(seed, w=500, h=352):
    """Something that has no machine readable zone: the upper part of a data page, a letter, a card, a keyboard, a picture."""
    dice = random.Random(seed)
    paper = dice.randrange(120, 250)
    image = Image.new("L", (w, h), paper)
    draw = ImageDraw.Draw(image)
    kind = dice.choice(["page"] * 7 + ["letter", "letter", "listing", "card", "keys", "shapes", "barcode"])
    ink = dice.randrange(0, max(1, paper - 80))
    def font(size, faces=TEXT_FACES):
        return ImageFont.truetype(dice.choice(faces), size)
    if kind in ("page", "card"):
        if dice.random() < 0.7:
            px, pw = dice.randrange(8, 60), dice.randrange(90, 150)
            py, ph = dice.randrange(20, 110), dice.randrange(110, 190)
            draw.rectangle((px, py, px + pw, py + ph), fill=dice.randrange(80, 255))
            draw.ellipse((px + pw * 0.2, py + ph * 0.5, px + pw * 0.8, py + ph * 1.3), fill=dice.randrange(0, 200))
            draw.ellipse((px + pw * 0.28, py + ph * 0.1, px + pw * 0.72, py + ph * 0.68), fill=dice.randrange(60, 240))
            draw.rectangle((px, py + ph, px + pw, h), fill=paper)
        y = dice.randrange(4, 20)
        draw.text((dice.randrange(10, 160), y), words(dice, 3), font=font(dice.randrange(12, 26)), fill=ink)
        x = dice.randrange(150, 240)
        y += 34
        while y < h - 14:
            draw.text((x, y), words(dice, 2), font=font(dice.randrange(6, 9)), fill=min(255, ink + 40))
            draw.text((x, y + 9), words(dice, dice.randrange(1, 4)), font=font(dice.randrange(10, 15)), fill=ink)
            y += dice.randrange(22, 34)
        if kind == "card":
            draw.text((20, h * 0.6), "".join(dice.choice("0123456789 ") for _ in range(22)), font=font(28), fill=ink)
    elif kind == "letter":
        size = dice.randrange(7, 16)
        f = font(size)
        y = 10
        while y < h:
            if dice.random() < 0.9:
                draw.text((12, y), words(dice, dice.randrange(4, 20)), font=f, fill=ink)
            y += size + dice.randrange(2, 5)
    elif kind == "listing":
        size = dice.randrange(9, 22)
        f = font(size, TEXT_FACES[4:])
        y = 6
        while y < h:
            line = "".join(dice.choice(ALPHABET + "<<<<  ") for _ in range(dice.randrange(4, 60)))
            if dice.random() < 0.6:
                line = words(dice, dice.randrange(1, 9))
            draw.text((6 + dice.randrange(4) * 12, y), line, font=f, fill=ink)
            y += int(size * dice.uniform(1.1, 1.8))
    elif kind == "keys":
        side = dice.randrange(22, 46)
        for gx in range(0, w, side):
            for gy in range(0, h, side):
                draw.rounded_rectangle((gx + 2, gy + 2, gx + side - 3, gy + side - 3), 4, fill=dice.randrange(20, 70), outline=10)
                draw.text((gx + side // 3, gy + side // 4), dice.choice(ALPHABET), font=font(side // 2), fill=220)
    elif kind == "barcode":
        for band in range(dice.randrange(1, 4)):
            x, y = dice.randrange(0, 60), dice.randrange(0, h - 60)
            bh = dice.randrange(12, 60)
            while x < w - 20:
                bw = dice.randrange(1, 6)
                draw.rectangle((x, y, x + bw, y + bh), fill=0)
                x += bw + dice.randrange(1, 6)
    else:
        for _ in range(dice.randrange(8, 60)):
            x, y = dice.randrange(w), dice.randrange(h)
            box = (x, y, x + dice.randrange(3, 160), y + dice.randrange(3, 120))
            shape = dice.choice([draw.ellipse, draw.rectangle])
            shape(box, fill=dice.randrange(256))
    if kind != "shapes" and dice.random() < 0.3:
        for _ in range(dice.randrange(20)):
            y = dice.randrange(h)
            draw.line((0, y, w, y + dice.randrange(-6, 6)), fill=dice.randrange(80, 230), width=dice.randrange(1, 3))
    return np.asarray(image.filter(ImageFilter.GaussianBlur(0.4)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="build/atlas.npz")
    args = parser.parse_args()
    found = [(index, face) for index, face in enumerate(FACES) if pathlib.Path(face[0]).exists()]
    print("not here, and left out:", [path for path, _, _ in FACES if not pathlib.Path(path).exists()])
    with multiprocessing.Pool(4) as workers:
        faces = workers.starmap(glyphs_of, [(path, index) for index, (path, _, _) in found], 1)
        train = workers.map(clutter, [1000 + i for i in range(56)], 4)
        held = workers.map(clutter, [900_000 + i for i in range(40)], 4)
    out = pathlib.Path(args.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        out,
        glyphs=np.stack(faces),
        share=np.array([share for _, (_, share, _) in found], np.float32),
        use=np.array([use for _, (_, _, use) in found]),
        names=np.array([pathlib.Path(path).name for _, (path, _, _) in found]),
        clutter=np.stack(train),
        clutter_held=np.stack(held),
    )
    print(out, out.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
