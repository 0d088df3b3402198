"""From a frame to the pictures that the networks see, as the page does it: shrink, find, look closer, straighten."""

import torch
import torch.nn.functional as F

from render import apply, quad_homography

CROP_H, CROP_W = 80, 320
# The zone inside of the crop that the refinement looks at.
CROP_X, CROP_Y = 40.0, 20.0
STRIP_H, PITCH_PX, MARGIN_PX = 32, 12, 12
# The part of a line's height that a strip shows.
STRIP_SHARE = 0.92
LONG_SIDE = 256
MIDDLE_SIDE = 640
# Share of the zone's width that corners may move in the second look.
STILL = 0.015
BLANK = 37
SHAPES = ((3, 30), (2, 36), (2, 44))


def shrunk(frame, long_side, multiple=1):
    h, w = frame.shape[-2:]
    f = long_side / max(h, w)
    size = [max(multiple, round(n * f / multiple) * multiple) for n in (h, w)]
    return frame if (h, w) == tuple(size) else F.adaptive_avg_pool2d(frame, size)


def standard(x, floor):
    mean = x.mean((1, 2, 3), keepdim=True)
    return (x - mean) / (x.std((1, 2, 3), keepdim=True, unbiased=False) + floor)


def corner_points(maps):
    """[b, 4, h, w] to [b, 4, 2] in cells: the weighted middle of the 5 x 5 cells around the peak. And how sure it is."""
    b, k, h, w = maps.shape
    p = maps.flatten(2).softmax(-1).view(b, k, h, w)
    peak = p.flatten(2).argmax(-1)
    py, px = peak // w, peak % w
    y = torch.arange(h, device=maps.device).view(1, 1, h, 1)
    x = torch.arange(w, device=maps.device).view(1, 1, 1, w)
    near = ((y - py[..., None, None]).abs() <= 2) & ((x - px[..., None, None]).abs() <= 2)
    q = p * near
    mass = q.sum((2, 3))
    at = torch.stack([(q * x).sum((2, 3)), (q * y).sum((2, 3))], -1) / mass[..., None]
    return at + 0.5, mass


def crop_corners(device):
    return torch.tensor([[CROP_X, CROP_Y], [CROP_W - CROP_X, CROP_Y], [CROP_W - CROP_X, CROP_H - CROP_Y], [CROP_X, CROP_H - CROP_Y]], device=device)


def sample(frame, points):
    """Bilinear; `points` [b, h, w, 2] in pixels of the frame, the middle of the first pixel at 0.5."""
    h, w = frame.shape[-2:]
    grid = torch.stack([points[..., 0] / w * 2 - 1, points[..., 1] / h * 2 - 1], -1)
    return F.grid_sample(frame, grid, padding_mode="border", align_corners=False)


def lattice(h, w, device, twice=True):
    n = 2 if twice else 1
    y = (torch.arange(h * n, device=device) + 0.5) / n
    x = (torch.arange(w * n, device=device) + 0.5) / n
    return torch.stack(torch.meshgrid(x, y, indexing="xy"), -1).view(1, -1, 2)


def crop_of(frame, quad):
    """What the refinement looks at: the surroundings of the quad, straightened. Four samples a pixel."""
    to_frame = quad_homography(crop_corners(frame.device)[None].expand(len(quad), 4, 2), quad)
    points = apply(to_frame, lattice(CROP_H, CROP_W, frame.device).expand(len(quad), -1, 2))
    crop = sample(frame, points.view(-1, CROP_H * 2, CROP_W * 2, 2))
    return F.avg_pool2d(crop, 2), to_frame


def strips_of(frame, quad, lines, chars, widest=44, widths=None):
    """[b, 3, 1, 32, W]; each line of the zone on a strip with 12 pixels for a character. What is beyond the line's end is cut to zero."""
    b, device = len(quad), frame.device
    width = widest * PITCH_PX + 2 * MARGIN_PX
    box = torch.zeros(b, 4, 2, device=device)
    box[:, 1:3, 0] = (chars * PITCH_PX)[:, None]
    box[:, 2:, 1] = lines[:, None]
    to_frame = quad_homography(box, quad)
    x = (torch.arange(width * 2, device=device) + 0.5) / 2 - MARGIN_PX
    y = (torch.arange(STRIP_H * 2, device=device) + 0.5) / 2 / STRIP_H - 0.5
    rows = (torch.arange(3, device=device) + 0.5)[:, None] + y[None] * STRIP_SHARE
    points = torch.stack([x[None, None, :].expand(3, STRIP_H * 2, -1), rows[:, :, None].expand(-1, -1, width * 2)], -1)
    seen = apply(to_frame, points.reshape(1, -1, 2).expand(b, -1, 2)).view(b, 3 * STRIP_H * 2, width * 2, 2)
    strip = F.avg_pool2d(sample(frame, seen), 2).view(b, 3, 1, STRIP_H, width)
    used = chars * PITCH_PX + 2 * MARGIN_PX if widths is None else widths
    mask = (torch.arange(width, device=device)[None] < used[:, None]).float()[:, None, None, None, :]
    count = mask.sum((3, 4), keepdim=True) * STRIP_H
    mean = (strip * mask).sum((3, 4), keepdim=True) / count
    deviation = ((((strip - mean) ** 2) * mask).sum((3, 4), keepdim=True) / count).sqrt()
    return (strip - mean) / (deviation + 0.02) * mask


def ordered(quad):
    """Corners of the coarse search are told without up and down: the text runs to the right, or downwards."""
    along = quad[:, 1] - quad[:, 0] + quad[:, 2] - quad[:, 3]
    backwards = along[:, 0] + along[:, 1] < 0
    return torch.where(backwards[:, None, None], quad.roll(2, 1), quad)


def find_zone(coarse, refine, frame):
    small = shrunk(frame, LONG_SIDE, 16)
    maps, score = coarse(standard(small, 0.05))
    at, mass = corner_points(maps.float())
    h, w = frame.shape[-2:]
    factor = torch.tensor([w / maps.shape[-1], h / maps.shape[-2]], device=frame.device)
    quad = at * factor
    middle = shrunk(frame, MIDDLE_SIDE)
    found = look_until_still(refine, frame, quad, middle)
    for which in (0, 1):
        # A corner on a wrong line gives an impossible quad; the search restarts from the corrected position.
        at = (~consistent(found)).nonzero()[:, 0]
        if len(at) == 0:
            break
        part = {name: value[at] for name, value in found.items()}
        again = look_until_still(refine, frame[at], mended(part, which), middle[at])
        better = consistent(again)
        for name, value in found.items():
            value[at[better]] = again[name][better]
    return {"score": score[:, 0].float(), "coarse": quad, "mass": mass, **found}


def look_until_still(refine, frame, quad, middle=None):
    """Once more from where the zone was found, because the first look may have begun far beside it; and where that moved the corners, once more again."""
    middle = shrunk(frame, MIDDLE_SIDE) if middle is None else middle
    first = look_closer(refine, frame, quad, middle)
    second = look_closer(refine, frame, first["quad"], middle)
    third = look_closer(refine, frame, second["quad"], middle)
    # Turned round is not moved.
    same = second["turned"][:, None, None]
    before = torch.where(same, first["quad"].roll(2, 1), first["quad"])
    wide = (second["quad"][:, 1] - second["quad"][:, 0]).norm(dim=-1)
    moved = (second["quad"] - before).norm(dim=-1).amax(1) > STILL * wide
    out = {}
    for name, value in second.items():
        out[name] = torch.where(moved.view(-1, *((1,) * (value.dim() - 1))), third[name], value)
    return out


# The height of a zone, as a share of its width, for each shape: lines of 6.1 mm, characters of 2.54 mm.
ASPECTS = [lines * 6.1 / (chars * 2.54) for lines, chars in SHAPES]
MOST_UNEVEN, LEAST_TALL, MOST_TALL = 1.6, 0.68, 1.35


def measures(found):
    quad = found["quad"]
    left, right = (quad[:, 3] - quad[:, 0]).norm(dim=-1), (quad[:, 2] - quad[:, 1]).norm(dim=-1)
    wide = ((quad[:, 1] - quad[:, 0]).norm(dim=-1) + (quad[:, 2] - quad[:, 3]).norm(dim=-1)) / 2
    tall = torch.tensor(ASPECTS, device=quad.device)[found["shape"][:, :3].argmax(1)] * wide
    return left, right, tall


def consistent(found):
    """Whether the sides of a zone are about equally high, and as high as its shape says."""
    left, right, tall = measures(found)
    uneven = torch.maximum(left, right) / torch.minimum(left, right).clamp(min=1e-3)
    high = (left + right) / 2 / tall.clamp(min=1e-3)
    return (uneven < MOST_UNEVEN) & (high > LEAST_TALL) & (high < MOST_TALL)


def mended(found, which):
    """Where the zone is if its first (or its last) line was mistaken: the other edge is believed, and the side that is as high as it should be."""
    left, right, tall = measures(found)
    a, b, c, d = found["quad"].unbind(1)
    up_left, up_right = (a - d) / left.clamp(min=1e-3)[:, None], (b - c) / right.clamp(min=1e-3)[:, None]
    left_is_off = ((left / tall).log().abs() > (right / tall).log().abs())[:, None]
    up = torch.where(left_is_off, up_right, up_left) * tall[:, None]
    return torch.stack([d + up, c + up, c, d] if which == 0 else [a, b, b - up, a - up], 1)


def look_closer(refine, frame, quad, middle=None):
    h, w = frame.shape[-2:]
    middle = shrunk(frame, MIDDLE_SIDE) if middle is None else middle
    down = torch.tensor([middle.shape[-1] / w, middle.shape[-2] / h], device=frame.device)
    crop, to_frame = crop_of(middle, quad * down)
    maps, head = refine(standard(crop, 0.05))
    at, mass = corner_points(maps.float())
    at = at * 4
    exact = apply(to_frame, at) / down
    head = head.float()
    turned = head[:, 4] > 0
    exact = torch.where(turned[:, None, None], exact.roll(2, 1), exact)
    return {"quad": exact, "shape": head[:, :4], "turned": turned, "close_mass": mass}
