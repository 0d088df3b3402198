"""Writes decode-vectors.json: readings with doubts, and what the evaluation makes of them; and film-vectors.json: frames with doubts, one after the other, and what is believed when. Tests of the page's code expect the same."""

import json
import random

import decode
import texts


def says(rows, shape, covered):
    said = decode.decide([[{texts.ALPHABET.index(c): p for c, p in s.items()} for s in row] for row in rows], shape, covered=covered)
    if said is None:
        return None
    if "visa" in said:
        return "visa"
    return {"key": list(said["key"]), "changed": said["cost"] > 0, "confidence": round(said["confidence"], 4), "margin": round(said["margin"], 4), "pair": round(said["pair"], 4), "exchange": round(said["exchange"], 4)}


def with_fillers(dice):
    """A document with a finger on what is in no key."""
    kind = dice.choice((texts.TD1, texts.TD2, texts.TD3))
    lines, _ = texts.document(dice, kind)
    shape = texts.SHAPE_OF[kind]
    rows = [[{c: 1.0} for c in line] for line in lines]
    line, start, end = max(decode.COVERABLE[shape], key=lambda field: (field[2] - field[1]) * dice.uniform(0.5, 1))
    first = dice.randrange(start, end)
    for at in range(first, min(end, first + dice.randrange(1, 9))):
        rows[line][at] = {"<": 1.0}
    if dice.random() < 0.4:
        line, start, end = dice.choice(decode.FIELDS[shape])
        for at in dice.sample(range(start, end), 2):
            true = next(iter(rows[line][at]))
            rows[line][at] = {true: 0.8, dice.choice([c for c in (texts.ALPHABET[:10] if true.isdigit() else texts.ALPHABET[10:36]) if c != true]): 0.2}
    return {"shape": ("TD1", "TD2", "TD3")[shape], "covered": True, "lines": rows, "says": says(rows, shape, True)}


def long_number(dice):
    """A number that runs on in the optional data, with doubts in it or in what follows."""
    while True:
        kind = dice.choice((texts.TD1, texts.TD2))
        lines, key = texts.document(dice, kind)
        shape = texts.SHAPE_OF[kind]
        if len(key[0]) > 9:
            break
    rows = [[{c: 1.0} for c in line] for line in lines]
    (line, start, end), (rest, rest_start, rest_end) = decode.FIELDS[shape][0], decode.REST[shape][0]
    places = [(line, i) for i in range(start, end)] + [(rest, rest_start + i) for i in range(len(key[0]) - 8)]
    for line, at in dice.sample(places, dice.choice((1, 1, 2))) + ([(rest, rest_end - 1)] if dice.random() < 0.2 else []):
        true = next(iter(rows[line][at]))
        other = LOOKALIKES.get(true) if dice.random() < 0.6 else None
        other = other or dice.choice([c for c in texts.ALPHABET if c != true])
        share = dice.choice((0.02, 0.2, 0.4, 0.7))
        rows[line][at] = {true: 1 - share, other: share}
    return {"shape": ("TD1", "TD2", "TD3")[shape], "lines": rows, "says": says(rows, shape, False)}


def round_ones(dice):
    """A number with zeros or letters O, each of which looks like the other to some degree."""
    while True:
        kind = dice.choice((texts.TD1, texts.TD2, texts.TD3))
        lines, key = texts.document(dice, kind)
        shape = texts.SHAPE_OF[kind]
        line, start, end = decode.FIELDS[shape][0]
        places = [i for i in range(start, end) if lines[line][i] in "0O"]
        if len(places) > 1:
            break
    rows = [[{c: 1.0} for c in line] for line in lines]
    for at in places:
        share = dice.choice((0.0003, 0.02, 0.2, 0.45, 0.7))
        rows[line][at] = {lines[line][at]: 1 - share, "O" if lines[line][at] == "0" else "0": share}
    return {"shape": ("TD1", "TD2", "TD3")[shape], "lines": rows, "says": says(rows, shape, False)}


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
        out.append({"shape": ("TD1", "TD2", "TD3")[shape], "lines": rows, "says": says(rows, shape, False)})
    out += [with_fillers(random.Random(1000 + n)) for n in range(40)]
    out += [long_number(random.Random(2000 + n)) for n in range(30)]
    out += [round_ones(random.Random(3000 + n)) for n in range(40)]
    with open("decode-vectors.json", "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(v, separators=(",", ":")) for v in out) + "\n]\n")
    print(sum(v["says"] is None for v in out), "unclear of", len(out))


LOOKALIKES = {"0": "O", "O": "0", "1": "I", "I": "1", "5": "S", "S": "8", "8": "B", "B": "8", "2": "Z", "Z": "2", "G": "6", "6": "G", "U": "0", "N": "M", "M": "N"}


def films():
    """Each document has places where its print is bad in all frames, each frame a few more; some films change to another document, or look away."""
    dice = random.Random(6)
    out = []
    for _ in range(60):
        kind = dice.choice((texts.TD1, texts.TD2, texts.TD3))
        shape = texts.SHAPE_OF[kind]
        documents = [texts.document(dice, kind)[0] for _ in range(2)]
        changes = dice.choice((None, None, None, 4))
        away = dice.choice((0, 0, 3, 10)) if changes is not None else 0
        places = [(dice.choice([n for n in range(decode.LINES[shape][0]) if n != decode.NAME[shape]]), dice.randrange(decode.LINES[shape][1])) for _ in range(dice.choice((0, 1, 2, 4)))]
        doubt = dice.choice((0.1, 0.3, 0.45, 0.6))
        film, frames, believed = decode.Film(), [], None
        for number in range(10):
            if changes is not None and number == changes:
                frames += [None] * away
                for _ in range(away):
                    film.add(None, False)
            lines = documents[1 if changes is not None and number >= changes else 0]
            doubts = []
            for line, at in places + [(n, dice.randrange(len(lines[n]))) for n in range(len(lines)) if n != decode.NAME[shape] for _ in range(dice.choice((0, 1, 3)))]:
                true = lines[line][at]
                # Never at a threshold itself, where single and double precision part.
                share = round(dice.uniform(0.02, min(0.98, 2 * doubt)), 3) + 0.0004
                doubts.append([line, at, {LOOKALIKES.get(true, "<" if true != "<" else "K"): round(share, 4), true: round(1 - share, 4)}])
            rows = [[{texts.ALPHABET.index(c): 1.0} for c in line] for line in lines]
            for line, at, shares in doubts:
                rows[line][at] = {texts.ALPHABET.index(c): p for c, p in shares.items()}
            rows[decode.NAME[shape]] = []
            frames.append({"lines": ["" if n == decode.NAME[shape] else line for n, line in enumerate(lines)], "doubts": doubts})
            key = film.add(decode.decide(rows, shape))
            if key is not None:
                believed = {"key": list(key), "frames": len(frames)}
                break
        out.append({"shape": ("TD1", "TD2", "TD3")[shape], "frames": frames, "believed": believed})
    with open("film-vectors.json", "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(v, separators=(",", ":")) for v in out) + "\n]\n")
    print(sum(v["believed"] is None for v in out), "films not believed of", len(out))


if __name__ == "__main__":
    main()
    films()
