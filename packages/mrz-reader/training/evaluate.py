"""Tables on documents, names and faces that were never trained on.

  evaluate.py video --documents 2000        key read a frame, and within two seconds (ten frames that belong together)
  evaluate.py wrong --documents 100000      wrong keys accepted, three frames a document
  evaluate.py none  --pictures 10000        keys accepted, and zones seen, where there is no zone
"""

import argparse
import json
import math
import multiprocessing
import time

import torch

import decode
import pipeline
import train
from networks import COARSE, READ, REFINE, Network
from render import PAGE_MM, Renderer, apply
from train import Texts

LEVELS = {"easy": 0.2, "medium": 0.5, "hard": 0.8}
FRAME = (960, 1280)
TOP = 8


def wilson(right, count):
    if count == 0:
        return (0.0, 1.0)
    z, p = 1.96, right / count
    middle = (p + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(p * (1 - p) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return max(0.0, middle - half), min(1.0, middle + half)


def load(args, device):
    nets = {"coarse": Network(COARSE), "refine": Network(REFINE), "read": Network(READ)}
    for path in (args.coarse, args.zone):
        for name, state in torch.load(path, map_location=device, weights_only=True)["ema"].items():
            nets[name].load_state_dict(state)
    if args.int8:
        import export
        for net in nets.values():
            export.round_weights(net)
    for net in nets.values():
        net.to(device, memory_format=torch.channels_last).eval()
    return nets


def segments_of(logs):
    """[n, 38, t] to the best characters and their shares for each segment of each line, on the device."""
    n, _, t = logs.shape
    p = logs.exp()
    path = logs.argmax(1)
    before = torch.cat([torch.full((n, 1), -1, device=path.device), path[:, :-1]], 1)
    begins = (path != before) & (path != pipeline.BLANK)
    index = begins.cumsum(1)
    index = torch.where(path == pipeline.BLANK, torch.zeros_like(index), index).clamp(max=60)
    shares = torch.zeros(n, 61, 37, device=logs.device).scatter_add_(1, index[:, :, None].expand(-1, -1, 37), p[:, :37].transpose(1, 2))
    shares = shares[:, 1:] / shares[:, 1:].sum(2, keepdim=True).clamp(min=1e-9)
    value, which = shares.topk(TOP, dim=2)
    return begins.sum(1).clamp(max=60), value, which


@torch.no_grad()
def look(nets, frame):
    """What one frame gives: for the two likeliest shapes, the segments of its lines."""
    return packed(nets, frame, pipeline.find_zone(nets["coarse"], nets["refine"], frame))


def packed(nets, frame, found):
    shape = found["shape"][:, :3].argmax(1)
    logs = pipeline.read_zone(nets["read"], frame, found["quad"], shape)
    count, value, which = segments_of(logs.flatten(0, 1))
    zone = (found["score"] > 0) & (found["shape"].argmax(1) != 3)
    b = len(frame)
    return {
        "zone": zone.cpu().numpy(), "shape": shape.cpu().numpy(), "count": count.view(b, 3).cpu().numpy(),
        "value": value.view(b, 3, 60, TOP).half().cpu().numpy(), "which": which.view(b, 3, 60, TOP).to(torch.uint8).cpu().numpy(), "quad": found["quad"].cpu().numpy(),
    }


def decide_batch(seen):
    value, which = seen["value"].astype("float32").tolist(), seen["which"].tolist()
    out = []
    for i, (zone, shape, counts) in enumerate(zip(seen["zone"].tolist(), seen["shape"].tolist(), seen["count"].tolist())):
        if not zone:
            out.append(None)
            continue
        segments = [[dict(zip(which[i][l][k], value[i][l][k])) for k in range(min(counts[l], 60))] for l in range(3)]
        out.append(decode.decide(segments, shape))
    return out


def decide_documents(job):
    """All frames of a batch of documents, told one after the other."""
    frames, keys, blinds = job
    said = [decide_batch(f) for f in frames]
    results = []
    for i, key in enumerate(keys):
        one = [s[i] for s in said]
        result = {"frame": [None if o is None or "key" not in o else o["key"] == key for o in one], "zone": [bool(f["zone"][i]) for f in frames], "visa": any(o is not None and "visa" in o for o in one)}
        for blind in blinds:
            agreement = decode.Agreement(blind)
            accepted = next((k for k in map(agreement.add, one) if k is not None), None)
            result[blind] = None if accepted is None else accepted == key
        results.append(result)
        if any(result[b] is False for b in blinds):
            print("wrong key accepted:", key, [None if o is None else o for o in one], flush=True)
    return results


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


@torch.no_grad()
def film(renderer, nets, kinds, text, level, frames, zone=None, turned=True):
    b, device = len(kinds), renderer.device
    d = torch.full((b,), level, device=device) if isinstance(level, float) else level
    page, g = renderer.page(text, kinds, d, 8, PAGE_MM, zone)
    turn = torch.where(renderer.u(b) < 0.7, torch.zeros(b, dtype=torch.long, device=device), renderer.pick(b, 4)) if turned else None
    pose = renderer.pose(g, d, FRAME, turn=turn)
    out, x, truth = [], None, []
    for _ in range(frames):
        m = renderer.homography(g, pose, FRAME)
        new = renderer.nuisance(g, d, renderer.local_scale(m, renderer.zone_corners(g)), FRAME)
        x = new if x is None else carry(renderer, x, new)
        seen, _ = renderer.shoot(page, g, m, x, FRAME)
        out.append(look(nets, seen))
        truth.append(apply(m, renderer.zone_corners(g)).cpu().numpy())
        drift(renderer, pose, x, 1.0)
    return out, truth


def video(args, device, nets, workers, report):
    for held in ((True, False) if args.both else (True,)):
        for name, level in LEVELS.items():
            renderer = Renderer(args.atlas, device, args.seed + int(level * 100), held=held)
            pool = Texts(args.seed, args.documents, device, held=True, scramble=0, visas=0)
            jobs, errors = [], []
            for at in range(0, args.documents, args.batch):
                kinds, text = pool.kinds[at:at + args.batch], pool.text[at:at + args.batch]
                frames, truth = film(renderer, nets, kinds, text, level, args.frames)
                errors += [torch.from_numpy(f["quad"] - t).norm(dim=-1).amax(1) for f, t in zip(frames[:1], truth[:1])]
                jobs.append(workers.apply_async(decide_documents, ((frames, pool.keys[at:at + args.batch], args.blinds),)))
            results = [r for j in jobs for r in j.get()]
            shots = [f for r in results for f in r["frame"]]
            zones = [z for r in results for z in r["zone"]]
            e = torch.cat(errors)
            row = {"held_faces": held, "level": name, "documents": len(results), "frames": len(shots), "zone_seen": sum(zones) / len(zones),
                   "frame_right": sum(f is True for f in shots), "frame_wrong": sum(f is False for f in shots),
                   "corner_px_median": float(e.median()), "corner_px_p95": float(e.quantile(0.95))}
            for blind in args.blinds:
                right, wrong = sum(r[blind] is True for r in results), sum(r[blind] is False for r in results)
                row[f"video_right_{blind}"], row[f"video_wrong_{blind}"] = right, wrong
                row[f"video_ci_{blind}"] = wilson(right, len(results))
            row["frame_ci"] = wilson(row["frame_right"], len(shots))
            report("video", row)


@torch.no_grad()
def film_window(renderer, nets, kinds, text, d, frames):
    """As `film`, but only the surroundings of the zone are drawn, and the coarse search is replaced by corners as far off as it leaves them. A tenth of the work, for the large counts."""
    b = len(kinds)
    page, g = renderer.page(text, kinds, d)
    pose = renderer.pose(g, d, train.WINDOW, along_px=renderer.u(b, 12.0 - 3 * d, 23))
    out, x = [], None
    for _ in range(frames):
        m = renderer.homography(g, pose, train.WINDOW)
        corners = apply(m, renderer.zone_corners(g))
        new = renderer.nuisance(g, d, renderer.local_scale(m, renderer.zone_corners(g)), train.WINDOW)
        x = new if x is None else carry(renderer, x, new)
        seen, _ = renderer.shoot(page, g, m, x, train.WINDOW)
        wide = (corners[:, 1] - corners[:, 0]).norm(dim=-1)
        rough = corners + renderer.n(corners.shape) * (wide * (0.001 + 0.015 * renderer.u(b) ** 2))[:, None, None]
        found = pipeline.look_closer(nets["refine"], seen, rough)
        found = pipeline.look_closer(nets["refine"], seen, found["quad"])
        out.append(packed(nets, seen, {"score": torch.ones(b, device=renderer.device), **found}))
        drift(renderer, pose, x, 1.0)
    return out


def wrong(args, device, nets, workers, report):
    renderer = Renderer(args.atlas, device, args.seed, held=True)
    pool = Texts(args.seed + 5, args.documents, device, held=True, scramble=0, visas=0.05)
    jobs, began = [], time.time()
    totals = {b: [0, 0, 0] for b in args.blinds}
    frame_wrong = visas = visa_told = done = 0
    def summary():
        row = {"documents": done, "frames_each": args.frames, "frame_wrong": frame_wrong, "visas": visas, "visas_told": visa_told}
        for b, (right, bad, none) in totals.items():
            row[f"blind_{b}"] = {"right": right, "wrong": bad, "none": none, "wrong_ci": wilson(bad, max(1, done))}
        return row
    def take():
        nonlocal frame_wrong, visas, visa_told, done
        results, keys = jobs.pop(0)
        for r, key in zip(results.get(), keys):
            done += 1
            frame_wrong += sum(f is False for f in r["frame"])
            visas, visa_told = visas + (key is None), visa_told + (key is None and r["visa"])
            for b in args.blinds:
                totals[b][0 if r[b] is True else 1 if r[b] is False else 2] += 1
    for at in range(0, args.documents, args.batch):
        kinds, text, keys = pool.kinds[at:at + args.batch], pool.text[at:at + args.batch], pool.keys[at:at + args.batch]
        frames = film_window(renderer, nets, kinds, text, renderer.u(len(kinds), 0.0, 1.0), args.frames)
        jobs.append((workers.apply_async(decide_documents, ((frames, keys, args.blinds),)), keys))
        if len(jobs) > 40:
            take()
        if time.time() - began > args.minutes * 60:
            break
        if len(jobs) == 41 and done % (args.batch * 40) == 0 and done:
            report("wrong", summary())
    while jobs:
        take()
    report("wrong", summary())


def none(args, device, nets, workers, report):
    renderer = Renderer(args.atlas, device, args.seed + 9, held=True)
    pool = Texts(args.seed + 9, args.batch, device, held=True, scramble=0)
    jobs, began = [], time.time()
    for at in range(0, args.pictures, args.batch):
        zone = torch.zeros(args.batch, device=device)
        frames, _ = film(renderer, nets, pool.kinds, pool.text, renderer.u(args.batch, 0.0, 1.0), 2, zone)
        jobs.append(workers.apply_async(decide_documents, ((frames, [None] * args.batch, args.blinds),)))
        if time.time() - began > args.minutes * 60:
            break
    results = [r for j in jobs for r in j.get()]
    accepted = sum(any(r[b] is not None for b in args.blinds) for r in results)
    report("none", {"pictures": len(results), "frames_each": 2, "zone_claimed": sum(any(r["zone"]) for r in results),
                    "key_in_a_frame": sum(any(f is not None for f in r["frame"]) for r in results), "key_accepted": accepted, "accepted_ci": wilson(accepted, len(results))})


def everything(args, device, nets, workers, report):
    """The tables of the card in one go, each with its share of the minutes."""
    documents, batch, minutes = args.documents, args.batch, args.minutes
    args.documents, args.frames = args.video_documents, 10
    video(args, device, nets, workers, report)
    args.documents, args.frames, args.batch, args.minutes = documents, 2, batch * 4, minutes * 0.62
    wrong(args, device, nets, workers, report)
    args.batch, args.minutes = batch, minutes * 0.38
    none(args, device, nets, workers, report)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("job", choices=["video", "wrong", "none", "all"])
    parser.add_argument("--atlas", default="build/atlas.npz")
    parser.add_argument("--coarse", default="build/coarse.pt")
    parser.add_argument("--zone", default="build/zone.pt")
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--video-documents", type=int, default=384)
    parser.add_argument("--pictures", type=int, default=10_000)
    parser.add_argument("--frames", type=int, default=None)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seed", type=int, default=31_000_000)
    parser.add_argument("--minutes", type=float, default=9)
    parser.add_argument("--workers", type=int, default=14)
    parser.add_argument("--blinds", type=float, nargs="*", default=[decode.BLIND_MARGIN])
    parser.add_argument("--both", action="store_true", help="also the faces that were trained on")
    parser.add_argument("--int8", action="store_true", help="with the weights as they are shipped")
    parser.add_argument("--out")
    args = parser.parse_args()
    args.frames = args.frames or (10 if args.job == "video" else 3)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    context = multiprocessing.get_context("spawn")
    began = time.time()
    with context.Pool(args.workers) as workers:
        nets = load(args, device)
        def report(kind, row):
            line = json.dumps({"job": kind, "seed": args.seed, "int8": args.int8, "seconds": round(time.time() - began), **row})
            print(line, flush=True)
            if args.out:
                with open(args.out, "a") as f:
                    f.write(line + "\n")
        {"video": video, "wrong": wrong, "none": none, "all": everything}[args.job](args, device, nets, workers, report)


if __name__ == "__main__":
    main()
