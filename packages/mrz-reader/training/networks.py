"""Three small networks, described once as plans: lists of layers that PyTorch trains and the page's runner executes.

A plan is data because two languages read it. Steps:
  conv   an ordinary convolution (the first layer), ReLU6
  ds     depthwise k x l with ReLU6, then pointwise; ReLU6; the input is added where the shape stays
  point  pointwise without activation
  keep   remembers what flows here under a name
  join   doubles the size (nearest), adds what was kept under a name
  maps   pointwise to output maps
  head   the mean over all positions of what was kept, then a linear layer
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

COARSE = [
    {"op": "conv", "out": 16, "kernel": [3, 3], "stride": [2, 2], "pad": [1, 1]},
    {"op": "ds", "out": 24, "kernel": [3, 3], "stride": [2, 2], "pad": [1, 1]},
    {"op": "ds", "out": 32, "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1]},
    {"op": "keep", "as": "fine"},
    {"op": "ds", "out": 48, "kernel": [3, 3], "stride": [2, 2], "pad": [1, 1]},
    {"op": "ds", "out": 48, "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1]},
    {"op": "ds", "out": 48, "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1]},
    {"op": "keep", "as": "middle"},
    {"op": "ds", "out": 80, "kernel": [3, 3], "stride": [2, 2], "pad": [1, 1]},
    {"op": "ds", "out": 80, "kernel": [5, 5], "stride": [1, 1], "pad": [2, 2]},
    {"op": "ds", "out": 80, "kernel": [5, 5], "stride": [1, 1], "pad": [2, 2]},
    {"op": "ds", "out": 80, "kernel": [5, 5], "stride": [1, 1], "pad": [2, 2]},
    {"op": "keep", "as": "wide"},
    {"op": "point", "out": 48},
    {"op": "join", "with": "middle"},
    {"op": "ds", "out": 48, "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1]},
    {"op": "point", "out": 32},
    {"op": "join", "with": "fine"},
    {"op": "ds", "out": 32, "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1]},
    {"op": "maps", "out": 4},
    {"op": "head", "of": "wide", "out": 1},
]
REFINE = [
    {"op": "conv", "out": 16, "kernel": [3, 3], "stride": [2, 2], "pad": [1, 1]},
    {"op": "ds", "out": 32, "kernel": [3, 3], "stride": [2, 2], "pad": [1, 1]},
    {"op": "ds", "out": 32, "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1]},
    {"op": "ds", "out": 32, "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1]},
    {"op": "keep", "as": "fine"},
    {"op": "ds", "out": 64, "kernel": [3, 3], "stride": [2, 2], "pad": [1, 1]},
    {"op": "ds", "out": 64, "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1]},
    {"op": "ds", "out": 64, "kernel": [3, 9], "stride": [1, 1], "pad": [1, 4]},
    {"op": "ds", "out": 64, "kernel": [3, 9], "stride": [1, 1], "pad": [1, 4]},
    {"op": "ds", "out": 64, "kernel": [3, 9], "stride": [1, 1], "pad": [1, 4]},
    {"op": "keep", "as": "wide"},
    {"op": "point", "out": 32},
    {"op": "join", "with": "fine"},
    {"op": "ds", "out": 32, "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1]},
    {"op": "ds", "out": 32, "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1]},
    {"op": "maps", "out": 4},
    # Three shapes, no zone, and upside down.
    {"op": "head", "of": "wide", "out": 5},
]
READ = [
    {"op": "conv", "out": 24, "kernel": [3, 3], "stride": [2, 2], "pad": [1, 1]},
    {"op": "ds", "out": 32, "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1]},
    {"op": "ds", "out": 64, "kernel": [3, 3], "stride": [2, 2], "pad": [1, 1]},
    {"op": "ds", "out": 64, "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1]},
    {"op": "ds", "out": 64, "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1]},
    {"op": "ds", "out": 64, "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1]},
    {"op": "ds", "out": 96, "kernel": [3, 3], "stride": [2, 1], "pad": [1, 1]},
    {"op": "ds", "out": 96, "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1]},
    {"op": "ds", "out": 96, "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1]},
    {"op": "ds", "out": 96, "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1]},
    {"op": "ds", "out": 96, "kernel": [3, 3], "stride": [1, 1], "pad": [1, 1]},
    {"op": "ds", "out": 144, "kernel": [3, 3], "stride": [2, 1], "pad": [1, 1]},
    {"op": "ds", "out": 192, "kernel": [2, 3], "stride": [1, 1], "pad": [0, 1]},
    {"op": "ds", "out": 192, "kernel": [1, 9], "stride": [1, 1], "pad": [0, 4]},
    {"op": "ds", "out": 192, "kernel": [1, 9], "stride": [1, 1], "pad": [0, 4]},
    {"op": "ds", "out": 192, "kernel": [1, 9], "stride": [1, 1], "pad": [0, 4]},
    {"op": "ds", "out": 192, "kernel": [1, 9], "stride": [1, 1], "pad": [0, 4]},
    {"op": "ds", "out": 192, "kernel": [1, 9], "stride": [1, 1], "pad": [0, 4]},
    {"op": "maps", "out": 38},
]
PLANS = {"coarse": COARSE, "refine": REFINE, "read": READ}


def normed(conv, out):
    return nn.Sequential(conv, nn.BatchNorm2d(out))


class Network(nn.Module):
    def __init__(self, plan):
        super().__init__()
        self.plan = plan
        self.layers = nn.ModuleList()
        channels, kept = 1, {}
        for step in plan:
            op, out = step["op"], step.get("out")
            if op == "conv":
                layer = normed(nn.Conv2d(channels, out, step["kernel"], step["stride"], step["pad"], bias=False), out)
            elif op == "ds":
                layer = nn.ModuleList([
                    normed(nn.Conv2d(channels, channels, step["kernel"], step["stride"], step["pad"], groups=channels, bias=False), channels),
                    normed(nn.Conv2d(channels, out, 1, bias=False), out),
                ])
            elif op == "point":
                layer = normed(nn.Conv2d(channels, out, 1, bias=False), out)
            elif op == "maps":
                layer = nn.Conv2d(channels, out, 1)
            elif op == "head":
                layer = nn.Linear(kept[step["of"]], out)
            else:
                layer = nn.Identity()
            self.layers.append(layer)
            if op == "keep":
                kept[step["as"]] = channels
            elif op in ("conv", "ds", "point"):
                channels = out

    def forward(self, x):
        kept, maps, head = {}, None, None
        for step, layer in zip(self.plan, self.layers):
            op = step["op"]
            if op == "conv":
                x = F.relu6(layer(x))
            elif op == "ds":
                y = F.relu6(layer[1](F.relu6(layer[0](x))))
                x = x + y if y.shape == x.shape else y
            elif op == "point":
                x = layer(x)
            elif op == "keep":
                kept[step["as"]] = x
            elif op == "join":
                x = F.interpolate(x, scale_factor=2, mode="nearest") + kept[step["with"]]
            elif op == "maps":
                maps = layer(x)
            else:
                head = layer(kept[step["of"]].mean((2, 3)))
        return maps, head

    def folded(self):
        """[(weight, bias)] in the order of the plan, batch norm folded in; depthwise as [k, l, c], pointwise as [in, out]."""
        out = []
        for step, layer in zip(self.plan, self.layers):
            op = step["op"]
            if op in ("conv", "point"):
                out.append(_fold(layer))
            elif op == "ds":
                out += [_fold(layer[0]), _fold(layer[1])]
            elif op == "maps":
                out.append((layer.weight.detach().double(), layer.bias.detach().double()))
            elif op == "head":
                out.append((layer.weight.detach().double(), layer.bias.detach().double()))
        return out


def _fold(pair):
    conv, norm = pair
    factor = norm.weight.detach().double() / torch.sqrt(norm.running_var.double() + norm.eps)
    weight = conv.weight.detach().double() * factor[:, None, None, None]
    return weight, norm.bias.detach().double() - norm.running_mean.double() * factor


def parameters(plan):
    return sum(p.numel() for p in Network(plan).parameters())


if __name__ == "__main__":
    for name, plan in PLANS.items():
        print(name, parameters(plan))
