"""Draws films of invented documents, for the page's own code to be measured on: `npm run mrz-eval -- FOLDER` reads what this writes. A film is a folder with its frames, `lines.txt` with what the zone says, and
`truth.json` with where it is in each frame, what fingers cover and how well the document is printed (`legibility` in render.py); `truth.json` is written last. Needs no GPU: about a fifth of a second for a frame on one core. With one,
and --batch 32, it is the disk that takes the time.

  make_films.py build/films --films 100 --seed 71000000          documents in faces of OCR-B that were never trained on, so many at each level
  make_films.py build/films --films 100 --contrast 0.6            only documents with the contrast that ICAO 9303-3 asks for: of so many drawn pages those that have it
  make_films.py build/foreign --films 100 --faces foreign        in faces that are not OCR-B
  make_films.py build/none --films 100 --without                 pages without a zone
  make_films.py build/scanned --scans LINES --levels easy medium   zones of scanned lines, put back on a page, see scans.py; --as-scanned: no line is stretched to the usual height
"""

import argparse
import concurrent.futures
import json
import pathlib
import struct
import zlib

import torch

import scans
import texts
from render import PAGE_MM, Renderer, apply
from train import Texts


LEVELS = {"easy": 0.2, "medium": 0.5, "hard": 0.8}
FRAME = (960, 1280)


def drift(renderer, pose, x, amount):
    """The next frame of a video: a hand that moves a little, an autofocus that hunts, glare that wanders; a finger and the wear of the print stay."""
    b = len(pose["angle"])
    for name, by in (("angle", 0.012), ("rx", 0.03), ("ry", 0.03), ("px", 0.05), ("py", 0.05)):
        pose[name] = pose[name] + renderer.n((b,)) * by * amount
    pose["px"], pose["py"] = pose["px"].clamp(0, 1), pose["py"].clamp(0, 1)
    pose["scale"] = pose["scale"] * (1 + renderer.n((b,)) * 0.015 * amount)


def carry(renderer, old, new):
    """What stays from frame to frame comes from the old one, what changes from the new; glare moves on from where it was."""
    b = len(new["soft"])
    out = dict(new)
    for name in ("bow", "light", "level", "gamma", "shadow", "shadow_line", "hologram", "finger", "finger_radius", "finger_from", "finger_to", "finger_reach", "skin", "noise", "jpeg", "back", "back_map", "glare"):
        out[name] = old[name]
    out["soft"] = (old["soft"] * 0.6 + new["soft"] * 0.4)
    out["glare_at"] = old["glare_at"].clone()
    out["glare_at"][:, :2] += renderer.n((b, 2)) * 40
    out["hologram_at"] = old["hologram_at"].clone()
    out["hologram_at"][:, 5] += renderer.n((b,)) * 0.8
    return out


def print_of(g, kinds):
    """How well each document is printed at its worst, in the lines that hold the key: {"contrast", "missing"}, see `legibility` in render.py."""
    out = {"contrast": [], "missing": []}
    for name, pick in (("contrast", min), ("missing", max)):
        for rows, kind in zip(g[name].cpu().tolist(), kinds.tolist()):
            lines, chars, *_ = texts.SHAPES[kind]
            out[name].append(pick(rows[line][at] for line in range(lines) if line != texts.NAME_LINE[texts.SHAPE_OF[kind]] for at in range(chars)))
    return out


def write_png(path, picture, effort):
    """Grey, rows as they are: choosing how to write each of them takes longer than drawing the frame."""
    h, w = picture.shape
    rows = torch.cat([torch.zeros(h, 1, dtype=torch.uint8), picture], 1).numpy().tobytes()
    def part(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 0, 0, 0, 0)) + part(b"IDAT", zlib.compress(rows, effort)) + part(b"IEND", b""))


class Scanned(Renderer):
    """Prints scanned lines instead of glyphs."""

    def ink(self, strip, d):
        return self.strips


class Zones:
    """Scanned zones, as `Texts` has invented ones."""

    def __init__(self, args, renderer, batch):
        chosen = args.zones[batch * args.batch:(batch + 1) * args.batch]
        self.names = [zone["name"] for zone in chosen]
        self.kinds = torch.tensor([scans.KINDS[zone["shape"]] for zone in chosen], device=renderer.device)
        self.text = torch.stack([torch.from_numpy(texts.encode(zone["lines"])) for zone in chosen]).to(renderer.device)
        self.keys = [zone["key"] for zone in chosen]
        renderer.strips = torch.stack([scans.zone_strip(args.scans, zone, args.as_scanned) for zone in chosen]).to(renderer.device)


@torch.no_grad()
def draw(args, renderer, writers, name, level, batch):
    """One batch by itself: the same seed draws the same films, however many are drawn around them."""
    folders = [args.out / f"{name}-{batch * args.batch + i:04d}" for i in range(args.batch)]
    if all((folder / "truth.json").exists() for folder in folders):
        return
    device, seed = renderer.device, args.seed + int(level * 100) * 10_000 + batch
    renderer.random.manual_seed(seed)
    pool = Zones(args, renderer, batch) if args.scans else Texts(seed, args.batch, device, held=True, scramble=0, visas=0)
    count = len(pool.kinds)
    d = torch.full((count,), level, device=device)
    page, g = renderer.page(pool.text, pool.kinds, d, 8, PAGE_MM, torch.zeros(count, device=device) if args.without else None, measure=True)
    prints = print_of(g, pool.kinds)
    chosen = [i for i, contrast in enumerate(prints["contrast"]) if args.contrast == 0 or contrast >= args.contrast]
    if not chosen:
        return
    at = torch.tensor(chosen, device=device)
    page, d, g = page[at], d[at], {key: value[at] if torch.is_tensor(value) else value for key, value in g.items()}
    turn = torch.where(renderer.u(len(chosen)) < 0.7, torch.zeros(len(chosen), dtype=torch.long, device=device), renderer.pick(len(chosen), 4))
    pose, x, truth, written = renderer.pose(g, d, FRAME, turn=turn), None, [[] for _ in chosen], []
    for i in chosen:
        folders[i].mkdir(parents=True, exist_ok=True)
    for number in range(args.frames):
        m = renderer.homography(g, pose, FRAME)
        corners = renderer.zone_corners(g)
        new = renderer.nuisance(g, d, renderer.local_scale(m, corners), FRAME)
        x = new if x is None else carry(renderer, x, new)
        seen, covered = renderer.shoot(page, g, m, x, FRAME)
        pictures, places, covered = (seen[:, 0] * 255).round().byte().cpu(), apply(m, corners).cpu(), covered.cpu()
        for n, i in enumerate(chosen):
            written.append(writers.submit(write_png, folders[i] / f"{number:02d}.png", pictures[n], args.effort))
            truth[n].append({"corners": [[round(float(v), 2) for v in point] for point in places[n]], "covered": covered[n].nonzero().tolist()})
        drift(renderer, pose, x, 1.0)
    for one in written:
        one.result()
    for n, i in enumerate(chosen):
        size = texts.SHAPES[int(pool.kinds[i])]
        lines = ["".join(texts.ALPHABET[c] for c in row[:size[1]]) for row in pool.text[i, :size[0]].tolist()]
        (folders[i] / "lines.txt").write_text("" if args.without else "\n".join(lines) + "\n")
        shape = ("TD1", "TD2", "TD3")[texts.SHAPE_OF[int(pool.kinds[i])]]
        said = {"level": name, "shape": shape, "picture": pool.names[i] if args.scans else None, "lines": lines, "key": pool.keys[i], **{key: round(values[i], 3) for key, values in prints.items()}, "frames": truth[n]}
        (folders[i] / "truth.json").write_text(json.dumps(said, separators=(",", ":")) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--atlas", default="build/atlas.npz")
    parser.add_argument("--films", type=int, default=96, help="for each level; rounded up to whole batches")
    parser.add_argument("--frames", type=int, default=10)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--seed", type=int, default=71_000_000)
    parser.add_argument("--levels", nargs="*", default=list(LEVELS), choices=list(LEVELS))
    parser.add_argument("--faces", default="held", choices=["train", "held", "foreign"])
    parser.add_argument("--contrast", type=float, default=0.0, help="documents with less are left out")
    parser.add_argument("--effort", type=int, default=1, help="to make the pictures small, from 0 to 9")
    parser.add_argument("--scans", help="a folder of scanned lines: their zones are filmed instead of invented ones")
    parser.add_argument("--as-scanned", action="store_true", help="leave scanned lines as high as they are")
    parser.add_argument("--without", action="store_true", help="pages that have no zone")
    args = parser.parse_args()
    torch.set_num_threads(1)
    renderer = (Scanned if args.scans else Renderer)(args.atlas, "cuda" if torch.cuda.is_available() else "cpu", args.seed, args.faces)
    if args.scans:
        args.zones = scans.zones(args.scans)
        args.films = len(args.zones)
    # All levels in turn, so that whatever is there when time ends can be used.
    with concurrent.futures.ThreadPoolExecutor(4) as writers:
        for batch in range(-(-args.films // args.batch)):
            for name in args.levels:
                draw(args, renderer, writers, name, LEVELS[name], batch)
                print(name, (batch + 1) * args.batch, flush=True)


if __name__ == "__main__":
    main()
