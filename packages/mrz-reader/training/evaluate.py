"""Tables on documents, names and faces that were never trained on.

  evaluate.py video --documents 1280 --levels easy     key read a frame, and within two seconds (ten frames that belong together); why films are lost
  evaluate.py wrong --levels easy --contrast 0.6       wrong keys accepted, ten frames a document; without --levels of any difficulty
  evaluate.py none  --documents 10048                  keys accepted, and zones seen, where there is no zone

Films are counted twice: all of them, and those of documents whose print has the contrast that ICAO 9303-3 asks for (`legibility` in render.py). With --versus, the shipped networks read the same frames as the new ones.
What is known so far is written every few batches, one line of JSON for each table, so that a run that is cut off still counts: the last line of a table holds all before it.

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

import torch

import decode
import export
import pipeline
import texts
from render import PAGE_MM, Renderer, apply
from train import WINDOW, Texts

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
    """The networks to be measured, by name: those of the files, with weights as they would be shipped, and those that are shipped."""
    out = {}
    if not args.shipped:
        out["new"] = export.trained(args)
        for net in out["new"].values():
            export.round_weights(net)
    if args.shipped or args.versus:
        out["shipped"] = export.shipped()
    for nets in out.values():
        for net in nets.values():
            net.to(device, memory_format=torch.channels_last).eval()
    return out


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
    return {"zone": zone, "scored": found["score"] > 0, "quad": found["quad"], "unsure": unsure, "parts": parts}


LONGEST = 44 * pipeline.PITCH_PX // 4 + pipeline.MARGIN_PX // 2


# What a zone of two lines may begin with: a visa, and documents that may have a chip.
FIRST = ("V", "ACIP")


def lines_as(nets, frame, quad, shape):
    """Log posteriors of the two lines that may hold the key (of shapes that have one, the second is empty), and how likely the first character tells a visa, or a passport or card."""
    b, device = len(frame), frame.device
    logs = torch.full((b, 2, 38, LONGEST), -80.0, device=device)
    logs[:, :, pipeline.BLANK] = 0
    first = torch.zeros(b, len(FIRST), device=device)
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
            for n, letters in enumerate(FIRST):
                of = torch.tensor([texts.ALPHABET.index(c) for c in letters], device=device)
                first[at, n] = (torch.isin(which[:, 0], of) * value[:, 0]).sum(1) * (count > 0)
    return {"shape": shape, "logs": logs, "first": first}


def coverable(device):
    """For each shape, and for its first and second line with anything of the key: where a finger hides neither the key nor a digit that it is checked by."""
    out = torch.zeros(6, 44, dtype=torch.bool)
    for shape, fields in decode.COVERABLE.items():
        keyed = [line for line in range(decode.LINES[shape][0]) if line != decode.NAME[shape]]
        for line, start, end in fields:
            out[shape * 2 + keyed.index(line), start:end] = True
    return out.to(device)


def decided(kept):
    """All frames at once, because the steps along a line cost the same for one line and for ten thousand."""
    parts = [part for frame in kept for part in frame["parts"]]
    shape = torch.cat([p["shape"] for p in parts])
    logs = torch.cat([p["logs"] for p in parts])
    chars = torch.tensor([c for _, c in pipeline.SHAPES], device=shape.device)[shape]
    two = (shape == 0).nonzero()[:, 0]
    rows = len(shape)
    lines, count = torch.cat([logs[:, 0], logs[two, 1]]), torch.cat([chars, chars[two]])
    shares, strain = pipeline.characters_of(lines, count)
    strain = torch.nan_to_num(strain, 1e3)
    covered = torch.zeros_like(strain, dtype=torch.bool)
    again = (strain > decode.MOST_STRAIN).nonzero()[:, 0]
    if len(again) > 0:
        filled, covered[again] = pipeline.with_fillers(lines[again], coverable(shape.device)[torch.cat([shape * 2, two * 0 + 1])[again]])
        shares[again], strained = pipeline.characters_of(filled, count[again])
        strain[again] = torch.nan_to_num(strained, 1e3)
    value, which = torch.nan_to_num(shares).topk(TOP, dim=2)
    strain[two] = torch.maximum(strain[two], strain[rows:])
    covered[two] |= covered[rows:]
    second_value, second_which = torch.zeros_like(value[:rows]), torch.zeros_like(which[:rows])
    second_value[two], second_which[two] = value[rows:], which[rows:]
    arrays = {
        "shape": shape, "strain": strain[:rows], "covered": covered[:rows], "first": torch.cat([p["first"] for p in parts]),
        "value": torch.stack([value[:rows], second_value], 1).half(), "which": torch.stack([which[:rows], second_which], 1).to(torch.uint8),
    }
    arrays = {name: tensor.cpu().numpy() for name, tensor in arrays.items()}
    out, at = [], 0
    def take(count):
        nonlocal at
        at += count
        return {name: array[at - count:at] for name, array in arrays.items()}
    for frame in kept:
        one = {**{name: frame[name].cpu().numpy() for name in ("zone", "scored", "away")}, **take(len(frame["zone"])), "second": None}
        if len(frame["parts"]) > 1:
            one["second"] = {"at": frame["unsure"].tolist(), **take(len(frame["unsure"]))}
        out.append(one)
    return out


def decide_batch(seen):
    """For each document what the frame says."""
    out = [said if zone else None for said, zone in zip(decide_packed(seen), seen["zone"].tolist())]
    if seen["second"] is not None:
        for i, said in zip(seen["second"]["at"], decide_packed(seen["second"])):
            if out[i] is None:
                out[i] = said
    return out


def decide_packed(seen):
    value, which = seen["value"].astype("float32").tolist(), seen["which"].tolist()
    out = []
    for i, (shape, strain, covered, (visa, other)) in enumerate(zip(*(seen[name].tolist() for name in ("shape", "strain", "covered", "first")))):
        if shape != 0 and visa > 0.5:
            out.append({"visa": True})
            continue
        chars = decode.LINES[shape][1]
        keyed = iter(range(2))
        start = [] if shape == 0 else [{texts.ALPHABET.index("V"): visa, texts.ALPHABET.index("P"): other}]
        segments = [start if l == decode.NAME[shape] else [dict(zip(which[i][n][k], value[i][n][k])) for n in (next(keyed),) for k in range(chars)] for l in range(decode.LINES[shape][0])]
        said = decode.decide(segments, shape, covered=covered)
        if said is not None and "key" in said:
            said["strain"] = strain
        out.append(None if strain > decode.MOST_STRAIN else said)
    return out


def decide_documents(job):
    """All frames of a batch of documents, told one after the other. With `keep`, what each frame said, to choose the rule by."""
    frames, shapes, keys, keep = job
    said = [decide_batch(f) for f in frames]
    results = []
    for i, key in enumerate(keys):
        one = [s[i] for s in said]
        film = decode.Film()
        accepted = next((k for k in (film.add(o, bool(f["zone"][i])) for o, f in zip(one, frames)) if k is not None), None)
        fates = [fate(o, key, f, i, shapes[i]) for o, f in zip(one, frames)]
        result = {
            "fates": fates, "zone": [bool(f["zone"][i]) for f in frames], "away": float(frames[0]["away"][i]),
            "visa": any(o is not None and "visa" in o for o in one), "accepted": None if accepted is None else accepted == key,
        }
        if keep:
            result["said"] = [None if o is None or "key" not in o else [1 if o["key"] == key else "".join(o["key"]), *(round(o[n], 3) for n in ("cost", "confidence", "margin", "pair", "exchange", "strain"))] for o in one]
        results.append(result)
        if result["accepted"] is False:
            result["wrong"] = {"key": key, "accepted": accepted, "frames": [None if o is None or "key" not in o else {**o, "key": "".join(o["key"])} for o in one]}
    return results


# A corner that lies further off than so many characters is what is wrong with a frame.
FAR = 0.7


def fate(said, key, frame, i, shape):
    """How a frame ended."""
    if said is not None and "key" in said:
        return "right" if said["key"] == key else "wrong"
    if not frame["visible"][i]:
        return "covered"
    if not frame["scored"][i]:
        return "rough look"
    if not frame["zone"][i]:
        return "closer look"
    if frame["shape"][i] != shape:
        return "shape"
    return "corners" if frame["away"][i] > FAR else "characters"


def cause(fates):
    """Why a film was not read: by what most of its frames ended in, where they were not right."""
    lost = [f for f in fates if f != "right"]
    if fates.count("covered") > len(fates) - 2:
        return "covered all the time"
    return collections.Counter(lost).most_common(1)[0][0] if len(lost) > len(fates) // 2 else "right, but unsure"


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
def film(renderer, contenders, kinds, text, level, frames, zone=None):
    """What each contender reads in the frames, and how well the documents are printed."""
    b, device = len(kinds), renderer.device
    d = torch.full((b,), level, device=device) if isinstance(level, float) else level
    page, g = renderer.page(text, kinds, d, 8, PAGE_MM, zone, measure=True)
    turn = torch.where(renderer.u(b) < 0.7, torch.zeros(b, dtype=torch.long, device=device), renderer.pick(b, 4))
    pose = renderer.pose(g, d, FRAME, turn=turn)
    out, x, free = {name: [] for name in contenders}, None, []
    for _ in range(frames):
        m = renderer.homography(g, pose, FRAME)
        corners = apply(m, renderer.zone_corners(g))
        scale = renderer.local_scale(m, renderer.zone_corners(g))
        new = renderer.nuisance(g, d, scale, FRAME)
        x = new if x is None else carry(renderer, x, new)
        seen, covered = renderer.shoot(page, g, m, x, FRAME)
        for name, nets in contenders.items():
            found = pipeline.find_zone(nets["coarse"], nets["refine"], seen)
            out[name].append({**readings(nets, seen, found), "away": away(found["quad"], corners, scale * g["pitch"])})
        free.append(covered)
        drift(renderer, pose, x, 1.0)
    return with_sight(out, free, kinds), print_of(g, kinds)


def away(quad, corners, pitch):
    """The worst corner, in characters."""
    return (quad - corners).norm(dim=-1).amax(1) / pitch


def with_sight(out, covered, kinds):
    free = [key_visible(c.cpu().numpy(), shape_of(kinds)) for c in covered]
    return {name: [{**one, "visible": v} for one, v in zip(decided(kept), free)] for name, kept in out.items()}


def lowest(values, kinds, pick):
    """Of the characters in the lines that hold the key, the worst."""
    out = []
    for rows, shape in zip(values.cpu().tolist(), shape_of(kinds).tolist()):
        lines, chars = decode.LINES[shape]
        out.append(pick(rows[line][at] for line in range(lines) if line != decode.NAME[shape] for at in range(chars)))
    return out


def print_of(g, kinds):
    """How well each document is printed at its worst: {"contrast", "missing"}, see `legibility` in render.py."""
    return {name: lowest(g[name], kinds, pick) for name, pick in (("contrast", min), ("missing", max))}


LEAST_CONTRAST = 0.6


def video(args, device, contenders, workers, report):
    for use in args.faces:
        for name in args.levels or LEVELS:
            level = LEVELS[name]
            renderer = Renderer(args.atlas, device, args.seed + int(level * 100), use)
            pool = Texts(args.seed + int(level * 1000), args.documents, device, held=True, scramble=0, visas=0)
            jobs, results, prints = [], {who: [] for who in contenders}, []
            def take():
                for who, job in jobs.pop(0).items():
                    results[who] += job.get()
            def tell(partial):
                for who, rows in results.items():
                    for group in ("all", "standard contrast"):
                        chosen = [r for r, p in zip(rows, prints) if group == "all" or p[0] >= LEAST_CONTRAST]
                        report("video", {"who": who, "faces": use, "level": name, "group": group, "partial": partial, **film_figures(chosen)})
            for number, at in enumerate(range(0, args.documents, args.batch)):
                kinds, text, keys = (of[at:at + args.batch] for of in (pool.kinds, pool.text, pool.keys))
                frames, prints_of = film(renderer, contenders, kinds, text, level, args.frames)
                prints += list(zip(prints_of["contrast"], prints_of["missing"]))
                jobs.append({who: workers.apply_async(decide_documents, ((one, shape_of(kinds).tolist(), keys, args.keep is not None),)) for who, one in frames.items()})
                if len(jobs) > 2:
                    take()
                if number % 4 == 3:
                    tell(True)
                if args.over():
                    break
            while jobs:
                take()
            tell(False)
            for who, rows in results.items():
                keep(args, who, use, name, rows)
                lost = [[cause(r["fates"]), round(p[0], 2), round(p[1], 2)] for r, p in zip(rows, prints) if r["accepted"] is not True]
                report("lost", {"who": who, "faces": use, "level": name, "films": "cause, lowest contrast, most of a stroke that is missing", "lost": lost})


def film_figures(rows):
    shots = collections.Counter(f for r in rows for f in r["fates"])
    right, away = sum(r["accepted"] is True for r in rows), sorted(r["away"] for r in rows)
    return {
        "films": len(rows), "right": right, "right_ci": wilson(right, len(rows)), "wrong": sum(r["accepted"] is False for r in rows), "wrongly": [r["wrong"] for r in rows if "wrong" in r],
        "lost": dict(collections.Counter(cause(r["fates"]) for r in rows if r["accepted"] is None).most_common()),
        "frames": sum(shots.values()), "frame_ci": wilson(shots["right"], sum(shots.values())), "fates": dict(shots.most_common()),
        "away": [round(away[int(q * (len(away) - 1))], 2) for q in (0.5, 0.95, 0.99)] if away else None,
    }


def keep(args, who, use, level, results):
    """What every frame said, for choosing the rule; the documents of such a run are no test of the rule that is chosen by them."""
    if args.keep is None:
        return
    with gzip.open(args.keep, "at") as f:
        for r in results:
            f.write(json.dumps([who, use, level, r["accepted"], r["said"]], separators=(",", ":")) + "\n")


@torch.no_grad()
def film_window(renderer, contenders, kinds, text, d, frames, contrast=0.0):
    """As `film`, but only the surroundings of the zone are drawn, and the coarse search is replaced by corners as far off as it leaves them. A tenth of the work, for the large counts. Documents with less contrast are left out;
    the second answer is which are there, the first is nothing where none is."""
    page, g = renderer.page(text, kinds, d, measure=contrast > 0)
    there = list(range(len(kinds)))
    if contrast > 0:
        there = [i for i, worst in enumerate(print_of(g, kinds)["contrast"]) if worst >= contrast]
        at = torch.tensor(there, dtype=torch.long, device=renderer.device)
        page, kinds, d, g = page[at], kinds[at], d[at], {name: value[at] if torch.is_tensor(value) else value for name, value in g.items()}
    b = len(there)
    if b == 0:
        return None, there
    pose = renderer.pose(g, d, WINDOW, along_px=renderer.u(b, 12.0 - 3 * d, 18))
    out, x, free = {name: [] for name in contenders}, None, []
    for _ in range(frames):
        m = renderer.homography(g, pose, WINDOW)
        corners = apply(m, renderer.zone_corners(g))
        scale = renderer.local_scale(m, renderer.zone_corners(g))
        new = renderer.nuisance(g, d, scale, WINDOW)
        x = new if x is None else carry(renderer, x, new)
        seen, covered = renderer.shoot(page, g, m, x, WINDOW)
        wide = (corners[:, 1] - corners[:, 0]).norm(dim=-1)
        rough = corners + renderer.n(corners.shape) * (wide * (0.001 + 0.015 * renderer.u(b) ** 2))[:, None, None]
        for name, nets in contenders.items():
            found = pipeline.look_until_still(nets["refine"], seen, rough)
            out[name].append({**readings(nets, seen, {"score": torch.ones(b, device=renderer.device), **found}), "away": away(found["quad"], corners, scale * g["pitch"])})
        free.append(covered)
        drift(renderer, pose, x, 1.0)
    return with_sight(out, free, kinds), there


def in_batches(args, contenders, workers, draw, told):
    """Draws batch after batch while workers decide about those before; `told` gets each batch's results by contender."""
    jobs = []
    def take():
        one, keys = jobs.pop(0)
        told({who: job.get() for who, job in one.items()}, keys)
    for at in range(0, args.documents, args.batch):
        frames, kinds, keys = draw(at)
        if frames is None:
            continue
        jobs.append(({who: workers.apply_async(decide_documents, ((one, shape_of(kinds).tolist(), keys, args.keep is not None),)) for who, one in frames.items()}, keys))
        if len(jobs) > 4:
            take()
        if args.over():
            break
    while jobs:
        take()


def wrong(args, device, contenders, workers, report):
    for use, name in ((use, name) for use in args.faces for name in args.levels or ["any"]):
        renderer = Renderer(args.atlas, device, args.seed + int(LEVELS.get(name, 0) * 100), use)
        pool = Texts(args.seed + 5 + int(LEVELS.get(name, 0) * 1000), args.documents, device, held=True, scramble=0, visas=0.05)
        total = {who: collections.Counter() for who in contenders}
        def draw(at):
            kinds, text, keys = (of[at:at + args.batch] for of in (pool.kinds, pool.text, pool.keys))
            d = torch.full((len(kinds),), LEVELS[name], device=device) if name in LEVELS else renderer.u(len(kinds), 0.0, 1.0)
            frames, there = film_window(renderer, contenders, kinds, text, d, args.frames, args.contrast)
            return frames, kinds[there], [keys[i] for i in there]
        def told(results, keys):
            for who, rows in results.items():
                keep(args, who, use, name, rows)
                for r, key in zip(rows, keys):
                    total[who].update(documents=1, frames_wrong=r["fates"].count("wrong"), visas=key is None, visas_told=key is None and r["visa"],
                                      right=r["accepted"] is True, wrong=r["accepted"] is False, none=r["accepted"] is None)
                    if "wrong" in r:
                        report("wrong key", {"who": who, "faces": use, "level": name, **r["wrong"]})
                report("wrong", {"who": who, "faces": use, "level": name, "contrast": args.contrast, "frames_each": args.frames, **total[who], "wrong_ci": wilson(total[who]["wrong"], total[who]["documents"])})
        in_batches(args, contenders, workers, draw, told)


def none(args, device, contenders, workers, report):
    renderer = Renderer(args.atlas, device, args.seed + 9, "held")
    pool = Texts(args.seed + 9, args.batch, device, held=True, scramble=0)
    total = {who: collections.Counter() for who in contenders}
    def draw(at):
        zone = torch.zeros(args.batch, device=device)
        return film(renderer, contenders, pool.kinds, pool.text, renderer.u(args.batch, 0.0, 1.0), args.frames, zone)[0], pool.kinds, [None] * args.batch
    def told(results, keys):
        for who, rows in results.items():
            for r in rows:
                total[who].update(pictures=1, zone_claimed=any(r["zone"]), key_in_a_frame="wrong" in r["fates"], key_accepted=r["accepted"] is not None)
            report("none", {"who": who, "frames_each": args.frames, **total[who], "accepted_ci": wilson(total[who]["key_accepted"], total[who]["pictures"])})
    in_batches(args, contenders, workers, draw, told)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("job", choices=["video", "wrong", "none"])
    parser.add_argument("--atlas", default="build/atlas.npz")
    parser.add_argument("--find", default="build/find.pt")
    parser.add_argument("--read", default="build/read.pt")
    parser.add_argument("--kept", choices=["find", "read"], help="the networks of this job as they are shipped")
    parser.add_argument("--shipped", action="store_true", help="only the networks that the page loads, from ../networks")
    parser.add_argument("--versus", action="store_true", help="those beside the new ones, on the same frames")
    parser.add_argument("--documents", type=int, default=1280, help="films, documents or pictures, at most; for each level and each of --faces")
    parser.add_argument("--frames", type=int, default=None)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seed", type=int, default=31_000_000)
    parser.add_argument("--minutes", type=float, default=9)
    parser.add_argument("--workers", type=int, default=14)
    parser.add_argument("--keep", help="writes what every frame said into this file; not for a test, but to choose the rule by")
    parser.add_argument("--faces", nargs="*", default=["held"], choices=["train", "held", "foreign"])
    parser.add_argument("--levels", nargs="*", choices=list(LEVELS), help="of video and wrong; without it video takes all")
    parser.add_argument("--contrast", type=float, default=0.0, help="of wrong: documents with less are left out of --documents")
    parser.add_argument("--out")
    args = parser.parse_args()
    args.frames = args.frames or {"video": 10, "wrong": 10, "none": 2}[args.job]
    began = time.time()
    args.over = lambda: time.time() - began > args.minutes * 60
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with multiprocessing.get_context("spawn").Pool(args.workers) as workers:
        contenders = load(args, device)
        def report(kind, row):
            line = json.dumps({"job": kind, "seed": args.seed, "seconds": round(time.time() - began), **row})
            print(line, flush=True)
            if args.out:
                with open(args.out, "a") as f:
                    f.write(line + "\n")
        {"video": video, "wrong": wrong, "none": none}[args.job](args, device, contenders, workers, report)


if __name__ == "__main__":
    main()
