"""Writes decode-vectors.json: readings with doubts, and what the evaluation makes of them. A test of the page's code expects the same."""

import json
import random

import decode
import texts


def main():
    dice = random.Random(5)
    out = []
    while len(out) < 90:
        kind = dice.choice((texts.TD1, texts.TD2, texts.TD3, texts.MRVA))
        lines, _ = texts.document(dice, kind)
        # The product dates births by the clock; years that are both are left out.
        shape = texts.SHAPE_OF[kind]
        rows = [[{c: 1.0} for c in line] for line in lines]
        for _ in range(dice.choice((0, 1, 1, 2, 3))):
            row = dice.choice(rows)
            at = dice.randrange(len(row))
            true = next(iter(row[at]))
            wrong, third = dice.sample([c for c in texts.ALPHABET if c != true], 2)
            share = dice.choice((0.02, 0.2, 0.4))
            row[at] = {wrong: round(1 - share - 0.015, 3), true: share, third: 0.015} if dice.random() < 0.6 else {true: round(1 - share, 3), wrong: share}
        if dice.random() < 0.06:
            rows[-1].pop()
        said = decode.decide([[{texts.ALPHABET.index(c): p for c, p in s.items()} for s in row] for row in rows], shape)
        if said is None:
            says = None
        elif "visa" in said:
            says = "visa"
        else:
            says = {"key": list(said["key"]), "changed": said["cost"] > 0, "confidence": round(said["confidence"], 4), "margin": round(said["margin"], 4), "pair": round(said["pair"], 4)}
        out.append({"shape": ("TD1", "TD2", "TD3")[shape], "lines": rows, "says": says})
    with open("decode-vectors.json", "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(v, separators=(",", ":")) for v in out) + "\n]\n")
    print(sum(v["says"] is None for v in out), "unclear of", len(out))


if __name__ == "__main__":
    main()
