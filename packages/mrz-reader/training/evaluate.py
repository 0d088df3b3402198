"""Tables on documents, names and faces that were never trained on.

  evaluate.py video --video-documents 2048   key read a frame, and within two seconds (ten frames that belong together)
  evaluate.py wrong --documents 100096      wrong keys accepted, four frames a document
  evaluate.py none  --pictures 10000        keys accepted, and zones seen, where there is no zone

A frame is read where its zone is found; the other places that the page tries where that reads as nothing (src/find-zone.ts) are not tried here, because which one comes next depends on what was read. make_films.py draws
films that the page's own code is measured on.
"""

import argparse
import collections
import gzip
import json
import math
import multiprocessing
import time
import traceback

import torch
import torch.nn.functional as F

import decode
import pipeline
import texts
import train
from networks import COARSE, READ, REFINE, Network
from render import PAGE_MM, Renderer, apply
from train import Texts

LEVELS = {"easy": 0.2, "medium": 0.5, "hard": 0.8}
FRAME = (960, 1280)
TOP = 8
# Of src/find-zone.ts, in nats.
DOUBT = 3


def wilson(right, count):
    if count == 0:
        return (0.0, 1.0)
    z, p = 1.96, right / count
    middle = (p + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(p * (1 - p) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return max(0.0, middle - half), min(1.0, middle + half)


def load(args, device):
    if args.shipped:
        import export
        return {name: net.to(device, memory_format=torch.channels_last) for name, net in export.shipped().items()}
    nets = {"coarse": Network(COARSE), "refine": Network(REFINE), "read": Network(READ)}
    for path in (args.coarse, args.zone, args.read):
        for name, state in torch.load(path, map_location=device, weights_only=True)["ema"].items():
            if path == args.read or name != "read":
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


def readings(nets, frame, found):
    """What is kept of one frame until all frames of a film are decided together: the lines of the likeliest shape, and of the second where it is about as likely."""
    ranked = found["shape"][:, :3].sort(1, descending=True)
    zone = (found["score"] > 0) & (found["shape"].argmax(1) != 3)
    unsure = (zone & (ranked.values[:, 0] - ranked.values[:, 1] < DOUBT)).nonzero()[:, 0]
    parts = [lines_as(nets, frame, found["quad"], ranked.indices[:, 0])]
    if len(unsure) > 0:
        parts.append(lines_as(nets, frame[unsure], found["quad"][unsure], ranked.indices[unsure, 1]))
    return {"zone": zone, "quad": found["quad"], "unsure": unsure, "parts": parts}


LONGEST = 44 * pipeline.PITCH_PX // 4 + pipeline.MARGIN_PX // 2


def lines_as(nets, frame, quad, shape):
    """Log posteriors of the two lines that may hold the key (of shapes that have one, the second is empty), and whether the first character is a V."""
    b, device = len(frame), frame.device
    logs = torch.full((b, 2, 38, LONGEST), -80.0, device=device)
    logs[:, :, pipeline.BLANK] = 0
    visa = torch.zeros(b, device=device)
    for index, (lines, chars) in enumerate(pipeline.SHAPES):
        at = (shape == index).nonzero()[:, 0]
        if len(at) == 0:
            continue
        size = torch.full((len(at),), float(lines), device=device)
        long = torch.full_like(size, float(chars))
        strips = pipeline.strips_of(frame[at], quad[at], size, long, widest=chars)[:, :lines]
        keyed = [line for line in range(lines) if line != decode.NAME[index]]
        maps, _ = nets["read"](strips[:, keyed].flatten(0, 1))
        read = maps[:, :, 0].float().log_softmax(1).view(len(at), len(keyed), 38, -1)
        for n in range(len(keyed)):
            logs[at, n, :, :read.shape[-1]] = read[:, n]
        if index > 0:
            # Of the line with the name only the beginning is read, which tells a visa from a passport.
            start = pipeline.strips_of(frame[at], quad[at], size, long, widest=6, widths=torch.full_like(size, 6.0 * pipeline.PITCH_PX + 2 * pipeline.MARGIN_PX))[:, 0]
            maps, _ = nets["read"](start)
            count, value, which = segments_of(maps[:, :, 0].float().log_softmax(1))
            visa[at] = ((which[:, 0] == texts.ALPHABET.index("V")) * value[:, 0]).sum(1) * (count > 0)
    return {"shape": shape, "logs": logs, "visa": visa}


def decided(kept):
    """All frames at once, because the steps along a line cost the same for one line and for ten thousand."""
    parts = [part for frame in kept for part in frame["parts"]]
    shape = torch.cat([p["shape"] for p in parts])
    logs = torch.cat([p["logs"] for p in parts])
    chars = torch.tensor([c for _, c in pipeline.SHAPES], device=shape.device)[shape]
    two = (shape == 0).nonzero()[:, 0]
    shares, strain = pipeline.characters_of(torch.cat([logs[:, 0], logs[two, 1]]), torch.cat([chars, chars[two]]))
    value, which = torch.nan_to_num(shares).topk(TOP, dim=2)
    strain = torch.nan_to_num(strain, 1e3)
    rows = len(shape)
    strain[two] = torch.maximum(strain[two], strain[rows:])
    second_value, second_which = torch.zeros_like(value[:rows]), torch.zeros_like(which[:rows])
    second_value[two], second_which[two] = value[rows:], which[rows:]
    arrays = {
        "shape": shape, "strain": strain[:rows], "visa": torch.cat([p["visa"] for p in parts]),
        "value": torch.stack([value[:rows], second_value], 1).half(), "which": torch.stack([which[:rows], second_which], 1).to(torch.uint8),
    }
    arrays = {name: tensor.cpu().numpy() for name, tensor in arrays.items()}
    out, at = [], 0
    def take(count):
        nonlocal at
        at += count
        return {name: array[at - count:at] for name, array in arrays.items()}
    for frame in kept:
        one = {"zone": frame["zone"].cpu().numpy(), "quad": frame["quad"].cpu().numpy(), **take(len(frame["zone"])), "second": None}
        if len(frame["parts"]) > 1:
            one["second"] = {"at": frame["unsure"].tolist(), **take(len(frame["unsure"]))}
        out.append(one)
    return out


def decide_batch(seen):
    """For each document what the frame says, and the zones that it was made of."""
    out = [(said, zones) if zone else (None, []) for (said, zones), zone in zip(decide_packed(seen), seen["zone"].tolist())]
    if seen["second"] is not None:
        for i, (said, zones) in zip(seen["second"]["at"], decide_packed(seen["second"])):
            if out[i][0] is None:
                out[i] = (said, zones if said is not None else out[i][1] + zones)
    return out


def decide_packed(seen):
    value, which = seen["value"].astype("float32").tolist(), seen["which"].tolist()
    out = []
    for i, (shape, strain, visa) in enumerate(zip(seen["shape"].tolist(), seen["strain"].tolist(), seen["visa"].tolist())):
        if shape != 0 and visa > 0.5:
            out.append(({"visa": True}, []))
            continue
        chars = decode.LINES[shape][1]
        keyed = iter(range(2))
        segments = [[] if l == decode.NAME[shape] else [dict(zip(which[i][n][k], value[i][n][k])) for n in (next(keyed),) for k in range(chars)] for l in range(decode.LINES[shape][0])]
        said = decode.decide(segments, shape)
        if said is not None and "key" in said:
            said["strain"] = strain
        out.append((None, []) if strain > decode.MOST_STRAIN else (said, [(shape, segments)]))
    return out


def decide_documents(job):
    """All frames of a batch of documents, told one after the other. With `keep`, what each frame said, to choose the rule by."""
    frames, keys, keep = job
    said = [decide_batch(f) for f in frames]
    results = []
    for i, key in enumerate(keys):
        one = [s[i][0] for s in said]
        film = decode.Film()
        accepted = next((k for k in (film.add(*s[i], bool(f["zone"][i])) for s, f in zip(said, frames)) if k is not None), None)
        result = {
            "frame": [None if o is None or "key" not in o else o["key"] == key for o in one], "zone": [bool(f["zone"][i]) for f in frames],
            "visa": any(o is not None and "visa" in o for o in one), "accepted": None if accepted is None else accepted == key,
            "visible": [bool(f["visible"][i]) for f in frames] if "visible" in frames[0] else None,
        }
        if keep:
            result["said"] = [None if o is None or "key" not in o else [1 if o["key"] == key else "".join(o["key"]), *(round(o[n], 3) for n in ("cost", "confidence", "margin", "pair", "strain"))] for o in one]
        results.append(result)
        if result["accepted"] is False:
            print("wrong key accepted:", key, one, flush=True)
    return results


def key_visible(covered, shape):
    """Whether every character of the key and its check digits is free of fingers."""
    out = []
    for i, s in enumerate(shape.tolist()):
        out.append(not any(bool(covered[i, l, start:end + 1].any()) for l, start, end in decode.FIELDS[s][:3]))
    return out


def shape_of(kinds):
    return torch.tensor([texts.SHAPE_OF[k] for k in range(5)])[kinds.cpu()]


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
    out, x, truth, free = [], None, [], []
    for _ in range(frames):
        m = renderer.homography(g, pose, FRAME)
        new = renderer.nuisance(g, d, renderer.local_scale(m, renderer.zone_corners(g)), FRAME)
        x = new if x is None else carry(renderer, x, new)
        seen, covered = renderer.shoot(page, g, m, x, FRAME)
        out.append(readings(nets, seen, pipeline.find_zone(nets["coarse"], nets["refine"], seen)))
        free.append(key_visible(covered.cpu().numpy(), shape_of(kinds)))
        truth.append(apply(m, renderer.zone_corners(g)).cpu().numpy())
        drift(renderer, pose, x, 1.0)
    return [{**one, "visible": v} for one, v in zip(decided(out), free)], truth


@torch.no_grad()
def causes(args, device, nets, workers, report):
    """Why films are not read, and which characters are taken for which."""
    for use in args.faces:
        for name, level in LEVELS.items():
            renderer = Renderer(args.atlas, device, args.seed + int(level * 100), use)
            pool = Texts(args.seed, args.documents[0], device, held=True, scramble=0, visas=0)
            tally, frames_tally, confused = collections.Counter(), collections.Counter(), collections.Counter()
            for at in range(0, args.documents[0], args.batch):
                kinds, text, keys = pool.kinds[at:at + args.batch], pool.text[at:at + args.batch], pool.keys[at:at + args.batch]
                b, d = len(kinds), torch.full((args.batch,), level, device=device)[:len(kinds)]
                page, g = renderer.page(text, kinds, d, 8, PAGE_MM)
                turn = torch.where(renderer.u(b) < 0.7, torch.zeros(b, dtype=torch.long, device=device), renderer.pick(b, 4))
                pose, x = renderer.pose(g, d, FRAME, turn=turn), None
                shape = torch.tensor([texts.SHAPE_OF[k] for k in range(5)], device=device)[kinds]
                shots = []
                for _ in range(args.frames):
                    m = renderer.homography(g, pose, FRAME)
                    corners = apply(m, renderer.zone_corners(g))
                    scale = renderer.local_scale(m, renderer.zone_corners(g))
                    new = renderer.nuisance(g, d, scale, FRAME)
                    x = new if x is None else carry(renderer, x, new)
                    seen, covered = renderer.shoot(page, g, m, x, FRAME)
                    found = pipeline.find_zone(nets["coarse"], nets["refine"], seen)
                    away = ((found["quad"] - corners).norm(dim=-1).amax(1) / (scale * g["pitch"])).tolist()
                    as_found, as_true = decided([readings(nets, seen, found), readings(nets, seen, {"score": torch.ones(b, device=device), "quad": corners, "shape": F.one_hot(shape, 4).float() * 9})])
                    shots.append((as_found, as_true, away, covered.cpu().numpy(), as_found["shape"] == shape.cpu().numpy(), (found["score"] > 0).tolist()))
                    drift(renderer, pose, x, 1.0)
                jobs = workers.map(decide_batch, [s for shot in shots for s in shot[:2]], 1)
                for i, key in enumerate(keys):
                    film = decode.Film()
                    said = [jobs[2 * n][i][0] for n in range(len(shots))]
                    accepted = next((k for k in (film.add(*jobs[2 * n][i]) for n in range(len(shots))) if k is not None), None)
                    why = collections.Counter()
                    s = int(shape[i])
                    lines = {l for l, _, _ in decode.FIELDS[s][:3]}
                    for n, (as_found, as_true, away, covered, shape_right, scored) in enumerate(shots):
                        one, true = said[n], jobs[2 * n + 1][i][0]
                        hidden = any(covered[i, l, k] for l, start, end in decode.FIELDS[s][:3] for k in range(start, end + 1))
                        right = lambda o: o is not None and o.get("key") == key
                        if right(one):
                            c = "right" if all(one[name] >= least for name, least in zip(("confidence", "margin", "pair"), decode.COUNTS)) else "right, small margin"
                        elif one is not None and "key" in one:
                            c = "wrong"
                        elif hidden:
                            c = "covered"
                        elif not scored[i]:
                            c = "coarse says none"
                        elif not as_found["zone"][i]:
                            c = "refine says none"
                        elif not shape_right[i]:
                            c = "shape"
                        elif right(true):
                            c = "corners, read by the true ones"
                        elif away[i] > 0.7:
                            c = "corners, not read by the true ones either"
                        else:
                            c = "characters"
                        why[c] += 1
                        if c in ("characters", "wrong"):
                            for n, l in enumerate(sorted(lines)):
                                for k in range(decode.LINES[s][1]):
                                    t, got = int(text[i, l, k]), int(as_found["which"][i, n, k, 0])
                                    if t != got:
                                        confused[texts.ALPHABET[t] + texts.ALPHABET[got]] += 1
                        frames_tally[c] += 1
                    tally["read" if accepted == key else "wrong" if accepted is not None else why.most_common(1)[0][0]] += 1
            report("causes", {"faces": use, "level": name, "films": dict(tally.most_common()), "frames": dict(frames_tally.most_common()), "confused": dict(confused.most_common(24))})


def video(args, device, nets, workers, report):
    for use, documents in zip(args.faces, args.video_documents):
        for name, level in LEVELS.items():
            renderer = Renderer(args.atlas, device, args.seed + int(level * 100), use)
            pool = Texts(args.seed + int(level * 1000), documents, device, held=True, scramble=0, visas=0)
            jobs, errors, results = [], [], []
            for at in range(0, documents, args.batch):
                kinds, text = pool.kinds[at:at + args.batch], pool.text[at:at + args.batch]
                frames, truth = film(renderer, nets, kinds, text, level, args.frames)
                errors += [torch.from_numpy(f["quad"] - t).norm(dim=-1).amax(1) for f, t in zip(frames[:1], truth[:1])]
                jobs.append(workers.apply_async(decide_documents, ((frames, pool.keys[at:at + args.batch], args.keep is not None),)))
                if len(jobs) > 6:
                    results += jobs.pop(0).get()
            for job in jobs:
                results += job.get()
            keep(args, "video", use, name, results)
            shots = [f for r in results for f in r["frame"]]
            seen = [r for r in results if sum(r["visible"]) >= 2]
            e = torch.cat(errors)
            report("video", {
                "faces": use, "level": name, "documents": len(results), "frames": len(shots), "zone_seen": sum(z for r in results for z in r["zone"]) / len(shots),
                "frame_right": sum(f is True for f in shots), "frame_wrong": sum(f is False for f in shots), "frame_ci": wilson(sum(f is True for f in shots), len(shots)),
                "video_right": sum(r["accepted"] is True for r in results), "video_wrong": sum(r["accepted"] is False for r in results), "video_ci": wilson(sum(r["accepted"] is True for r in results), len(results)),
                "visible": len(seen), "visible_right": sum(r["accepted"] is True for r in seen), "visible_ci": wilson(sum(r["accepted"] is True for r in seen), len(seen)),
                "corner_px_median": float(e.median()), "corner_px_p95": float(e.quantile(0.95)),
            })


def keep(args, job, use, level, results):
    """What every frame said, for choosing the rule; the documents of such a run are no test of it."""
    if args.keep is None:
        return
    with gzip.open(args.keep, "at") as f:
        for r in results:
            f.write(json.dumps([job, use, level, r["visible"], r["said"]], separators=(",", ":")) + "\n")


@torch.no_grad()
def film_window(renderer, nets, kinds, text, d, frames):
    """As `film`, but only the surroundings of the zone are drawn, and the coarse search is replaced by corners as far off as it leaves them. A tenth of the work, for the large counts."""
    b = len(kinds)
    page, g = renderer.page(text, kinds, d)
    pose = renderer.pose(g, d, train.WINDOW, along_px=renderer.u(b, 12.0 - 3 * d, 23))
    out, x, free = [], None, []
    for _ in range(frames):
        m = renderer.homography(g, pose, train.WINDOW)
        corners = apply(m, renderer.zone_corners(g))
        new = renderer.nuisance(g, d, renderer.local_scale(m, renderer.zone_corners(g)), train.WINDOW)
        x = new if x is None else carry(renderer, x, new)
        seen, covered = renderer.shoot(page, g, m, x, train.WINDOW)
        wide = (corners[:, 1] - corners[:, 0]).norm(dim=-1)
        rough = corners + renderer.n(corners.shape) * (wide * (0.001 + 0.015 * renderer.u(b) ** 2))[:, None, None]
        found = pipeline.look_until_still(nets["refine"], seen, rough)
        out.append(readings(nets, seen, {"score": torch.ones(b, device=renderer.device), **found}))
        free.append(key_visible(covered.cpu().numpy(), shape_of(kinds)))
        drift(renderer, pose, x, 1.0)
    return [{**one, "visible": v} for one, v in zip(decided(out), free)]


def wrong(args, device, nets, workers, report):
    for use, documents in zip(args.faces, args.documents):
        renderer = Renderer(args.atlas, device, args.seed, use)
        pool = Texts(args.seed + 5, documents, device, held=True, scramble=0, visas=0.05)
        jobs, began = [], time.time()
        total = collections.Counter()
        def summary():
            return {"faces": use, "frames_each": args.frames, **total, "wrong_ci": wilson(total["wrong"], max(1, total["documents"]))}
        def take():
            job, keys = jobs.pop(0)
            results = job.get()
            keep(args, "wrong", use, "any", results)
            for r, key in zip(results, keys):
                total.update(documents=1, frame_wrong=sum(f is False for f in r["frame"]), visas=key is None, visas_told=key is None and r["visa"],
                             right=r["accepted"] is True, wrong=r["accepted"] is False, none=r["accepted"] is None)
        for number, at in enumerate(range(0, documents, args.batch)):
            kinds, text, keys = pool.kinds[at:at + args.batch], pool.text[at:at + args.batch], pool.keys[at:at + args.batch]
            frames = film_window(renderer, nets, kinds, text, renderer.u(len(kinds), 0.0, 1.0), args.frames)
            jobs.append((workers.apply_async(decide_documents, ((frames, keys, args.keep is not None),)), keys))
            if len(jobs) > 24:
                take()
            if time.time() - began > args.minutes * 60 * (1.0 if use == "held" else 0.3):
                break
            if number % 40 == 39:
                report("wrong", summary())
        while jobs:
            take()
        report("wrong", summary())


def none(args, device, nets, workers, report):
    renderer = Renderer(args.atlas, device, args.seed + 9, "held")
    pool = Texts(args.seed + 9, args.batch, device, held=True, scramble=0)
    jobs, results, began = [], [], time.time()
    for at in range(0, args.pictures, args.batch):
        zone = torch.zeros(args.batch, device=device)
        frames, _ = film(renderer, nets, pool.kinds, pool.text, renderer.u(args.batch, 0.0, 1.0), 2, zone)
        jobs.append(workers.apply_async(decide_documents, ((frames, [None] * args.batch, False),)))
        if len(jobs) > 24:
            results += jobs.pop(0).get()
        if time.time() - began > args.minutes * 60:
            break
    for job in jobs:
        results += job.get()
    accepted = sum(r["accepted"] is not None for r in results)
    report("none", {"pictures": len(results), "frames_each": 2, "zone_claimed": sum(any(r["zone"]) for r in results),
                    "key_in_a_frame": sum(any(f is not None for f in r["frame"]) for r in results), "key_accepted": accepted, "accepted_ci": wilson(accepted, len(results))})


def guarded(part, *given):
    """A table that fails must not cost the others."""
    try:
        part(*given)
    except Exception:
        traceback.print_exc()


def everything(args, device, nets, workers, report):
    """The tables of the card in one go: designs of OCR-B first, then everything else."""
    began, frames, batch, minutes = time.time(), args.frames, args.batch, args.minutes
    (own, foreign), (films, foreign_films) = args.documents, args.video_documents
    args.faces, args.frames, args.video_documents = ["held"], 10, [films]
    guarded(video, args, device, nets, workers, report)
    guarded(none, args, device, nets, workers, report)
    args.documents, args.frames, args.batch = [own], frames, batch * 8
    # What is left, less what the rest needs.
    args.minutes = minutes - (time.time() - began) / 60 - 0.6
    guarded(wrong, args, device, nets, workers, report)
    args.faces, args.documents, args.minutes = ["foreign"], [foreign], 2.0
    guarded(wrong, args, device, nets, workers, report)
    args.frames, args.batch, args.video_documents = 10, batch, [foreign_films]
    guarded(video, args, device, nets, workers, report)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("job", choices=["video", "wrong", "none", "all", "causes"])
    parser.add_argument("--atlas", default="build/atlas.npz")
    parser.add_argument("--coarse", default="build/coarse.pt")
    parser.add_argument("--zone", default="build/zone.pt")
    parser.add_argument("--read", default="build/read.pt")
    parser.add_argument("--documents", type=int, nargs="*", default=[100_352, 10_240], help="for each of --faces")
    parser.add_argument("--video-documents", type=int, nargs="*", default=[2048, 256], help="for each of --faces")
    parser.add_argument("--pictures", type=int, default=10_000)
    parser.add_argument("--frames", type=int, default=None)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seed", type=int, default=31_000_000)
    parser.add_argument("--minutes", type=float, default=9)
    parser.add_argument("--workers", type=int, default=14)
    parser.add_argument("--keep", help="writes what every frame said into this file; not for a test, but to choose the rule by")
    parser.add_argument("--faces", nargs="*", default=["held", "foreign"], choices=["train", "held", "foreign"])
    parser.add_argument("--int8", action="store_true", help="with the weights as they are shipped")
    parser.add_argument("--shipped", action="store_true", help="the networks that the page loads, from ../networks")
    parser.add_argument("--out")
    args = parser.parse_args()
    args.frames = args.frames or (10 if args.job == "video" else 4)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    context = multiprocessing.get_context("spawn")
    began = time.time()
    with context.Pool(args.workers) as workers:
        nets = load(args, device)
        def report(kind, row):
            line = json.dumps({"job": kind, "seed": args.seed, "int8": args.int8 or args.shipped, "seconds": round(time.time() - began), **row})
            print(line, flush=True)
            if args.out:
                with open(args.out, "a") as f:
                    f.write(line + "\n")
        {"video": video, "wrong": wrong, "none": none, "all": everything, "causes": causes}[args.job](args, device, nets, workers, report)


if __name__ == "__main__":
    main()
