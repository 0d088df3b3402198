"""Pictures of invented documents, a batch at a time, on whatever device PyTorch has.

A page is drawn flat on a canvas that is 125 mm wide and whose bottom edge is the page's. A shot of it is what a camera sees: bent,
turned, out of focus, badly lit, covered by a finger. One difficulty from 0 to 1 a sample scales everything.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F

import texts

CANVAS_MM = 125.0
ZONE_MM = 30.0
PAGE_MM = 88.0
TAPS = 15
# Shapes kept of each scanned character, from the lightest print to the heaviest,
# and the share of documents printed with them.
SCANNED, SCANNED_SHARE = 96, 0.3


class Renderer:
    def __init__(self, atlas, device, seed, use="train", scanned=None):
        """`use`: faces that are trained on, or designs of OCR-B ("held") or of anything else ("foreign") that never are. `scanned`: characters that scans.py has cut, to train on too."""
        data = np.load(atlas)
        chosen = data["use"] == use
        self.varies = use == "train"
        self.device = device
        self.glyphs = torch.from_numpy(data["glyphs"][chosen]).to(device).float() / 255
        self.face_names = [str(n) for n in data["names"][chosen]]
        share = torch.from_numpy(data["share"][chosen])
        self.share = (share / share.sum()).to(device)
        clutter = data["clutter"] if use == "train" else data["clutter_held"]
        self.clutter = torch.from_numpy(clutter).to(device).float()[:, None] / 255
        self.random = torch.Generator(device=device)
        self.random.manual_seed(seed)
        self.dct = dct_matrix().to(device)
        self.scanned = None if scanned is None or not self.varies else self.scanned_sheets(scanned)

    def scanned_sheets(self, path):
        """[37, SCANNED, h, w]"""
        data, sheets = np.load(path), []
        self.scanned_often = torch.from_numpy(np.bincount(data["classes"], minlength=37) >= 8).to(self.device)
        for character in range(37):
            at = np.nonzero(data["classes"] == character)[0]
            at = at[np.argsort(data["weight"][at], kind="stable")] if len(at) > 0 else np.zeros(1, int)
            sheets.append(data["glyphs"][at[np.linspace(0, len(at) - 1, SCANNED).round().astype(int)]])
        return torch.from_numpy(np.stack(sheets)).to(self.device).float() / 255

    def printed(self, b):
        """Scanned characters of about one weight for each document, whichever documents they are from."""
        at = (self.u((b, 1)) + self.n((b, 37)) * 0.06) * SCANNED
        return self.scanned[torch.arange(37, device=self.device)[None], at.clamp(0, SCANNED - 1).long()]

    def u(self, shape, low=0.0, high=1.0):
        """Uniform; `low` and `high` may be tensors."""
        shape = (shape,) if isinstance(shape, int) else shape
        return torch.rand(shape, generator=self.random, device=self.device) * (high - low) + low

    def n(self, shape):
        return torch.randn(shape, generator=self.random, device=self.device)

    def chance(self, p):
        return torch.rand(p.shape, generator=self.random, device=self.device) < p

    def pick(self, count, of):
        return torch.randint(of, (count,), generator=self.random, device=self.device)

    def kinds_table(self):
        table = torch.tensor([texts.SHAPES[k] for k in range(5)], device=self.device)
        return table

    def page(self, text, kinds, d, per_mm=8, height_mm=ZONE_MM, zone=None, face=None, measure=False):
        """The flat page and where its zone is. `zone` false: a page without one. `measure`: also how well each character is printed, see `legibility`."""
        b = text.shape[0]
        device = self.device
        zone = torch.ones(b, device=device) if zone is None else zone.float()
        lines, chars, width, height = self.kinds_table()[kinds].unbind(1)
        pitch = 2.54 * self.u(b, 0.95, 1.05)
        line_pitch = self.u(b, 5.5, 6.7)
        left = (width - chars * pitch) * self.u(b, 0.3, 0.7)
        bottom = self.u(b, 1.5, 6.0)
        geometry = {
            "lines": lines, "chars": chars, "pitch": pitch, "line_pitch": line_pitch, "left": left, "bottom": bottom,
            "width": width, "height": height, "canvas": height_mm,
        }
        if face is None:
            face = torch.multinomial(self.share, b, replacement=True, generator=self.random)
        variant = self.pick(b, self.glyphs.shape[1])
        sheet = self.glyphs[face, variant]
        if self.scanned is not None:
            is_printed = self.chance(torch.full((b,), SCANNED_SHARE, device=device))[:, None] & self.scanned_often[None]
            sheet = torch.where(is_printed[:, :, None, None], self.printed(b), sheet)
        if self.varies:
            sheet = self.varied(sheet)
        strip = sheet[torch.arange(b, device=device)[:, None, None], text.clamp(min=0)] * (text >= 0)[..., None, None]
        cell_h, cell_w = strip.shape[-2:]
        designed = strip.permute(0, 1, 3, 2, 4).reshape(b, 1, 3 * cell_h, 44 * cell_w)
        strip = self.ink(designed, d)

        canvas_w, rows = int(CANVAS_MM * per_mm), int(27 * per_mm)
        x_mm = (torch.arange(canvas_w, device=device) + 0.5) / per_mm
        up_mm = 27 - (torch.arange(rows, device=device) + 0.5) / per_mm
        bunch = torch.zeros(b, device=device)
        if self.varies:
            # Characters that stand closer at one end of the line: a scan from the side, or a page that bends away.
            bunch = self.u(b, -0.25, 0.25) * self.chance(torch.full((b,), 0.25, device=device))
        geometry["bunch"] = bunch
        share = (x_mm[None] - left[:, None]) / pitch[:, None] / chars[:, None]
        within = share.clamp(0, 1)
        along = (share + bunch[:, None] * within * (1 - within)) * chars[:, None] / 44
        down = (bottom + lines * line_pitch)[:, None] - up_mm[None]
        down = down / line_pitch[:, None]
        line = torch.floor(down)
        cap = self.u(b, 0.84, 1.18)[:, None]
        if self.varies:
            # Print that is higher than it should be for its width, or was scanned so.
            cap = cap * torch.where(self.chance(torch.full((b,), 0.25, device=device)), self.u(b, 1.0, 1.35), torch.ones(b, device=device))[:, None]
        # Where characters stand closer, they are smaller.
        cap = (cap * (1 - bunch[:, None] * (1 - 2 * within)))[:, None, :]
        inside = 0.5 + (down - line - 0.5)[:, :, None] / cap
        is_line = ((line >= 0) & (line < lines[:, None]))[:, :, None] & (inside > 0) & (inside < 1)
        down = torch.where(is_line, (line[:, :, None] + inside) / 3, torch.full_like(inside, -2))
        grid = torch.stack([(along * 2 - 1)[:, None, :].expand(b, rows, canvas_w), down * 2 - 1], -1)
        ink = F.grid_sample(strip, grid, align_corners=False) * zone[:, None, None, None]
        total = int(height_mm * per_mm)
        ink = F.pad(ink, (0, 0, total - rows, 0))

        up = (height_mm - (torch.arange(total, device=device) + 0.5) / per_mm)[None, :, None]
        clutter = self.clutter[self.pick(b, len(self.clutter))]
        clutter = clutter[..., int((PAGE_MM - height_mm) * 4):, :]
        clutter = F.interpolate(clutter, (total, canvas_w), mode="bilinear")[:, 0]
        clutter = torch.minimum(clutter / clutter.amax((1, 2), keepdim=True), torch.ones_like(clutter))
        top = (bottom + lines * line_pitch)[:, None, None]
        above = torch.sigmoid((up - top - self.u(b, 0.3, 4.0)[:, None, None]) * 4)
        ghost = torch.where(zone > 0, self.u(b, 0, 0.16) * self.chance(torch.full((b,), 0.4, device=device)), torch.ones(b, device=device))[:, None, None]
        shown = torch.maximum(above, ghost)
        paper = self.u(b, 0.55, 0.97)[:, None, None]
        guilloche = self.guilloche(b, total, canvas_w, per_mm) * (self.u(b, 0, 0.13) * (0.3 + d))[:, None, None]
        if self.varies:
            guilloche = guilloche * (1 + 1.2 * self.chance(torch.full((b,), 0.15, device=device)))[:, None, None]
            clutter = self.barcode(clutter, up, x_mm, top[:, 0, 0])
            shown = torch.maximum(shown, (clutter < 0).float())
            clutter = clutter.abs()
        page = paper * (1 - shown + shown * clutter) - guilloche
        worn = self.u(b, 0.0, 0.25) + self.chance(0.1 + 0.2 * d) * self.u(b, 0.0, 0.45)
        dark = paper[:, 0, 0] * worn + (1 - worn) * self.u(b, 0.02, 0.22)
        page = page + (dark[:, None, None] - page) * ink[:, 0]
        if measure:
            place = torch.floor(along * 44)[:, None, :] + 44 * line[:, :, None]
            in_zone = ((along >= 0) & (along < chars[:, None] / 44))[:, None, :] & ((line >= 0) & (line < lines[:, None]))[:, :, None]
            whole = F.grid_sample(designed, grid, align_corners=False)[:, 0]
            geometry["contrast"], geometry["missing"] = legibility(page[:, total - rows:], whole, torch.where(in_zone, place, torch.full_like(place, 132)).long())
        return page[:, None], geometry

    def barcode(self, clutter, up, x_mm, top):
        """A barcode close above some zones, as cards have it: what draws corners away most. Its place is told by values below zero."""
        b = len(clutter)
        low = top + self.u(b, 0.2, 3.5)
        start, end = self.u(b, -5, 30), self.u(b, 45, 130)
        bit = torch.floor((x_mm[None] - start[:, None]) / self.u(b, 0.25, 0.7)[:, None]).clamp(0, 511).long()
        bars = (self.u((b, 512)) < self.u(b, 0.35, 0.65)[:, None]).float().gather(1, bit)
        value = 1 - bars * self.u(b, 0.5, 0.95)[:, None]
        across = (x_mm[None] > start[:, None]) & (x_mm[None] < end[:, None])
        tall = (up[:, :, 0] > low[:, None]) & (up[:, :, 0] < (low + self.u(b, 1.2, 10))[:, None])
        there = self.chance(torch.full((b,), 0.16, device=self.device))[:, None, None] & across[:, None, :] & tall[:, :, None]
        return torch.where(there, -value[:, None, :].expand_as(clutter), clutter)

    def varied(self, sheet):
        """Designs that no font has: something between two faces, and characters that are pushed and bent a little, alike in a document and each for itself."""
        b, count, h, w = sheet.shape
        other = self.glyphs[torch.multinomial(self.share, b, replacement=True, generator=self.random), self.pick(b, self.glyphs.shape[1])]
        amount = self.u(b, 0.1, 0.42) * self.chance(torch.full((b,), 0.3, device=self.device))
        between = torch.lerp(F.avg_pool2d(sheet, 3, 1, 1), F.avg_pool2d(other, 3, 1, 1), amount[:, None, None, None])
        sheet = torch.where((amount > 0)[:, None, None, None], torch.sigmoid((between - 0.42) * 9), sheet)
        much = self.u(b) * self.chance(torch.full((b,), 0.75, device=self.device))
        push = (self.n((b, 1, 2, 4, 3)) * 0.06 + self.n((b, count, 2, 4, 3)) * 0.035) * much[:, None, None, None, None]
        # A cell is twice as high as wide: the same distance is half as much in the units of a grid.
        push = push * torch.tensor([1.0, 0.45], device=self.device)[:, None, None]
        push = F.interpolate(push.view(b * count, 2, 4, 3), (h, w), mode="bicubic", align_corners=True).permute(0, 2, 3, 1)
        y, x = torch.linspace(-1 + 1 / h, 1 - 1 / h, h, device=self.device), torch.linspace(-1 + 1 / w, 1 - 1 / w, w, device=self.device)
        grid = torch.stack(torch.meshgrid(x, y, indexing="xy"), -1)[None] + push
        return F.grid_sample(sheet.view(b * count, 1, h, w), grid, align_corners=False).view(b, count, h, w)

    def ink(self, strip, d):
        b = strip.shape[0]
        soft = F.avg_pool2d(strip, 3, 1, 1)
        soft = torch.lerp(soft, F.avg_pool2d(soft, 5, 1, 2), self.u(b)[:, None, None, None])
        h, w = strip.shape[-2:]
        speckle = F.interpolate(self.n((b, 1, h // 4, w // 4)), (h, w), mode="bilinear")
        patches = F.interpolate(self.n((b, 1, h // 24, w // 24)), (h, w), mode="bilinear")
        wear = (self.u(b, 0, 0.12) + self.u(b, 0, 0.22) * d)[:, None, None, None]
        threshold = self.u(b, 0.32, 0.62)[:, None, None, None]
        sharp = self.u(b, 6, 18)[:, None, None, None]
        worn = wear * (speckle * 0.8 + patches)
        fine = torch.sigmoid((soft + worn - threshold) * sharp) * (F.max_pool2d(F.max_pool2d(strip, (9, 1), 1, (4, 0)), (1, 9), 1, (0, 4)) > 0.02)
        if not self.varies:
            return fine
        some = lambda share: self.chance(torch.full((b,), share, device=self.device))[:, None, None, None]
        return torch.where(some(0.45), self.spread(strip, worn), fine) * (1 - self.half_tone(b, h, w) * some(0.08))

    def spread(self, strip, worn):
        """What scans of real print look like: ink that ran, or a blurred picture of it that was made black and white, by a level that changes along the line."""
        b, _, h, w = strip.shape
        zero = torch.zeros(b, device=self.device)
        soft = self.blur(strip[:, 0], self.u(b, 1.0, 4.2), zero, zero)[:, None]
        soft = soft / soft.amax((1, 2, 3), keepdim=True).clamp(min=0.05)
        drift = F.interpolate(self.n((b, 1, 3, 12)), (h, w), mode="bilinear") * self.u(b, 0, 0.14)[:, None, None, None]
        level, sharp = self.u(b, 0.22, 0.58)[:, None, None, None], self.u(b, 7, 40)[:, None, None, None]
        return torch.sigmoid((soft + worn * 0.6 + drift - level) * sharp) * (soft > 0.04)

    def half_tone(self, b, h, w):
        """Dots of a screen, so many pixels apart, that take ink away."""
        y, x = torch.arange(h, device=self.device)[None, :, None], torch.arange(w, device=self.device)[None, None, :]
        k, a = 2 * math.pi / self.u(b, 2.6, 5.5)[:, None, None], self.u(b, 0, 1.6)[:, None, None]
        dots = torch.sin(k * (torch.cos(a) * x + torch.sin(a) * y)) * torch.sin(k * (torch.cos(a) * y - torch.sin(a) * x))
        return ((0.5 + 0.5 * dots) * self.u(b, 0.2, 0.7)[:, None, None])[:, None]

    def guilloche(self, b, h, w, per_mm):
        y = (torch.arange(h, device=self.device) / per_mm)[None, :, None]
        x = (torch.arange(w, device=self.device) / per_mm)[None, None, :]
        def one():
            k, a = self.u(b, 1.0, 8.0 if self.varies else 5.0)[:, None, None], self.u(b, -1.6, 1.6)[:, None, None]
            bend = self.u(b, 0, 3)[:, None, None] * torch.sin(x * self.u(b, 0.05, 0.4)[:, None, None])
            return torch.sin(k * (torch.cos(a) * (y + bend) + torch.sin(a) * x))
        return one() * 0.6 + one() * 0.4

    def pose(self, geometry, d, frame, along_px=None, turn=None):
        """How the camera is held: the zone wholly in the picture. `along_px`: pixels for one character, else a share of the frame."""
        b = d.shape[0]
        h, w = frame
        degrees = math.pi / 180
        turn = torch.zeros(b, device=self.device) if turn is None else turn.float()
        window = along_px is not None
        lean = (2 + 3 * d) if window else (4 + 13 * d)
        tilt = 4 + 22 * d
        if along_px is None:
            room = torch.where(turn % 2 == 0, float(w), float(h))
            along_px = room * self.u(b, 0.62 - 0.17 * d, 0.95) / geometry["chars"]
        pose = {
            "angle": turn * 90 * degrees + self.u(b, -1, 1) * lean * degrees,
            "rx": self.u(b, -1, 1) * tilt * degrees,
            "ry": self.u(b, -1, 1) * tilt * degrees,
            "scale": along_px / geometry["pitch"],
            "px": self.u(b), "py": self.u(b),
        }
        return pose

    def homography(self, geometry, pose, frame, shift=None):
        """Millimetres of the canvas to pixels of the frame."""
        h, w = frame
        b = pose["angle"].shape[0]
        focal = 1.05 * max(h, w)
        ca, sa = torch.cos(pose["angle"]), torch.sin(pose["angle"])
        cx, sx = torch.cos(pose["rx"]), torch.sin(pose["rx"])
        cy, sy = torch.cos(pose["ry"]), torch.sin(pose["ry"])
        zero, one = torch.zeros_like(ca), torch.ones_like(ca)
        rz = torch.stack([ca, -sa, zero, sa, ca, zero, zero, zero, one], -1).view(b, 3, 3)
        rx = torch.stack([one, zero, zero, zero, cx, -sx, zero, sx, cx], -1).view(b, 3, 3)
        ry = torch.stack([cy, zero, sy, zero, one, zero, -sy, zero, cy], -1).view(b, 3, 3)
        r = rz @ rx @ ry
        corners = self.zone_corners(geometry)
        centre = corners.mean(1)
        scale = pose["scale"]
        for _ in range(2):
            distance = focal / scale
            m = torch.zeros(b, 3, 3, device=self.device)
            m[:, 0, :2], m[:, 1, :2] = focal * r[:, 0, :2], focal * r[:, 1, :2]
            m[:, 2, :2], m[:, 2, 2] = r[:, 2, :2], distance
            m[:, :, 2] -= (m[:, :, :2] @ centre[:, :, None])[:, :, 0]
            seen = apply(m, corners)
            low, high = seen.amin(1), seen.amax(1)
            room = torch.tensor([w, h], device=self.device) * 0.97
            fit = (room / (high - low)).amin(1).clamp(max=1)
            scale = scale * fit
        low, high = seen.amin(1) * fit[:, None], seen.amax(1) * fit[:, None]
        size = torch.tensor([w, h], device=self.device)
        margin = size * 0.015
        at = torch.stack([pose["px"], pose["py"]], -1)
        offset = margin - low + at * (size - 2 * margin - (high - low)).clamp(min=0)
        if shift is not None:
            offset = offset + shift
        m[:, 0] += offset[:, :1] * m[:, 2]
        m[:, 1] += offset[:, 1:] * m[:, 2]
        return m

    def zone_corners(self, g):
        right, top = g["left"] + g["chars"] * g["pitch"], g["canvas"] - g["bottom"] - g["lines"] * g["line_pitch"]
        low = g["canvas"] - g["bottom"]
        return torch.stack([torch.stack([g["left"], top], -1), torch.stack([right, top], -1), torch.stack([right, low], -1), torch.stack([g["left"], low], -1)], 1)

    def nuisance(self, geometry, d, scale, frame):
        """Everything that a frame suffers besides the pose; `scale` is pixels for one millimetre."""
        b = d.shape[0]
        h, w = frame
        pitch = geometry["pitch"] * scale
        edge = self.pick(b, 4)
        return {
            "bow": self.u(b, -1, 1) * (0.2 + 0.9 * d) * self.chance(0.3 + 0.3 * d),
            "soft": pitch * self.u(b, 0.01, 0.03 + 0.11 * d) + 0.25,
            "smear_x": pitch * self.u(b, 0, 0.5) * d * self.chance(0.15 + 0.25 * d),
            "smear_y": pitch * self.u(b, 0, 0.5) * d * self.chance(0.15 + 0.25 * d),
            "light": torch.stack([self.u(b, -1, 1), self.u(b, -1, 1)], -1) * (0.1 + 0.35 * d)[:, None],
            "level": self.u(b, 1 - 0.55 * d, 1.08),
            "gamma": self.u(b, 1 - 0.3 * (0.3 + d), 1 + 0.4 * (0.3 + d)),
            "shadow": self.u(b, 0.1, 0.6) * d * self.chance(0.3 * d + 0.1),
            "shadow_line": torch.stack([self.u(b, -1, 1), self.u(b, -1, 1), self.u(b, -0.5, 0.5), self.u(b, 4, 60)], -1),
            "glare": self.u(b, 0.2, 0.9) * self.chance(0.08 + 0.3 * d),
            "glare_at": torch.stack([self.u(b, 0, w), self.u(b, 0, h), w * self.u(b, 0.02, 0.14), h * self.u(b, 0.03, 0.3), self.u(b, -1, 1)], -1),
            "hologram": self.u(b, 0.04, 0.3) * (0.3 + 0.7 * d) * self.chance(0.1 + 0.3 * d),
            "hologram_at": torch.stack([self.u(b, 0, 125), self.u(b, 0, 30), self.u(b, 6, 30), self.u(b, 0.3, 3.0), self.u(b, -1.6, 1.6), self.u(b, 0, 6.28)], -1),
            # Trained with more of them than there are.
            "finger": self.chance(0.05 + 0.25 * d if self.varies else 0.02 + 0.13 * d).float(),
            "finger_radius": self.u(b, 6.5, 10.0) * scale,
            "finger_from": torch.stack([torch.where(edge < 2, edge * w * 1.0, self.u(b, 0, w)), torch.where(edge < 2, self.u(b, 0, h), (edge - 2) * h * 1.0)], -1),
            "finger_to": torch.stack([self.u(b, 0, w), self.u(b, 0, h)], -1),
            "finger_reach": self.u(b, 0.0, 0.45),
            "skin": self.u(b, 0.25, 0.8),
            "noise": self.u(b, 0.002, 0.010 + 0.035 * d),
            "jpeg": torch.where(self.chance(torch.full((b,), 0.6, device=self.device)), self.u(b, 92 - 60 * d, 97), torch.full((b,), 100.0, device=self.device)),
            "back": self.pick(b, len(self.clutter)),
            "back_map": torch.stack([self.u(b, 0.4, 3.0), self.u(b, -3.2, 3.2), self.u(b, -1, 1), self.u(b, -1, 1), self.u(b, 0.15, 1.0), self.u(b)], -1),
        }

    def shoot(self, page, g, m, x, frame, per_mm=8):
        """The camera's picture [b, 1, h, w], and where each character's middle is covered by a finger."""
        b = page.shape[0]
        h, w = frame
        device = self.device
        across, down = torch.arange(w, device=device)[None, None] + 0.5, torch.arange(h, device=device)[None, :, None] + 0.5
        inverse = torch.linalg.inv_ex(m)[0][..., None, None]
        mm = [inverse[:, i, 0] * across + (inverse[:, i, 1] * down + inverse[:, i, 2]) for i in range(3)]
        corners = self.zone_corners(g)
        half = (corners[:, 1, 0] - corners[:, 0, 0])[:, None, None] / 2
        middle = corners.mean(1)[:, 0][:, None, None]
        X = mm[0] / mm[2]
        Y = mm[1] / mm[2]
        if self.some(x["bow"].abs()):
            Y = Y + x["bow"][:, None, None] * (1 - ((X - middle) / half).clamp(-1.3, 1.3) ** 2)
        canvas = g["canvas"]
        blurred = F.avg_pool2d(page, 3, 1, 1)
        scale = self.local_scale(m, corners)
        page = torch.lerp(page, blurred, ((per_mm / scale - 0.9) * 1.2).clamp(0, 1)[:, None, None, None])
        grid = torch.stack([X * (2 / CANVAS_MM) - 1, Y * (2 / canvas) - 1], -1)
        seen = F.grid_sample(page, grid, padding_mode="border", align_corners=False)[:, 0]
        inside = (X > 0) & (X < g["width"][:, None, None]) & (Y > canvas - g["height"][:, None, None]) & (Y < canvas)
        nx, ny = across / w * 2 - 1, down / h * 2 - 1
        seen = torch.where(inside, seen, self.background(x, nx, ny * (h / w), frame))

        if self.some(x["hologram"]):
            a = x["hologram_at"][:, :, None, None]
            blob = torch.exp(-((X - a[:, 0]) ** 2 + (Y - canvas + a[:, 1]) ** 2) / a[:, 2] ** 2)
            wave = torch.sin(a[:, 3] * (torch.cos(a[:, 4]) * X + torch.sin(a[:, 4]) * Y) + a[:, 5])
            seen = seen + x["hologram"][:, None, None] * blob * wave * inside
        light = 1 + x["light"][:, 0, None, None] * nx + x["light"][:, 1, None, None] * ny
        if self.some(x["shadow"]):
            s = x["shadow_line"][:, :, None, None]
            light = light * (1 - x["shadow"][:, None, None] * torch.sigmoid((s[:, 0] * nx + s[:, 1] * ny - s[:, 2]) * s[:, 3]))
        seen = seen * light
        if self.some(x["glare"]):
            q = x["glare_at"][:, :, None, None]
            dx, dy = across - q[:, 0], down - q[:, 1]
            along, aside = dx + q[:, 4] * dy, dy - q[:, 4] * dx
            seen = seen + x["glare"][:, None, None] * torch.exp(-(along / q[:, 2]) ** 2 - (aside / q[:, 3]) ** 2)
        seen, covered = self.fingers(seen, x, across, down, m, g)
        seen = self.blur(seen, x["soft"], x["smear_x"], x["smear_y"])
        seen = (seen.clamp(0, 1.3) * x["level"][:, None, None]).clamp(0.001, 1) ** x["gamma"][:, None, None]
        seen = seen + self.n(seen.shape) * x["noise"][:, None, None]
        seen = self.jpeg(seen.clamp(0, 1), x["jpeg"])
        return (seen.clamp(0, 1) * 255).round()[:, None] / 255, covered

    def some(self, amount):
        """Whether anything in the batch has it. A GPU is not asked: waiting for its answer costs more than drawing nothing."""
        return self.device != "cpu" or bool((amount > 0).any())

    def background(self, x, nx, ny, frame):
        h, w = frame
        c = x["back_map"][:, :, None, None]
        smooth = self.n((len(c), 1, 6, 8)) * 0.15 + 0.5
        is_page = c[:, 5] < 0.55
        if not self.some(is_page):
            return F.interpolate(smooth, (h, w), mode="bicubic")[:, 0].clamp(0, 1) * c[:, 4]
        u = c[:, 0] * (torch.cos(c[:, 1]) * nx - torch.sin(c[:, 1]) * ny) + c[:, 2]
        v = c[:, 0] * (torch.sin(c[:, 1]) * nx + torch.cos(c[:, 1]) * ny) + c[:, 3]
        back = F.grid_sample(self.clutter[x["back"]], torch.stack([u, v], -1), padding_mode="reflection", align_corners=False)[:, 0]
        if self.some(~is_page):
            back = torch.where(is_page, back, F.interpolate(smooth, (h, w), mode="bicubic")[:, 0].clamp(0, 1))
        return back * c[:, 4]

    def local_scale(self, m, corners):
        seen = apply(m, corners)
        return (seen[:, 1] - seen[:, 0]).norm(dim=-1) / (corners[:, 1] - corners[:, 0]).norm(dim=-1)

    def fingers(self, seen, x, across, down, m, g):
        if not self.some(x["finger"]):
            return seen, torch.zeros(len(seen), 3, 44, dtype=torch.bool, device=self.device)
        start = x["finger_from"]
        # The finger comes in from an edge and ends short of what it points at.
        way = (x["finger_to"] - start) * x["finger_reach"][:, None]
        radius = x["finger_radius"]
        def distance(px, py):
            (sx, sy), (wx, wy) = (v.view(-1, 2, *((1,) * (px.dim() - 1))).unbind(1) for v in (start, way))
            dx, dy = px - sx, py - sy
            along = ((dx * wx + dy * wy) / (wx ** 2 + wy ** 2).clamp(min=1)).clamp(0, 1)
            return ((dx - along * wx) ** 2 + (dy - along * wy) ** 2).sqrt()
        ratio = distance(across, down) / radius[:, None, None]
        mask = torch.sigmoid((1 - ratio) * 40) * x["finger"][:, None, None]
        shade = x["skin"][:, None, None] * (1 - 0.35 * ratio.clamp(0, 1) ** 3)
        seen = seen + (shade - seen) * mask
        centres = apply(m, self.character_centres(g).flatten(1, 2))
        covered = (distance(centres[..., 0], centres[..., 1]) / radius[:, None] < 1.0) & (x["finger"][:, None] > 0)
        return seen, covered.view(-1, 3, 44)

    def character_centres(self, g):
        i = torch.arange(44, device=self.device)[None, None, :] + 0.5
        l = torch.arange(3, device=self.device)[None, :, None] + 0.5
        # Where along the line each stands, by the bunching of `page` undone.
        a = g["bunch"][:, None, None]
        a, share = torch.where(a.abs() < 1e-3, torch.full_like(a, 1e-3), a), i / g["chars"][:, None, None]
        bunched = ((1 + a) - ((1 + a) ** 2 - 4 * a * share.clamp(0, 1)).clamp(min=0).sqrt()) / (2 * a)
        X = g["left"][:, None, None] + torch.where(share < 1, bunched, share) * (g["chars"] * g["pitch"])[:, None, None]
        top = (g["canvas"] - g["bottom"] - g["lines"] * g["line_pitch"])[:, None, None]
        Y = top + l * g["line_pitch"][:, None, None]
        return torch.stack([X.expand(-1, 3, 44), Y.expand(-1, 3, 44)], -1)

    def blur(self, seen, soft, smear_x, smear_y):
        """A gaussian and a box along each axis, by shifted sums: a convolution with a kernel for each sample is slower."""
        t = torch.arange(TAPS, device=self.device) - TAPS // 2
        def kernel(smear):
            spread = (soft ** 2 + smear ** 2 / 12).sqrt()
            k = torch.exp(-0.5 * (t[None] / spread[:, None]) ** 2)
            box = (smear[:, None] / 2 + 0.5 - t[None].abs()).clamp(0, 1)
            k = torch.where(smear[:, None] > soft[:, None] * 2, box + 1e-6, k)
            return k / k.sum(1, keepdim=True)
        kx, ky = kernel(smear_x), kernel(smear_y)
        r = TAPS // 2
        h, w = seen.shape[-2:]
        wide = F.pad(seen[:, None], (r, r, 0, 0), mode="replicate")[:, 0]
        out = torch.zeros_like(seen)
        for i in self.taps(kx):
            out.addcmul_(wide[:, :, i:i + w], kx[:, i, None, None])
        tall = F.pad(out[:, None], (0, 0, r, r), mode="replicate")[:, 0]
        out = torch.zeros_like(seen)
        for i in self.taps(ky):
            out.addcmul_(tall[:, i:i + h], ky[:, i, None, None])
        return out

    def taps(self, kernels):
        """Those that weigh something anywhere in the batch."""
        return range(TAPS) if self.device != "cpu" else (kernels.amax(0) > 1e-5).nonzero()[:, 0].tolist()

    def jpeg(self, seen, quality):
        b, h, w = seen.shape
        if not self.some(quality < 99):
            return seen
        blocks = (seen - 0.5).view(b, h // 8, 8, w // 8, 8).permute(0, 1, 3, 2, 4)
        # One small matrix from the right each time: as products of many small matrices it would be ten times slower.
        def both(x, m):
            return ((x.transpose(-1, -2) @ m).transpose(-1, -2)) @ m
        c = both(blocks, self.dct.T)
        q = torch.where(quality < 50, 50 / quality, 2 - quality / 50).clamp(min=0.01)
        step = (LUMINANCE.to(seen.device)[None] * q[:, None, None] / 255).clamp(min=1 / 255)[:, None, None]
        kept = both(torch.round(c / step) * step, self.dct)
        out = kept.permute(0, 1, 3, 2, 4).reshape(b, h, w) + 0.5
        return torch.where((quality < 99)[:, None, None], out, seen)


def legibility(page, whole, place):
    """How well each character is printed, on the flat page and before any camera: [b, 3, 44] print contrast signals and [b, 3, 44] shares of the strokes that are missing.

    The print contrast signal (PCS) of ISO 1831, of which ICAO 9303-3 asks for 0.6 at least, is (paper - print) / paper in reflectances. Paper is here the mean of the character's cell beyond a quarter of a millimetre from its strokes,
    with whatever security print is on it; print is the mean along the middle of the strokes as they were designed, worn or not. Missing is what of that middle has less than 0.4 of the contrast that the zone has on average."""
    b = len(page)
    near = F.avg_pool2d(whole[:, None], 3, 1, 1)[:, 0]
    middle = ((whole > 0.7) & (near >= F.max_pool2d(near[:, None], 3, 1, 1)[:, 0] * 0.92)).float()
    paper = (F.max_pool2d(whole[:, None], 5, 1, 2)[:, 0] < 0.02).float()
    at = place.flatten(1)
    def total(values):
        return torch.zeros(b, 133, device=page.device).scatter_add_(1, at, values.flatten(1))[:, :132]
    around = total(page * paper) / total(paper).clamp(min=1)
    count = total(middle)
    printed = total(page * middle) / count.clamp(min=1)
    contrast = 1 - printed / around.clamp(min=1e-3)
    there = count > 0
    usual = (contrast * there).sum(1) / there.sum(1).clamp(min=1)
    paper_here = F.pad(around, (0, 1), value=1.0).gather(1, at).view_as(page).clamp(min=1e-3)
    missing = total((1 - page / paper_here < 0.4 * usual[:, None, None]) * middle) / count.clamp(min=1)
    return torch.where(there, contrast, torch.ones_like(contrast)).view(b, 3, 44), (missing * there).view(b, 3, 44)


def apply(m, points):
    p = torch.cat([points, torch.ones_like(points[..., :1])], -1) @ m.transpose(1, 2)
    return p[..., :2] / p[..., 2:]


def dct_matrix():
    k, n = torch.meshgrid(torch.arange(8.0), torch.arange(8.0), indexing="ij")
    m = torch.cos(math.pi * (2 * n + 1) * k / 16) * 0.5
    m[0] /= math.sqrt(2)
    return m


LUMINANCE = torch.tensor([
    [16, 11, 10, 16, 24, 40, 51, 61], [12, 12, 14, 19, 26, 58, 60, 55], [14, 13, 16, 24, 40, 57, 69, 56], [14, 17, 22, 29, 51, 87, 80, 62],
    [18, 22, 37, 56, 68, 109, 103, 77], [24, 35, 55, 64, 81, 104, 113, 92], [49, 64, 78, 87, 103, 121, 120, 101], [72, 92, 95, 98, 112, 100, 103, 99],
], dtype=torch.float32)


def quad_homography(source, target):
    """[b, 4, 2] to [b, 4, 2]: the projective map that takes each corner to its partner."""
    b = source.shape[0]
    x, y = source[..., 0], source[..., 1]
    u, v = target[..., 0], target[..., 1]
    zero, one = torch.zeros_like(x), torch.ones_like(x)
    top = torch.stack([x, y, one, zero, zero, zero, -u * x, -u * y], -1)
    low = torch.stack([zero, zero, zero, x, y, one, -v * x, -v * y], -1)
    a = torch.cat([top, low], 1)
    # Unchecked: the check would have to be waited for.
    solved = torch.linalg.solve_ex(a, torch.cat([u, v], 1)[..., None])[0][..., 0]
    return torch.cat([solved, torch.ones(b, 1, device=source.device)], 1).view(b, 3, 3)
