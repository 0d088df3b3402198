"""Trains the networks on rendered pictures for a given number of minutes.

  train.py coarse --minutes 4 --out build/coarse.pt
  train.py zone   --minutes 9 --out build/zone.pt [--resume build/zone.pt]
  train.py read   --minutes 9 --out build/read.pt --refine build/zone.pt [--resume build/read.pt]
  train.py JOB --smoke     a few steps on a CPU, to see that everything runs
"""

import argparse
import copy
import math
import time

import torch
import torch.nn.functional as F

import pipeline
import texts
from networks import COARSE, READ, REFINE, Network
from render import PAGE_MM, Renderer, apply

HEAT_SIGMA = 1.1


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
        # A step that is not finite is not taken. On a GPU the optimizer itself is told, because an answer here would have to be waited for.
        sound = torch.stack([torch.isfinite(norm) for norm in norms]).all()
        if self.device == "cuda":
            self.optimizer.found_inf = (~sound).float()
        elif not sound:
            self.optimizer.zero_grad(set_to_none=True)
        self.optimizer.step()
        self.step_count += 1
        if self.step_count % 4 == 0 or self.step_count < 4:
            self.average()
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

    def save(self, path):
        torch.save({"raw": {n: m.state_dict() for n, m in self.networks.items()}, "ema": {n: m.state_dict() for n, m in self.ema.items()}, "optimizer": self.optimizer.state_dict(), "steps": self.step_count}, path)


def resume(net, state):
    """Layers that have the same place and size go on, the others begin anew."""
    own = net.state_dict()
    kept = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
    net.load_state_dict(kept, strict=False)
    print("resumed", len(kept), "of", len(own), flush=True)


def amp(device):
    return torch.autocast("cuda", torch.bfloat16) if device == "cuda" else torch.autocast("cpu", enabled=False)


# ---- the coarse search: whole frames ----

FRAMES = ((480, 640), (640, 480), (360, 640), (640, 360))


@torch.no_grad()
def coarse_batch(renderer, pool, count, frame, level=None, per_mm=4):
    kinds, text = pool.batch(renderer, count)
    d = renderer.u(count) if level is None else torch.full((count,), level, device=renderer.device)
    fate = renderer.u(count)
    zone, cut = fate > 0.12, (fate > 0.12) & (fate < 0.22)
    page, g = renderer.page(text, kinds, d, per_mm, PAGE_MM, zone)
    pose = renderer.pose(g, d, frame, turn=renderer.pick(count, 4))
    h, w = frame
    shift = torch.stack([renderer.u(count, -1, 1), renderer.u(count, -1, 1)], -1)
    shift = shift / shift.abs().amax(1, keepdim=True).clamp(min=1e-3) * torch.tensor([w, h], device=renderer.device) * renderer.u(count, 0.4, 1.2)[:, None]
    m = renderer.homography(g, pose, frame, shift * cut[:, None])
    corners = apply(m, renderer.zone_corners(g))
    inside = ((corners > 0) & (corners < torch.tensor([w, h], device=renderer.device))).all(2).all(1)
    x = renderer.nuisance(g, d, renderer.local_scale(m, renderer.zone_corners(g)), frame)
    seen, _ = renderer.shoot(page, g, m, x, frame, per_mm)
    return seen, pipeline.ordered(corners), zone & inside


def train_coarse(args, device):
    renderer = Renderer(args.atlas, device, args.seed)
    pool = Texts(args.seed, args.documents, device)
    trainer = Trainer({"coarse": Network(COARSE)}, device, args)
    net = trainer.networks["coarse"]
    while trainer.share() < 1 and trainer.step_count < args.steps:
        frame = FRAMES[int(torch.randint(4, (1,)))]
        seen, quad, valid = coarse_batch(renderer, pool, args.batch, frame)
        with amp(device):
            maps, score = net(pipeline.standard(pipeline.shrunk(seen, pipeline.LONG_SIDE, 16), 0.05).contiguous(memory_format=torch.channels_last))
        cells = quad / torch.tensor([frame[1] / maps.shape[-1], frame[0] / maps.shape[-2]], device=device)
        trainer.step({
            "corners": heat_loss(maps.float(), cells, valid),
            "score": F.binary_cross_entropy_with_logits(score[:, 0].float(), valid.float()),
        })
    trainer.save(args.out)
    check_coarse(args, device, trainer.ema["coarse"])


@torch.no_grad()
def check_coarse(args, device, net):
    renderer = Renderer(args.atlas, device, 77, "held")
    pool = Texts(7_000_001, 200 if args.smoke else 5000, device, held=True, scramble=0)
    for level in (0.25, 0.55, 0.9):
        errors, right, zones, none, kept = [], 0, 0, 0, 0
        for i in range(1 if args.smoke else 12):
            frame = FRAMES[i % 4]
            seen, quad, valid = coarse_batch(renderer, pool, args.batch, frame, level)
            maps, score = net(pipeline.standard(pipeline.shrunk(seen, pipeline.LONG_SIDE, 16), 0.05))
            at, _ = pipeline.corner_points(maps.float())
            cells = quad / torch.tensor([frame[1] / maps.shape[-1], frame[0] / maps.shape[-2]], device=device)
            errors.append(((at - cells).norm(dim=-1).amax(1) * 4)[valid])
            said = score[:, 0] > 0
            zones, right = zones + int(valid.sum()), right + int((said & valid).sum())
            none, kept = none + int((~valid).sum()), kept + int((said & ~valid).sum())
        e = torch.cat(errors)
        print(f"coarse level {level}: worst corner median {e.median():.2f} p95 {e.quantile(0.95):.2f} p99 {e.quantile(0.99):.2f} px of 256; found {right}/{zones}, false {kept}/{none}", flush=True)


# ---- the closer look and the reading: the surroundings of the zone ----

WINDOW = (256, 1088)


def counts_of(batch):
    """TD1, TD2, TD3: every batch has all of them, or batch norm learns to tell them apart by the batch."""
    return (batch * 9 // 32, batch * 9 // 32, batch - 2 * (batch * 9 // 32))


@torch.no_grad()
def zone_batch(renderer, pool, count, level=None, per_mm=8):
    device = renderer.device
    counts = counts_of(count)
    kinds, text = pool.sorted_batch(renderer, counts)
    d = renderer.u(count) if level is None else torch.full((count,), level, device=device)
    zone = renderer.u(count) > 0.08
    page, g = renderer.page(text, kinds, d, per_mm, zone=zone)
    pose = renderer.pose(g, d, WINDOW, along_px=renderer.u(count, 9.5 - 2 * d, 30))
    m = renderer.homography(g, pose, WINDOW)
    corners = apply(m, renderer.zone_corners(g))
    scale = renderer.local_scale(m, renderer.zone_corners(g))
    x = renderer.nuisance(g, d, scale, WINDOW)
    seen, covered = renderer.shoot(page, g, m, x, WINDOW, per_mm)
    shape = torch.tensor([texts.SHAPE_OF[k] for k in range(5)], device=device)[kinds]
    return {"seen": seen, "quad": corners, "zone": zone, "shape": shape, "text": text, "covered": covered, "counts": counts, "pitch": scale * g["pitch"]}


def rough(renderer, batch):
    """The quad as the coarse search would give it, sometimes upside down, sometimes beside the zone."""
    quad = batch["quad"]
    b = len(quad)
    wide = (quad[:, 1] - quad[:, 0]).norm(dim=-1)
    sigma = wide * (0.001 + 0.045 * renderer.u(b) ** 2)
    # More along the lines than across: a zone is long.
    by = torch.tensor([1.0, 0.55], device=quad.device)
    out = quad + renderer.n(quad.shape) * sigma[:, None, None] * by + renderer.n((b, 1, 2)) * (sigma * 0.7)[:, None, None] * by
    missed = renderer.u(b) < 0.07
    tall = (quad[:, 3] - quad[:, 0])
    out = out + torch.where(missed, torch.sign(renderer.u(b, -1, 1)) * renderer.u(b, 0.8, 1.6), torch.zeros(b, device=out.device))[:, None, None] * tall[:, None]
    turned = renderer.u(b) < 0.5
    return torch.where(turned[:, None, None], out.roll(2, 1), out), turned, batch["zone"] & ~missed


def refine_losses(net, renderer, batch, device):
    with torch.no_grad():
        given, turned, valid = rough(renderer, batch)
        crop, to_frame = pipeline.crop_of(F.avg_pool2d(batch["seen"], 2), given / 2)
        true = torch.where(turned[:, None, None], batch["quad"].roll(2, 1), batch["quad"]) / 2
        cells = apply(torch.linalg.inv(to_frame), true) / 4
    with amp(device):
        maps, head = net(pipeline.standard(crop, 0.05).contiguous(memory_format=torch.channels_last))
    head = head.float()
    kind = torch.where(valid, batch["shape"], torch.full_like(batch["shape"], 3))
    flip = F.binary_cross_entropy_with_logits(head[:, 4], turned.float(), reduction="none")
    return {
        "corners": heat_loss(maps.float(), cells, valid),
        "shape": 0.5 * F.cross_entropy(head[:, :4], kind),
        "turn": 0.5 * (flip * valid).sum() / valid.sum().clamp(min=1),
    }


def read_inputs(renderer, batch, quads):
    """For each shape: strips of exactly its width, what they say, what of it is covered, and which lines there are at all. Lines are not padded to one width, because the page does not either."""
    start = 0
    for (lines, chars), count in zip(pipeline.SHAPES, batch["counts"]):
        which = slice(start, start + count)
        start += count
        n = torch.full((count,), float(lines), device=quads.device)
        c = torch.full((count,), float(chars), device=quads.device)
        strips = pipeline.strips_of(batch["seen"][which], quads[which], n, c, widest=chars)[:, :lines].flatten(0, 1)
        text = batch["text"][which][:, :lines, :chars].flatten(0, 1)
        covered = batch["covered"][which][:, :lines, :chars].flatten(0, 1)
        yield strips, text, covered, batch["zone"][which].repeat_interleave(lines)


def cuts(refine, renderer, batch):
    """Corners to read by: as far off as chance makes them, and as the refinement really finds them."""
    quad, b = batch["quad"], len(batch["quad"])
    sigma = batch["pitch"] * renderer.u(b, 0.02, 0.22)
    yield quad + renderer.n(quad.shape) * sigma[:, None, None] * torch.tensor([1.4, 1.0], device=quad.device)
    wide = (quad[:, 1] - quad[:, 0]).norm(dim=-1)
    given = quad + renderer.n(quad.shape) * (wide * (0.001 + 0.015 * renderer.u(b) ** 2))[:, None, None]
    found = pipeline.look_closer(refine, batch["seen"], given)["quad"]
    near = (found - quad).norm(dim=-1).amax(1) < 1.2 * batch["pitch"]
    yield torch.where(near[:, None, None], found, quad)


def read_loss(net, strips, text, covered, there, device):
    with amp(device):
        maps, _ = net(strips.contiguous(memory_format=torch.channels_last))
    logs = maps[:, :, 0].float().log_softmax(1).permute(2, 0, 1)
    # Covered characters move to the end of the target, which its length cuts off: what nobody can see is not to be guessed.
    order = torch.argsort(covered.to(torch.uint8), dim=1, stable=True)
    lengths = (~covered).sum(1)
    frames = torch.full((len(text),), logs.shape[0], dtype=torch.long, device=logs.device)
    loss = F.ctc_loss(logs, text.gather(1, order), frames, lengths, blank=pipeline.BLANK, reduction="none", zero_infinity=True)
    return (loss / text.shape[1] * there).sum() / there.sum().clamp(min=1)


def timed(device):
    if device == "cuda":
        torch.cuda.synchronize()
    return time.time()


def train_zone(args, device):
    """The closer look: corners, shape, and which way is up."""
    renderer = Renderer(args.atlas, device, args.seed)
    pool = Texts(args.seed + 1, args.documents, device)
    trainer = Trainer({"refine": Network(REFINE)}, device, args)
    while trainer.share() < 1 and trainer.step_count < args.steps:
        batch = zone_batch(renderer, pool, args.batch)
        trainer.step(refine_losses(trainer.networks["refine"], renderer, batch, device))
    trainer.save(args.out)


def train_read(args, device):
    """The text, by corners of a refinement that is trained already."""
    renderer = Renderer(args.atlas, device, args.seed)
    pool = Texts(args.seed + 1, args.documents, device, confusable=0.3)
    refine = Network(REFINE)
    refine.load_state_dict(torch.load(args.refine, map_location=device, weights_only=True)["ema"]["refine"])
    refine.to(device, memory_format=torch.channels_last).eval()
    trainer = Trainer({"read": Network(READ)}, device, args)
    net, rounds = trainer.networks["read"], 0
    while trainer.share() < 1 and trainer.step_count < args.steps:
        measure = rounds in (1, 10, 40)
        at = [timed(device)] if measure else []
        with torch.no_grad():
            batch = zone_batch(renderer, pool, args.batch)
            if measure:
                at.append(timed(device))
            # Drawing takes long, so each picture is read twice, cut out differently; each shape is a step of its own, because a step's price is mostly the number of its kernels.
            inputs = [part for quads in cuts(refine, renderer, batch) for part in read_inputs(renderer, batch, quads)]
        if measure:
            at.append(timed(device))
        for part in inputs:
            trainer.step({"read": 4 * read_loss(net, *part, device)})
        if measure:
            at.append(timed(device))
            print("milliseconds: draw, cut, six steps", [round((b - a) * 1000) for a, b in zip(at, at[1:])], flush=True)
        rounds += 1
        if rounds % 100 == 0:
            trainer.save(args.out)
    trainer.save(args.out)
    if not args.no_check:
        check_read(args, device, refine, trainer.ema["read"])


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
def check_read(args, device, refine, read):
    for use in ("train", "held", "foreign"):
        renderer = Renderer(args.atlas, device, 78, use)
        pool = Texts(7_000_002, 200 if args.smoke else 5000, device, held=True, scramble=0)
        for level in (0.2, 0.5, 0.8):
            lines = right = shapes = turns = zones = 0
            errors = []
            for _ in range(1 if args.smoke else 6):
                batch = zone_batch(renderer, pool, args.batch, level)
                given, turned, valid = rough(renderer, batch)
                found = pipeline.look_closer(refine, batch["seen"], given)
                away = (found["quad"] - batch["quad"]).norm(dim=-1).amax(1) / batch["pitch"]
                errors.append(away[valid])
                zones += int(valid.sum())
                shapes += int((found["shape"].argmax(1) == batch["shape"])[valid].sum())
                turns += int((found["turned"] == turned)[valid].sum())
                for strips, text, covered, there in read_inputs(renderer, batch, batch["quad"]):
                    maps, _ = read(strips)
                    for got, want, lost in zip(greedy(maps[:, :, 0]), text.tolist(), (covered.any(1) | ~there).tolist()):
                        if not lost:
                            lines, right = lines + 1, right + (got == want)
            e = torch.cat(errors)
            print(f"{use} faces, level {level}: exact lines {right}/{lines} = {right / max(1, lines):.4f}; worst corner median {e.median():.2f} p95 {e.quantile(0.95):.2f} of a character; shape {shapes}/{zones}, turn {turns}/{zones}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("job", choices=["coarse", "zone", "read"])
    parser.add_argument("--minutes", type=float, default=4)
    parser.add_argument("--atlas", default="build/atlas.npz")
    parser.add_argument("--out")
    parser.add_argument("--resume")
    parser.add_argument("--refine", default="build/zone.pt")
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
    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() and not args.smoke else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = True
    # All batches have the same few sizes, so trying the library's algorithms for each pays.
    torch.backends.cudnn.benchmark = True
    print(args.job, device, torch.__version__, flush=True)
    {"coarse": train_coarse, "zone": train_zone, "read": train_read}[args.job](args, device)


if __name__ == "__main__":
    main()
