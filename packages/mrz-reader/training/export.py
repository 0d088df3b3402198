"""Writes the trained networks as two flat files that the page's runner reads: the plan, and its weights as bytes.

For each layer in the order of the plan: the scale of each output channel and its bias as 32-bit floats, then the weights as signed bytes, filled up to a
multiple of four. Depthwise weights are [height][width][channel], all others [in][out], with the first layer's kernel as its "in".
"""

import argparse
import json
import pathlib

import numpy as np
import torch

from networks import PLANS, Network


def _rows(weight):
    """Output channels first, flattened."""
    return weight.reshape(weight.shape[0], -1)


def quantised(weight):
    rows = _rows(weight)
    scale = rows.abs().amax(1).clamp(min=1e-12) / 127
    return torch.round(rows / scale[:, None]).clamp(-127, 127), scale


def round_weights(net):
    """Makes a network compute with exactly the weights that are shipped."""
    with torch.no_grad():
        for module in net.modules():
            if isinstance(module, torch.nn.Sequential) and len(module) == 2:
                conv, norm = module
                factor = norm.weight / torch.sqrt(norm.running_var + norm.eps)
                safe = torch.where(factor.abs() < 1e-9, torch.full_like(factor, 1e-9), factor)
                q, scale = quantised(conv.weight * safe[:, None, None, None])
                conv.weight.copy_((q * scale[:, None]).view_as(conv.weight) / safe[:, None, None, None])
            elif isinstance(module, torch.nn.Linear):
                q, scale = quantised(module.weight)
                module.weight.copy_((q * scale[:, None]).view_as(module.weight))
        for step, layer in zip(net.plan, net.layers):
            if step["op"] == "maps":
                q, scale = quantised(layer.weight)
                layer.weight.copy_((q * scale[:, None]).view_as(layer.weight))


def flat(net):
    out = bytearray()
    for weight, bias in net.folded():
        q, scale = quantised(weight)
        out += scale.float().numpy().astype("<f4").tobytes() + bias.float().numpy().astype("<f4").tobytes()
        # Output channels last: the runner walks over them in its innermost loop.
        body = q.T.contiguous().to(torch.int8).numpy().tobytes()
        out += body + b"\0" * (-len(body) % 4)
    return bytes(out)


def shipped(folder="../networks"):
    """The networks as the page runs them, from the files that it loads; they may have fewer layers than the plans here."""
    plans = json.loads((pathlib.Path(folder) / "mrz-reader.json").read_text())["networks"]
    body = (pathlib.Path(folder) / "mrz-reader.bin").read_bytes()
    at = 0
    def take(kind, count):
        nonlocal at
        values = np.frombuffer(body, kind, count, at).copy()
        at += values.nbytes + -values.nbytes % 4
        return torch.from_numpy(values)
    def fill(weight, bias):
        rows = weight.shape[0]
        scale, offset = take("<f4", rows), take("<f4", rows)
        q = take("i1", weight.numel()).view(-1, rows).T
        weight.copy_((q * scale[:, None]).reshape(weight.shape))
        bias.copy_(offset)
    nets = {}
    with torch.no_grad():
        for name, plan in plans.items():
            nets[name] = Network(plan["steps"]).eval()
            for step, layer in zip(nets[name].plan, nets[name].layers):
                for pair in {"conv": [layer], "point": [layer], "ds": layer}.get(step["op"], []):
                    fill(pair[0].weight, pair[1].bias)
                    # Batch norm is in the weights already.
                    pair[1].running_mean.zero_(), pair[1].running_var.fill_(1 - pair[1].eps), pair[1].weight.fill_(1)
                if step["op"] in ("maps", "head"):
                    fill(layer.weight, layer.bias)
    assert at == len(body)
    return nets


def begun(name, pictures, folder="../networks", plans=PLANS):
    """A network to train on from the shipped one: what it computes is the same, in training too, but for layers that the plan here has and the shipped one has not, which begin with little to say.

    Batch norm is in the shipped weights, so it is made anew: with the mean and the spread that each layer has on `pictures`, it undoes what it does."""
    old, net = shipped(folder)[name], Network(plans[name])
    layers = iter(zip(old.plan, old.layers))
    before, from_old = next(layers, None), []
    for step, layer in zip(net.plan, net.layers):
        if before is not None and before[0] == step:
            layer.load_state_dict(before[1].state_dict())
            from_old.append(True)
            before = next(layers, None)
        else:
            assert step["op"] == "ds", step
            torch.nn.init.constant_(layer[1][1].weight, 0.1)
            from_old.append(False)
    assert before is None, before
    seen = {}
    for step, layer, is_old in zip(net.plan, net.layers, from_old):
        layer.train(not is_old)
        for pair in {"conv": [layer], "point": [layer], "ds": layer}.get(step["op"], []):
            if is_old:
                pair[0].register_forward_hook(lambda conv, _, out, pair=pair: seen.update({pair: torch.var_mean(out, (0, 2, 3), correction=0)}))
    with torch.no_grad():
        net.to(pictures.device)(pictures)
        for pair, (variance, mean) in seen.items():
            conv, norm = pair
            conv._forward_hooks.clear()
            # Rescaled to the usual size: weights before a batch norm may have any,
            # and the size of a step does not follow it.
            fan_in = conv.weight[0].numel()
            size = conv.weight.square().mean((1, 2, 3)).sqrt().clamp(min=1e-6)
            by = 2 / (3 * fan_in) ** 0.5 / size
            conv.weight.mul_(by[:, None, None, None])
            norm.running_mean.copy_(mean * by)
            norm.running_var.copy_(variance * by ** 2)
            norm.weight.copy_((norm.running_var + norm.eps).sqrt() / by)
            norm.bias.add_(mean)
    return net.train()


JOBS = {"find": ("coarse", "refine"), "read": ("read",)}


def shipped_bytes(folder="../networks"):
    """What is shipped of each network."""
    body, out = (pathlib.Path(folder) / "mrz-reader.bin").read_bytes(), {}
    for name, plan in json.loads((pathlib.Path(folder) / "mrz-reader.json").read_text())["networks"].items():
        out[name], body = body[:plan["bytes"]], body[plan["bytes"]:]
    return out


def trained(args):
    """All networks: of the files of `train.py`, or as they are shipped where they are kept."""
    nets = shipped()
    for path in (getattr(args, job) for job in JOBS if job != args.kept):
        for name, state in torch.load(path, map_location="cpu", weights_only=True)["ema"].items():
            nets[name] = Network(PLANS[name])
            nets[name].load_state_dict(state)
    return {name: net.eval() for name, net in nets.items()}


@torch.no_grad()
def check():
    """How far a network that is trained on is from the shipped one at its first step, in the mode of training, where it has no layer more."""
    old, away = shipped(), {}
    for name, net in old.items():
        pictures = torch.randn(4, 1, 32, 96, generator=torch.Generator().manual_seed(1))
        same = begun(name, pictures, plans={name: net.plan})
        away[name] = float((same(pictures)[0] - net(pictures)[0]).abs().max())
    print(json.dumps(away))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true", help="whether training on begins with what is shipped")
    parser.add_argument("--find", default="build/find.pt")
    parser.add_argument("--read", default="build/read.pt")
    parser.add_argument("--kept", choices=["find", "read"], help="the networks of this job stay as they are shipped")
    parser.add_argument("--out", default="../networks")
    args = parser.parse_args()
    if args.check:
        return check()
    nets = trained(args)
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    body, plan = bytearray(), {"version": 1, "networks": {}}
    kept = {name: part for name, part in shipped_bytes().items() if name in JOBS.get(args.kept, ())}
    for name in PLANS:
        part = kept.get(name) or flat(nets[name])
        plan["networks"][name] = {"bytes": len(part), "steps": nets[name].plan}
        body += part
    (out / "mrz-reader.bin").write_bytes(bytes(body))
    (out / "mrz-reader.json").write_text(json.dumps(plan, separators=(",", ":")) + "\n")
    # What the runner must compute, for its test: a fixed picture through each network, with the shipped weights.
    vectors = {}
    for name in PLANS:
        net = nets[name]
        round_weights(net)
        h, w = {"coarse": (48, 64), "refine": (80, 320), "read": (32, 96)}[name]
        n = torch.arange(h * w).double()
        picture = (torch.sin(n * 0.37) + torch.cos(n * n * 0.011)).float().view(1, 1, h, w)
        with torch.no_grad():
            maps, head = net(picture)
        take = maps.flatten()[:: max(1, maps.numel() // 64)]
        vectors[name] = {"height": h, "width": w, "shape": list(maps.shape[1:]), "every": max(1, maps.numel() // 64),
                         "maps": [round(float(v), 5) for v in take], "head": None if head is None else [round(float(v), 5) for v in head.flatten()]}
    (out / "runner-vectors.json").write_text(json.dumps(vectors, separators=(",", ":")) + "\n")
    print({k: v["bytes"] for k, v in plan["networks"].items()}, len(body))


if __name__ == "__main__":
    main()
