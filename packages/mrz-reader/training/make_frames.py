"""Writes the frames of test/frames: pictures of invented documents in a face that was never trained on, for the tests of the page's code. Needs Pillow."""

import json
import pathlib

import torch
from PIL import Image

import texts
from render import PAGE_MM, Renderer

OUT = pathlib.Path("../test/frames")
FRAMES = [("passport", texts.TD3, 0, 0.35), ("card", texts.TD1, 0, 0.35), ("permit", texts.TD2, 0, 0.4), ("turned", texts.TD3, 1, 0.3),
          ("upside-down", texts.TD1, 2, 0.3), ("visa", texts.MRVA, 0, 0.3), ("no-zone", None, 0, 0.3)]


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    renderer = Renderer("build/atlas.npz", "cpu", 4, "held")
    dice = __import__("random").Random(77)
    out = {}
    for name, kind, turn, level in FRAMES:
        lines, key = texts.document(dice, texts.TD3 if kind is None else kind, held=True)
        text = torch.from_numpy(texts.encode(lines))[None]
        kinds = torch.tensor([texts.TD3 if kind is None else kind])
        d = torch.tensor([level])
        page, g = renderer.page(text, kinds, d, 8, PAGE_MM, torch.tensor([kind is not None]), face=torch.tensor([0]))
        frame = (960, 1280)
        pose = renderer.pose(g, d, frame, turn=torch.tensor([turn]))
        m = renderer.homography(g, pose, frame)
        x = renderer.nuisance(g, d, renderer.local_scale(m, renderer.zone_corners(g)), frame)
        x["finger"] = x["finger"] * 0
        seen, _ = renderer.shoot(page, g, m, x, frame)
        Image.fromarray((seen[0, 0] * 255).byte().numpy()).save(OUT / f"{name}.jpg", quality=72)
        out[name] = {"lines": None if kind is None else lines, "key": key}
    (OUT / "frames.json").write_text(json.dumps(out, indent=2) + "\n")


if __name__ == "__main__":
    main()
