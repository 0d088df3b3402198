"""Trains the networks on rendered pictures for a given number of minutes.

  train.py find --minutes 9 [--resume build/find.pt | --shipped]    where the zone is: the rough look at whole frames, and the closer one from where that one, and itself, have it
  train.py read --minutes 9 [--resume build/read.pt | --shipped]    the text, by corners that a refinement finds: of --refine, or the shipped one
  train.py JOB --smoke     a few steps on a CPU, to see that everything runs

With --shipped the weights that the page loads are trained on. With --member 0 --members 3, three trainings of one network go on beside each other, each with a seed of its own, and take the mean of their weights every few seconds.
"""

import argparse
import copy
import math
import os
import pathlib
import time

import torch
import torch.nn.functional as F

import export
import pipeline
import texts
from networks import COARSE, READ, REFINE, Network
from render import PAGE_MM, Renderer, apply

HEAT_SIGMA = 1.1
# Half: a member learns little that the others have not. Twice: means of what lies further apart.
MEETING_SECONDS = 20


class Texts:
    def __init__(self, seed, count, device, held=False, scramble=0.25, visas=0.12, confusable=0.0):
        kinds, text, self.keys = texts.documents(seed, count, held, scramble, visas, confusable)
        self.kinds, self.text = torch.from_numpy(kinds).to(device), torch.from_numpy(text).to(device)

        shape = torch.tensor([texts.SHAPE_OF[k] for k in range(5)], device=device)[self.kinds]
        self.of_shape = [(shape == n).nonzero()[:, 0] for n in range(3)]

    def batch(self, renderer, count):
        at = renderer.pick(count, len(self.kinds))
        return self.kinds[at], self.text[at]

    def sorted_batch(self, renderer, counts):
        """So many of each shape, one shape after the other: every batch has the same sizes, so that the library plans its kernels once."""
        at = torch.cat([of[renderer.pick(count, len(of))] for of, count in zip(self.of_shape, counts)])
        return self.kinds[at], self.text[at]


def heat_loss(maps, cells, valid):
    """Cross entropy against a small hill at the true corner, and the distance of the refined peak from it."""
    b, k, h, w = maps.shape
    y = torch.arange(h, device=maps.device).view(1, 1, h, 1) + 0.5
    x = torch.arange(w, device=maps.device).view(1, 1, 1, w) + 0.5
    hill = torch.exp(-((x - cells[..., 0, None, None]) ** 2 + (y - cells[..., 1, None, None]) ** 2) / (2 * HEAT_SIGMA ** 2)).flatten(2)
    inside = (cells[..., 0] > 0) & (cells[..., 0] < w) & (cells[..., 1] > 0) & (cells[..., 1] < h) & valid[:, None]
    hill = hill / hill.sum(-1, keepdim=True).clamp(min=1e-6)
    ce = -(hill * maps.flatten(2).log_softmax(-1)).sum(-1)
    # Around the true corner, not around the peak, so that the gradient exists from the first step.
    near = ((y - cells[..., 1, None, None]).abs() <= 3) & ((x - cells[..., 0, None, None]).abs() <= 3)
    q = (maps.masked_fill(~near, -1e4)).flatten(2).softmax(-1).view(b, k, h, w)
    at = torch.stack([(q * x).sum((2, 3)), (q * y).sum((2, 3))], -1)
    away = (at - cells).abs().sum(-1)
    weight = inside.float()
    return ((ce + 0.3 * away) * weight).sum() / weight.sum().clamp(min=1)


class Trainer:
    def __init__(self, networks, device, args):
        self.networks, self.device, self.seconds, self.rate, self.last = networks, device, args.minutes * 60, args.rate, args.last_rate
        self.began, self.step_count, self.sums = None, 0, {}
        self.out, self.member, self.members, self.met = args.out, args.member, args.members, time.time()
        before = None if args.resume is None else torch.load(args.resume, map_location=device, weights_only=True)
        if before is not None:
            for name in networks:
                resume(networks[name], before["raw"][name])
        for net in networks.values():
            net.to(device, memory_format=torch.channels_last).train()
        self.ema = {name: copy.deepcopy(net).eval() for name, net in networks.items()}
        self.optimizer = torch.optim.AdamW([p for n in networks.values() for p in n.parameters()], self.rate, weight_decay=0.01, fused=device == "cuda")
        if before is not None and "optimizer" in before and not args.fresh:
            self.optimizer.load_state_dict(before["optimizer"])

    def share(self):
        return 0.0 if self.began is None else (time.time() - self.began) / self.seconds

    def step(self, losses):
        if self.began is None:
            self.began = time.time()
        warm = min(1.0, (self.step_count + 1) / 150)
        for group in self.optimizer.param_groups:
            group["lr"] = warm * (self.last + (self.rate - self.last) * (0.5 + 0.5 * math.cos(math.pi * min(1.0, self.share()))))
        self.optimizer.zero_grad(set_to_none=True)
        total = sum(losses.values())
        total.backward()
        # Each network by itself: they share the pictures, not the size of their gradients.
        norms = [torch.nn.utils.clip_grad_norm_(n.parameters(), 5.0) for n in self.networks.values() if next(n.parameters()).grad is not None]
        # Skips a step that is not finite. On a GPU the optimizer checks it,
        # because a check here would wait for the result.
        sound = torch.stack([torch.isfinite(norm) for norm in norms]).all()
        if self.device == "cuda":
            self.optimizer.found_inf = (~sound).float()
        elif not sound:
            self.optimizer.zero_grad(set_to_none=True)
        self.optimizer.step()
        self.step_count += 1
        if self.step_count % 4 == 0 or self.step_count < 4:
            self.average()
        if self.members > 1 and time.time() - self.met > MEETING_SECONDS:
            self.meet()
        for name, loss in losses.items():
            self.sums[name] = self.sums.get(name, 0) + loss.detach()
        if self.step_count in (1, 10, 50) or self.step_count % 200 == 0:
            n = self.step_count - getattr(self, "told", 0)
            self.told = self.step_count
            print(f"{time.time() - self.began:6.0f} s step {self.step_count}", *(f"{k} {float(v) / n:.4f}" for k, v in self.sums.items()), flush=True)
            self.sums = {}

    def average(self):
        """The weights that are kept: an average over the last hundreds of steps (EMA), every fourth step because that is enough."""
        keep = min(0.994, (1 + self.step_count) / (40 + self.step_count))
        with torch.no_grad():
            for name, net in self.networks.items():
                mine, theirs = list(self.ema[name].state_dict().values()), list(net.state_dict().values())
                floats = [(a, b) for a, b in zip(mine, theirs) if a.is_floating_point()]
                torch._foreach_lerp_([a for a, _ in floats], [b for _, b in floats], 1 - keep)
                for a, b in zip(mine, theirs):
                    if not a.is_floating_point():
                        a.copy_(b)

    def meet(self):
        """Goes on from the mean of what all members have last written. Nobody waits for anybody."""
        self.met = time.time()
        written({n: m.state_dict() for n, m in self.networks.items()}, f"{self.out}.met")
        states = [torch.load(path, map_location=self.device, weights_only=True) for path in team(self.out, ".met", self.member, self.members) if path.exists()]
        for name, net in self.networks.items():
            net.load_state_dict(mean_of([state[name] for state in states]))

    def save(self):
        written({"raw": {n: m.state_dict() for n, m in self.networks.items()}, "ema": {n: m.state_dict() for n, m in self.ema.items()}, "optimizer": self.optimizer.state_dict(), "steps": self.step_count}, self.out)


def written(state, path):
    """Whole or not at all: others read it."""
    torch.save(state, f"{path}.part")
    os.replace(f"{path}.part", path)


def team(out, ending, member, members):
    """The files of all members; a member's name ends in its number."""
    stem = out.removesuffix(f"-{member}.pt")
    return [pathlib.Path(f"{stem}-{n}.pt{ending}") for n in range(members)]


def mean_of(states):
    return {name: torch.stack([s[name] for s in states]).mean(0) if value.is_floating_point() else value for name, value in states[0].items()}


def join(args):
    """The mean of the averages of all members, as one file."""
    states = [torch.load(path, map_location="cpu", weights_only=True) for path in args.team]
    joined = {kind: {name: mean_of([s[kind][name] for s in states]) for name in states[0][kind]} for kind in ("raw", "ema")}
    written({**joined, "steps": [s["steps"] for s in states]}, args.out)
    print("joined", args.out, [s["steps"] for s in states], flush=True)


def resume(net, state):
    """Layers that have the same place and size go on, the others begin anew."""
    own = net.state_dict()
    kept = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
    net.load_state_dict(kept, strict=False)
    print("resumed", len(kept), "of", len(own), flush=True)


def amp(device):
    return torch.autocast("cuda", torch.bfloat16) if device == "cuda" else torch.autocast("cpu", enabled=False)


# ---- where the zone is: whole frames ----

FRAMES = ((480, 640), (640, 480), (360, 640), (640, 360))


@torch.no_grad()
def frame_batch(renderer, pool, count, frame, level=None, per_mm=4):
    """Whole frames as the rough look shrinks them and the closer one is cut from."""
    kinds, text = pool.batch(renderer, count)
    d = renderer.u(count) if level is None else torch.full((count,), level, device=renderer.device)
    fate = renderer.u(count)
    zone, cut = fate > 0.1, (fate > 0.1) & (fate < 0.18)
    page, g = renderer.page(text, kinds, d, per_mm, PAGE_MM, zone)
    pose = renderer.pose(g, d, frame, turn=renderer.pick(count, 4))
    h, w = frame
    shift = torch.stack([renderer.u(count, -1, 1), renderer.u(count, -1, 1)], -1)
    shift = shift / shift.abs().amax(1, keepdim=True).clamp(min=1e-3) * torch.tensor([w, h], device=renderer.device) * renderer.u(count, 0.4, 1.2)[:, None]
    m = renderer.homography(g, pose, frame, shift * cut[:, None])
    corners = apply(m, renderer.zone_corners(g))
    inside = ((corners > 0) & (corners < torch.tensor([w, h], device=renderer.device))).all(2).all(1)
    x = renderer.nuisance(g, d, renderer.local_scale(m, renderer.zone_corners(g)), frame)
    # A camera's frame has four pixels for each of these.
    x["noise"] = x["noise"] * 0.5
    seen, _ = renderer.shoot(page, g, m, x, frame, per_mm)
    shape = torch.tensor([texts.SHAPE_OF[k] for k in range(5)], device=renderer.device)[kinds]
    return {"seen": seen, "quad": corners, "valid": zone & inside, "shape": shape}


def rough_losses(net, batch, device):
    seen, valid = batch["seen"], batch["valid"]
    with amp(device):
        maps, score = net(pipeline.standard(pipeline.shrunk(seen, pipeline.LONG_SIDE, 16), 0.05).contiguous(memory_format=torch.channels_last))
    cells = pipeline.ordered(batch["quad"]) / cell_size(seen, maps)
    return maps, {
        "rough corners": heat_loss(maps.float(), cells, valid),
        "score": F.binary_cross_entropy_with_logits(score[:, 0].float(), valid.float()),
    }


def cell_size(seen, maps):
    return torch.tensor([seen.shape[-1] / maps.shape[-1], seen.shape[-2] / maps.shape[-2]], device=seen.device)


def nudged(renderer, quad):
    """A quad near the true one, sometimes upside down, sometimes with one corner on another line, sometimes beside the zone."""
    b = len(quad)
    wide = (quad[:, 1] - quad[:, 0]).norm(dim=-1)
    sigma = wide * (0.001 + 0.045 * renderer.u(b) ** 2)
    # More along the lines than across: a zone is long.
    by = torch.tensor([1.0, 0.55], device=quad.device)
    out = quad + renderer.n(quad.shape) * sigma[:, None, None] * by + renderer.n((b, 1, 2)) * (sigma * 0.7)[:, None, None] * by
    tall = quad[:, 3] - quad[:, 0]
    fate = renderer.u(b)
    off = torch.sign(renderer.u(b, -1, 1)) * torch.where(fate < 0.07, renderer.u(b, 0.8, 1.6), renderer.u(b, 0.3, 0.6))
    slipped = F.one_hot(renderer.pick(b, 4), 4)
    where = torch.where((fate < 0.07)[:, None], torch.ones_like(slipped), slipped * ((fate > 0.07) & (fate < 0.2))[:, None])
    out = out + (off[:, None] * where)[..., None] * tall[:, None]
    return torch.where((renderer.u(b) < 0.5)[:, None, None], out.roll(2, 1), out)


def close_losses(net, batch, given, device):
    """What the closer look should say from `given`: the corners that it can see, the shape where it sees the zone whole, that there is none where it sees hardly any of it, and whether it is upside down."""
    with torch.no_grad():
        quad, valid = batch["quad"], batch["valid"]
        turned = ((given[:, 1] - given[:, 0]) * (quad[:, 1] - quad[:, 0])).sum(1) < 0
        crop, to_frame = pipeline.crop_of(batch["seen"], given)
        # Corners in one place make no picture, and one sample that is no number would spoil batch norm for good.
        crop = torch.nan_to_num(crop, 0.0, 0.0, 0.0)
        cells = apply(torch.linalg.inv_ex(to_frame)[0], torch.where(turned[:, None, None], quad.roll(2, 1), quad)) / 4
        size = torch.tensor([pipeline.CROP_W / 4, pipeline.CROP_H / 4], device=device)
        inside = ((cells > 0) & (cells < size)).all(2).sum(1)
        whole, none = valid & (inside == 4), ~valid | (inside < 2)
        kind = torch.where(none, torch.full_like(batch["shape"], 3), batch["shape"])
        counts = (whole | none).float()
    with amp(device):
        maps, head = net(pipeline.standard(crop, 0.05).contiguous(memory_format=torch.channels_last))
    head = head.float()
    flip = F.binary_cross_entropy_with_logits(head[:, 4], turned.float(), reduction="none")
    return {
        "corners": heat_loss(maps.float(), torch.nan_to_num(cells, -1.0, -1.0, -1.0), valid & ~none),
        "shape": 0.5 * (F.cross_entropy(head[:, :4], kind, reduction="none") * counts).sum() / counts.sum().clamp(min=1),
        "turn": 0.5 * (flip * whole).sum() / whole.sum().clamp(min=1),
    }


@torch.no_grad()
def places(renderer, coarse_maps, refine, batch):
    """Where the closer look begins: where the rough one has the zone, and, half and half, where the closer one has it from there, or about where it is."""
    seen, quad = batch["seen"], batch["quad"]
    first = pipeline.corner_points(coarse_maps.float())[0] * cell_size(seen, coarse_maps)
    found = pipeline.look_closer(refine, seen, first)["quad"]
    again = (renderer.u(len(seen)) < 0.5) & torch.isfinite(found).flatten(1).all(1)
    return first, torch.where(again[:, None, None], found, nudged(renderer, quad))


def train_find(args, device):
    renderer = Renderer(args.atlas, device, args.seed, scanned=args.scanned)
    pool = Texts(args.seed, args.documents, device)
    trainer = Trainer(begun(args, {"coarse": COARSE, "refine": REFINE}, lambda: find_pictures(args, device)), device, args)
    nets, rounds = trainer.networks, 0
    while trainer.share() < 1 and trainer.step_count < args.steps:
        batch = frame_batch(renderer, pool, args.batch, FRAMES[int(torch.randint(4, (1,)))])
        maps, losses = rough_losses(nets["coarse"], batch, device)
        given = torch.cat(places(renderer, maps.detach(), trainer.ema["refine"], batch))
        twice = {name: torch.cat([value, value]) for name, value in batch.items()}
        trainer.step({**losses, **close_losses(nets["refine"], twice, given, device)})
        rounds += 1
        if rounds % 300 == 0:
            trainer.save()
    trainer.save()
    if not args.no_check:
        check_find(args, device, trainer.ema)


@torch.no_grad()
def find_pictures(args, device):
    """What the shipped networks' batch norm is made anew with."""
    renderer, pool = Renderer(args.atlas, device, args.seed + 3, scanned=args.scanned), Texts(args.seed + 3, 400, device)
    batch = frame_batch(renderer, pool, 8 if args.smoke else 96, FRAMES[0])
    return {
        "coarse": pipeline.standard(pipeline.shrunk(batch["seen"], pipeline.LONG_SIDE, 16), 0.05),
        "refine": pipeline.standard(pipeline.crop_of(batch["seen"], nudged(renderer, batch["quad"]))[0], 0.05),
    }


@torch.no_grad()
def check_find(args, device, nets):
    renderer = Renderer(args.atlas, device, 77, "held")
    pool = Texts(7_000_001, 200 if args.smoke else 5000, device, held=True, scramble=0)
    for level in (0.2, 0.5, 0.8):
        rough, close, right, zones, none, kept, shapes = [], [], 0, 0, 0, 0, 0
        for i in range(1 if args.smoke else 12):
            batch = frame_batch(renderer, pool, args.batch, FRAMES[i % 4], level)
            valid, quad = batch["valid"], batch["quad"]
            found = pipeline.find_zone(nets["coarse"], nets["refine"], batch["seen"])
            pitch = (quad[:, 1] - quad[:, 0]).norm(dim=-1) / torch.tensor([c for _, c in pipeline.SHAPES], device=device)[batch["shape"]]
            rough.append(((found["coarse"] - pipeline.ordered(quad)).norm(dim=-1).amax(1) / pitch)[valid])
            close.append(((found["quad"] - quad).norm(dim=-1).amax(1) / pitch)[valid])
            said = found["score"] > 0
            zones, right, shapes = zones + int(valid.sum()), right + int((said & valid).sum()), shapes + int((found["shape"].argmax(1) == batch["shape"])[valid].sum())
            none, kept = none + int((~valid).sum()), kept + int((said & ~valid).sum())
        told = [f"median {e.median():.2f} p95 {e.quantile(0.95):.2f} p99 {e.quantile(0.99):.2f}" for e in (torch.cat(rough), torch.cat(close))]
        print(f"level {level}: worst corner in characters, rough look {told[0]}, closer look {told[1]}, beyond one character {int((torch.cat(close) > 1).sum())}; seen {right}/{zones}, shape {shapes}/{zones}, seen without a zone {kept}/{none}", flush=True)


def begun(args, plans, pictures):
    """Networks to train: new ones, or the shipped ones to train on."""
    if not args.shipped:
        return {name: Network(plan) for name, plan in plans.items()}
    seen = pictures()
    return {name: export.begun(name, seen[name]) for name in plans}


# ---- the text: the surroundings of the zone ----

WINDOW = (192, 832)


def counts_of(batch):
    """TD1, TD2, TD3: every batch has all of them, or batch norm learns to tell them apart by the batch."""
    return (batch * 9 // 32, batch * 9 // 32, batch - 2 * (batch * 9 // 32))


@torch.no_grad()
def zone_batches(renderer, pool, count, shots=2, level=None, per_mm=8):
    """Drawing a page takes long, so it is shot twice: held and lit anew."""
    device = renderer.device
    counts = counts_of(count)
    kinds, text = pool.sorted_batch(renderer, counts)
    # Nothing is left to learn from the easiest.
    d = renderer.u(count, 0.15, 1.0) if level is None else torch.full((count,), level, device=device)
    page, g = renderer.page(text, kinds, d, per_mm)
    for _ in range(shots):
        # No more pixels for a character than a strip can show, nearly: each one has to be drawn.
        pose = renderer.pose(g, d, WINDOW, along_px=renderer.u(count, 9.5 - 2 * d, 20))
        m = renderer.homography(g, pose, WINDOW)
        scale = renderer.local_scale(m, renderer.zone_corners(g))
        x = renderer.nuisance(g, d, scale, WINDOW)
        seen, covered = renderer.shoot(page, g, m, x, WINDOW, per_mm)
        yield {"seen": seen, "quad": apply(m, renderer.zone_corners(g)), "text": text, "covered": covered, "counts": counts, "pitch": scale * g["pitch"]}


def read_inputs(batch, quads):
    """For each shape: strips of exactly its width, what they say, and what of it is covered. Lines are not padded to one width, because the page does not either. Of lines with a name, which are read for little more than their
    first letter, every fourth."""
    start = 0
    for index, ((lines, chars), count) in enumerate(zip(pipeline.SHAPES, batch["counts"])):
        which = slice(start, start + count)
        start += count
        n = torch.full((count,), float(lines), device=quads.device)
        c = torch.full((count,), float(chars), device=quads.device)
        def chosen(of):
            keyed = [of[:, line] for line in range(lines) if line != texts.NAME_LINE[index]]
            return torch.cat([*keyed, of[:max(1, count // 4), texts.NAME_LINE[index]]])
        yield (
            chosen(pipeline.strips_of(batch["seen"][which], quads[which], n, c, widest=chars)),
            chosen(batch["text"][which][:, :, :chars]), chosen(batch["covered"][which][:, :, :chars]),
        )


def cuts(refine, renderer, batch):
    """Corners to read by: as far off as chance makes them, and as the refinement really finds them."""
    quad, b = batch["quad"], len(batch["quad"])
    sigma = batch["pitch"] * renderer.u(b, 0.02, 0.22)
    yield quad + renderer.n(quad.shape) * sigma[:, None, None] * torch.tensor([1.4, 1.0], device=quad.device)
    wide = (quad[:, 1] - quad[:, 0]).norm(dim=-1)
    given = quad + renderer.n(quad.shape) * (wide * (0.001 + 0.015 * renderer.u(b) ** 2))[:, None, None]
    found = pipeline.look_closer(refine, batch["seen"], given, F.avg_pool2d(batch["seen"], 2))["quad"]
    near = (found - quad).norm(dim=-1).amax(1) < 1.2 * batch["pitch"]
    yield torch.where(near[:, None, None], found, quad)


def read_loss(net, strips, text, covered, device):
    with amp(device):
        maps, _ = net(strips.contiguous(memory_format=torch.channels_last))
    logs = maps[:, :, 0].float().log_softmax(1).permute(2, 0, 1)
    # Covered characters move to the end of the target, beyond its length: invisible ones must not be guessed.
    order = torch.argsort(covered.to(torch.uint8), dim=1, stable=True)
    lengths = (~covered).sum(1)
    frames = torch.full((len(text),), logs.shape[0], dtype=torch.long, device=logs.device)
    loss = F.ctc_loss(logs, text.gather(1, order), frames, lengths, blank=pipeline.BLANK, reduction="none", zero_infinity=True)
    return (loss / text.shape[1]).mean()


def timed(device):
    if device == "cuda":
        torch.cuda.synchronize()
    return time.time()


def train_read(args, device):
    """The text, by corners of a refinement that is trained already."""
    renderer = Renderer(args.atlas, device, args.seed, scanned=args.scanned)
    # More than half without any language: characters that no check digit distinguishes (0 and O)
    # must be recognized by shape, not by context.
    pool = Texts(args.seed + 1, args.documents, device, scramble=0.55, confusable=0.3)
    refine = export.shipped()["refine"] if args.refine is None else Network(REFINE)
    if args.refine is not None:
        refine.load_state_dict(torch.load(args.refine, map_location=device, weights_only=True)["ema"]["refine"])
    refine.to(device, memory_format=torch.channels_last).eval()
    trainer = Trainer(begun(args, {"read": READ}, lambda: read_pictures(args, device)), device, args)
    net, rounds = trainer.networks["read"], 0
    while trainer.share() < 1 and trainer.step_count < args.steps:
        batches = zone_batches(renderer, pool, args.batch)
        while trainer.share() < 1:
            measure = rounds in (1, 2, 20, 21, 400)
            at = [timed(device)] if measure else []
            with torch.no_grad():
                batch = next(batches, None)
                if batch is None:
                    break
                if measure:
                    at.append(timed(device))
                # Each picture is read twice, cut out differently. Each shape is a separate step,
                # because the cost of a step is mostly the number of its kernels.
                inputs = [part for quads in cuts(refine, renderer, batch) for part in read_inputs(batch, quads)]
            if measure:
                at.append(timed(device))
            for part in inputs:
                trainer.step({"read": 4 * read_loss(net, *part, device)})
            if measure:
                at.append(timed(device))
                print("milliseconds: draw, cut, six steps", [round((b - a) * 1000) for a, b in zip(at, at[1:])], flush=True)
            rounds += 1
            if rounds % 100 == 0:
                trainer.save()
    trainer.save()
    if not args.no_check:
        check_read(args, device, trainer.ema["read"])


@torch.no_grad()
def read_pictures(args, device):
    """What the shipped network's batch norm is made anew with."""
    renderer, pool = Renderer(args.atlas, device, args.seed + 3, scanned=args.scanned), Texts(args.seed + 3, 400, device)
    batch = next(zone_batches(renderer, pool, 6 if args.smoke else 128))
    return {"read": list(read_inputs(batch, batch["quad"]))[-1][0]}


def greedy(logs):
    """[b, 38, t] to lists of classes."""
    path = logs.argmax(1)
    out = []
    for row in path.tolist():
        line, last = [], -1
        for c in row:
            if c != last and c != pipeline.BLANK:
                line.append(c)
            last = c
        out.append(line)
    return out


@torch.no_grad()
def check_read(args, device, read):
    for use in ("train", "held", "foreign"):
        renderer = Renderer(args.atlas, device, 78, use)
        pool = Texts(7_000_002, 200 if args.smoke else 5000, device, held=True, scramble=0)
        for level in (0.2, 0.5, 0.8):
            lines = right = 0
            for batch in (b for _ in range(1 if args.smoke else 6) for b in zone_batches(renderer, pool, args.batch, 1, level)):
                for strips, text, covered in read_inputs(batch, batch["quad"]):
                    maps, _ = read(strips)
                    for got, want, lost in zip(greedy(maps[:, :, 0]), text.tolist(), covered.any(1).tolist()):
                        if not lost:
                            lines, right = lines + 1, right + (got == want)
            print(f"{use} faces, level {level}: exact lines by the true corners {right}/{lines} = {right / max(1, lines):.4f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("job", choices=["find", "read", "join"])
    parser.add_argument("--minutes", type=float, default=4)
    parser.add_argument("--atlas", default="build/atlas.npz")
    parser.add_argument("--scanned", help="characters that scans.py has cut, to train on too")
    parser.add_argument("--out")
    parser.add_argument("--resume")
    parser.add_argument("--shipped", action="store_true", help="trains on the weights that the page loads")
    parser.add_argument("--refine", help="a file of the job find; without it the shipped closer look")
    parser.add_argument("--member", type=int, default=0)
    parser.add_argument("--members", type=int, default=1, help="trainings of this network beside each other; --out of each ends in -MEMBER.pt")
    parser.add_argument("--team", nargs="*", help="of join: the files of all members")
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--last-rate", type=float, default=3e-5)
    parser.add_argument("--fresh", action="store_true", help="with the weights of --resume, but without its optimizer's memory")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--documents", type=int, default=120_000)
    parser.add_argument("--steps", type=int, default=10 ** 9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--no-check", action="store_true", help="leave out the check at the end")
    args = parser.parse_args()
    if args.smoke:
        args.batch, args.documents, args.steps, args.minutes = 6, 100, 2, 1
    args.out = args.out or f"build/{args.job}.pt"
    if args.job == "join":
        return join(args)
    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() and not args.smoke else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = True
    # All batches have the same few sizes, so trying the library's algorithms for each pays.
    torch.backends.cudnn.benchmark = True
    print(args.job, device, torch.__version__, flush=True)
    {"find": train_find, "read": train_read}[args.job](args, device)


if __name__ == "__main__":
    main()
