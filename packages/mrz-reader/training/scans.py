"""Lines that were scanned from print: a folder of pictures with one line each (NAME-0.tif, NAME-1.tif), and beside each of them what it says (NAME-0.gt.txt). Needs Pillow. Nothing of the pictures is committed.

  scans.py glyphs LINES --out build/scanned.npz     single characters, cut from pictures that have no whole zone: shapes to train on
  make_films.py build/scanned --scans LINES         whole zones, put back on a page and filmed: to measure with

A picture is either measured with or cut, never both, and what says the same as something that is measured with is not cut.
"""

import argparse
import calendar
import hashlib
import itertools
import pathlib
import re

import numpy as np
import torch
import torch.nn.functional as F

import texts

# Twice the cells of make_atlas.py.
CELL_H, CELL_W, CAP = 128, 56, 52
# What a line's outermost characters leave free of their cells, in cells.
BEARING = 0.18
KINDS = {"TD1": texts.TD1, "TD2": texts.TD2, "TD3": texts.TD3}


def labelled(folder):
    """{picture: {number of its line: what it says}}"""
    out = {}
    for path in sorted(pathlib.Path(folder).glob("*.gt.txt")):
        name, number = re.fullmatch(r"(.*)-(\d+)\.gt\.txt", path.name).groups()
        said = path.read_text().strip()
        if re.fullmatch(r"[A-Z0-9<]+", said):
            out.setdefault(name, {})[int(number)] = said
    return out


def agrees(field, digit):
    return texts.check_digit(field) == digit


def exists(date):
    """Whether any century has this day; a specimen's need not. Unknown days and months are left alone."""
    year, month, day = (int(part) if part.isdigit() else 0 for part in (date[:2], date[2:4], date[4:]))
    return month == 0 or (month <= 12 and any(day <= calendar.monthrange(century + year, month)[1] for century in (1900, 2000)))


def is_data_line(t):
    """Of a passport or a card with two lines. A visa has no digits over its optional data and over everything."""
    optional = len(t) == 36 or agrees(t[28:42], t[42]) or t[28:43].strip("<") == ""
    return t[10].isalpha() and exists(t[13:19]) and exists(t[21:27]) and optional and agrees(t[:9], t[9]) and agrees(t[13:19], t[19]) and agrees(t[21:27], t[27]) and agrees(t[:10] + t[13:20] + t[21:-1], t[-1])


def is_card(a, b):
    return re.fullmatch("[A-Z][A-Z<]*", a[2:5]) and b[15].isalpha() and exists(b[:6]) and exists(b[8:14]) and agrees(a[5:14], a[14]) and agrees(b[:6], b[6]) and agrees(b[8:14], b[14]) and agrees(a[5:30] + b[:7] + b[8:15] + b[18:29], b[29])


def zone_of(lines):
    """(shape, numbers of the lines in order; None for a name that is missing), or None where no zone with right check digits is among the lines."""
    def name(length, rest, pattern):
        return next((n for n in rest if len(lines[n]) == length and re.fullmatch(pattern, lines[n])), None)
    if any(t[0] == "V" and len(t) in (36, 44) and t[2:5].isalpha() for t in lines.values()):
        return None
    for n, t in lines.items():
        if len(t) in (36, 44) and is_data_line(t):
            return ("TD3" if len(t) == 44 else "TD2"), [name(len(t), [m for m in lines if m != n], r"[PIAC][A-Z<]{4}[A-Z<]+"), n]
    for n, m in itertools.permutations(lines, 2):
        if len(lines[n]) == len(lines[m]) == 30 and lines[n][0] in "IACP" and is_card(lines[n], lines[m]):
            return "TD1", [n, m, name(30, [k for k in lines if k not in (n, m)], r"[A-Z<]+")]
    return None


def zones(folder):
    """Every zone: {"name", "shape", "files", "lines", "key"}. A name that is missing is taken from another picture."""
    pictures = labelled(folder)
    names = {}
    for picture, lines in pictures.items():
        for number, t in lines.items():
            pattern = r"[A-Z<]+" if len(t) == 30 else r"[PI][A-Z<]{4}[A-Z<]+"
            if re.fullmatch(pattern, t):
                names.setdefault(len(t), []).append((picture, number))
    out = []
    for picture, lines in pictures.items():
        found = zone_of(lines)
        if found is None:
            continue
        shape, numbers = found
        length = len(lines[next(n for n in numbers if n is not None)])
        spare = names[length][int(hashlib.sha1(picture.encode()).hexdigest(), 16) % len(names[length])]
        at = [spare if n is None else (picture, n) for n in numbers]
        said = [pictures[p][n] for p, n in at]
        data = said[0][5:14], said[1][:6], said[1][8:14]
        if shape != "TD1":
            data = said[1][:9], said[1][13:19], said[1][21:27]
        out.append({"name": picture, "shape": shape, "files": [f"{p}-{n}" for p, n in at], "lines": said, "key": data})
    return out


def ink_of(folder, name):
    from PIL import Image
    ink = 1 - np.asarray(Image.open(pathlib.Path(folder) / f"{name}.tif").convert("L"), np.float32) / 255
    columns, rows = np.nonzero(ink.sum(0) > 1)[0], np.nonzero(ink.sum(1) > 0.04 * ink.sum(1).max())[0]
    return torch.from_numpy(ink[rows[0]:rows[-1] + 1, columns[0]:columns[-1] + 1].copy())


def line_strip(ink, characters, as_scanned=False):
    """[CELL_H, characters * CELL_W]: the line on cells. `as_scanned`: as high as it was scanned, which may be squeezed; else with capitals of the usual height."""
    h, w = ink.shape
    wide = (characters - 2 * BEARING) * CELL_W
    tall = min(CELL_H * 0.8, h * wide / w * 0.95) if as_scanned else CAP
    x = (torch.arange(characters * CELL_W) + 0.5 - BEARING * CELL_W) / wide * 2 - 1
    y = (torch.arange(CELL_H) + 0.5 - CELL_H / 2) / tall * 2
    grid = torch.stack(torch.meshgrid(x, y, indexing="xy"), -1)[None]
    return F.grid_sample(ink[None, None], grid, align_corners=False)[0, 0]


def zone_strip(folder, zone, as_scanned=False):
    """[1, 3 * CELL_H, 44 * CELL_W], as `page` of render.py lays out its text."""
    out = torch.zeros(3 * CELL_H, 44 * CELL_W)
    for line, (name, said) in enumerate(zip(zone["files"], zone["lines"])):
        out[line * CELL_H:(line + 1) * CELL_H, :len(said) * CELL_W] = line_strip(ink_of(folder, name), len(said), as_scanned)
    return out[None]


# ---- single characters ----

def path_of(logs, label, blank):
    """Where each character is read: the best way through the lattice of CTC, [steps, classes] to the middle step of each. And its cost a character."""
    states = [blank]
    for c in label:
        states += [c, blank]
    states = np.array(states)
    score, back = np.full(len(states), -np.inf), np.zeros((len(logs), len(states)), np.int64)
    score[:2] = logs[0, states[:2]]
    # A gap may be left out between two characters that differ.
    skips = np.array([s >= 2 and states[s] != blank and states[s] != states[s - 2] for s in range(len(states))])
    for t in range(1, len(logs)):
        ways = np.stack([score, np.r_[-np.inf, score[:-1]], np.where(skips, np.r_[-np.inf, -np.inf, score[:-2]], -np.inf)])
        back[t] = ways.argmax(0)
        score = ways.max(0) + logs[t, states]
    at = len(states) - 1 if score[-1] >= score[-2] else len(states) - 2
    cost, steps = -score[at] / len(label), [[] for _ in label]
    for t in range(len(logs) - 1, -1, -1):
        if states[at] != blank:
            steps[at // 2].append(t)
        at -= back[t, at]
    return [float(np.mean(s)) if s else None for s in steps], cost


@torch.no_grad()
def cut(net, ink, said):
    """[(class, [CELL_H, CELL_W])] of one line; none where the network cannot follow what it says."""
    strip = line_strip(ink, len(said))
    margin = F.pad(strip[None, None], (CELL_W, CELL_W))
    seen = F.interpolate(margin[:, :, 5:-5], (32, (len(said) + 2) * 12), mode="area")
    seen = 0.85 - 0.75 * F.avg_pool2d(seen, 3, 1, 1)
    seen = (seen - seen.mean()) / (seen.std(unbiased=False) + 0.02)
    logs = net(seen)[0][0, :, 0].log_softmax(0).T.double().numpy()
    label = [texts.ALPHABET.index(c) for c in said]
    steps, cost = path_of(logs, label, 37)
    if cost > 1.2 or any(s is None for s in steps):
        return []
    middles = [((s + 0.5) * 4 - 12) / 12 * CELL_W for s in steps]
    # The cut between two characters is where there is least ink near the middle.
    # A character that touches its neighbour there is left out.
    filled = strip.sum(0)
    def gap(near):
        low, high = max(0, int(near - CELL_W / 3)), min(len(filled), int(near + CELL_W / 3))
        way = (torch.arange(low, high) - near).abs() / CELL_W
        at = low + int((filled[low:high] + way).argmin())
        return at, float(filled[at]) < 1
    gaps = [(0, True), *(gap((a + b) / 2) for a, b in zip(middles, middles[1:])), (strip.shape[1], True)]
    boxes = []
    for (left, is_free), (right, is_free_too) in zip(gaps, gaps[1:]):
        part = strip[:, left:right]
        columns, rows = (part.sum(0) > 1).nonzero()[:, 0], (part.sum(1) > 1).nonzero()[:, 0]
        if not (is_free and is_free_too) or right - left < 20 or len(columns) == 0 or len(rows) == 0:
            boxes.append(None)
            continue
        boxes.append((left + int(columns[0]), left + int(columns[-1]) + 1, int(rows[0]), int(rows[-1]) + 1))
    capitals = [(n, b) for n, b in enumerate(boxes) if b is not None and said[n] != "<"]
    if len(capitals) < 5:
        return []
    height = float(np.median([b[3] - b[2] for _, b in capitals]))
    slope, offset = np.polyfit([n for n, _ in capitals], [(b[2] + b[3]) / 2 for _, b in capitals], 1)
    out, by = [], height / CAP
    for n, box in enumerate(boxes):
        if box is None or (said[n] != "<" and not 0.8 < (box[3] - box[2]) / height < 1.25) or box[1] - box[0] > CELL_W:
            continue
        alone = torch.zeros_like(strip)
        alone[:, box[0]:box[1]] = strip[:, box[0]:box[1]]
        x = (torch.arange(CELL_W) + 0.5 - CELL_W / 2 + (box[0] + box[1]) / 2) / strip.shape[1] * 2 - 1
        y = ((torch.arange(CELL_H) + 0.5 - CELL_H / 2) * by + offset + slope * n) / CELL_H * 2 - 1
        grid = torch.stack(torch.meshgrid(x, y, indexing="xy"), -1)[None].float()
        out.append((label[n], F.grid_sample(alone[None, None], grid, align_corners=False)[0, 0]))
    return out


def cut_all(folder, net):
    """glyphs [n, 64, 28] with ink as 255, their classes, and how heavy the print of their line is (1 is usual)."""
    measured = zones(folder)
    names, said = {z["name"] for z in measured} | {f.rsplit("-", 1)[0] for z in measured for f in z["files"]}, {t for z in measured for t in z["lines"]}
    glyphs, classes, line_of = [], [], []
    lines = [(p, n, t) for p, of in labelled(folder).items() if p not in names and not said & set(of.values()) for n, t in of.items() if len(t) >= 12]
    for count, (picture, number, t) in enumerate(lines):
        # Of fillers, which are half of everything, a few of each line.
        fillers = 0
        for c, glyph in cut(net, ink_of(folder, f"{picture}-{number}"), t):
            fillers += c == texts.FILLER
            if c != texts.FILLER or fillers < 4:
                glyphs.append(F.avg_pool2d(glyph[None, None], 2)[0, 0]), classes.append(c), line_of.append(count)
    glyphs, classes, line_of = torch.stack(glyphs), np.array(classes), np.array(line_of)
    # Much narrower or wider than others of its class: a piece of it, or something else.
    widths = (glyphs.amax(1) > 0.3).sum(1).numpy()
    middle = np.array([np.median(widths[classes == c]) if (classes == c).any() else 1 for c in range(37)])[classes]
    kept = (widths > 0.7 * middle) & (widths < 1.4 * middle)
    glyphs, classes, line_of = glyphs[torch.from_numpy(kept)], classes[kept], line_of[kept]
    area = glyphs.sum((1, 2)).numpy()
    usual = np.array([np.median(area[classes == c]) if (classes == c).any() else 1 for c in range(37)])
    own = area / usual[classes]
    weight = np.array([np.median(own[line_of == n]) for n in line_of])
    print(len(lines), "lines,", len(set(line_of)), "cut,", len(glyphs), "characters", np.bincount(classes, minlength=37).tolist(), flush=True)
    return (glyphs * 255).round().byte().numpy(), classes, weight


def main():
    import export
    parser = argparse.ArgumentParser()
    parser.add_argument("job", choices=["glyphs"])
    parser.add_argument("lines")
    parser.add_argument("--out", default="build/scanned.npz")
    args = parser.parse_args()
    glyphs, classes, weight = cut_all(args.lines, export.shipped()["read"])
    np.savez_compressed(args.out, glyphs=glyphs, classes=classes, weight=weight)


if __name__ == "__main__":
    main()
