"""Decides what a frame says. Mirrors src/decide-zone.ts and repairMrz of packages/emrtd, which the page runs; `decode-vectors.json` holds them together.

A line comes as segments: one distribution over the 37 characters for each character that was seen.
"""

import math

from texts import ALPHABET, FILLER

VALUE = [i if i < 36 else 0 for i in range(37)]
WEIGHT = (7, 3, 1)
FLOOR = 1e-4
# Keep these equal to src/decide-zone.ts and packages/emrtd/src/mrz/repair-mrz.ts.
MOST_COST = 6.0
LEAST_MARGIN = 1.5
LEAST_CONFIDENCE = 0.5
# Of src/decide-zone.ts: how much rarer an O is in a number than the network takes it to be, and where it is left out (behind a digit of a number that ends in digits, in one without vowels), and what a check digit's choice between
# lookalikes costs at most; in nats.
RARER_O, RARER_WHERE_LEFT_OUT = 1.0, 3.0
LEAST_DIGITS, LEAST_CONSONANTS, MORE_O = 3, 3, 1.25
WITHOUT_VOWELS = {ALPHABET.index(c) for c in "0123456789CFGHJKLMNPRTVWXYZ"}
MOST_PAID = 2.0
MOST_UNLIKE_COST = 1.5
MOST_UNLIKE = 0.55
LEAST_FITTING, MOST_MISFITS = 0.1, 1
LOOKALIKE_COST = 4.0
LOOKALIKES = {ALPHABET.index(a): [ALPHABET.index(b) for b in others] for a, others in
              {"0": "OQD", "O": "0", "Q": "0", "D": "0", "1": "I", "I": "1", "2": "Z", "Z": "2", "5": "S", "S": "5", "8": "B", "B": "8"}.items()}
ALTERNATIVES = 3
# Of src/agreement.ts: confidence, margin of one character, margin of two, margin of zeros and letters O. A frame that counts, and one that is sure.
COUNTS = (0.56, 5.0, 6.0, 5.0)
SURE = (0.7, 7.5, 8.0, 8.0)
ENOUGH_FRAMES, SURE_WORTH, COUNTED_SHARE, LEAD = 5, 3, 1 / 3, 2
MOST_MARGIN = 9.0
# Of src/film.ts.
GONE_FRAMES = 10
# Of src/read-lines.ts: by how many nats the best reading of any length may beat those of the right length.
MOST_STRAIN = 6.0

LETTERS = frozenset(range(10, 37))
DIGITS = frozenset([*range(10), 36])
SEX = frozenset(ALPHABET.index(c) for c in "MFX<")
ANY = frozenset(range(37))


def _mask(*parts):
    return [kind for kind, count in parts for _ in range(count)]


MASKS = {
    0: [
        _mask((LETTERS, 5), (ANY, 9), (DIGITS, 1), (ANY, 15)),
        _mask((DIGITS, 7), (SEX, 1), (DIGITS, 7), (LETTERS, 3), (ANY, 11), (DIGITS, 1)),
        _mask((LETTERS, 30)),
    ],
    1: [_mask((LETTERS, 36)), _mask((ANY, 9), (DIGITS, 1), (LETTERS, 3), (DIGITS, 7), (SEX, 1), (DIGITS, 7), (ANY, 7), (DIGITS, 1))],
    2: [_mask((LETTERS, 44)), _mask((ANY, 9), (DIGITS, 1), (LETTERS, 3), (DIGITS, 7), (SEX, 1), (DIGITS, 7), (ANY, 14), (DIGITS, 1), (DIGITS, 1))],
}
# line, start, end of the field; its check digit follows at once.
FIELDS = {0: [(0, 5, 14), (1, 0, 6), (1, 8, 14)], 1: [(1, 0, 9), (1, 13, 19), (1, 21, 27)], 2: [(1, 0, 9), (1, 13, 19), (1, 21, 27)]}
# What is in no key: optional data, the check digit that TD3 gives it, the composite digit.
REST = {0: [(0, 15, 30), (1, 18, 29), (1, 29, 30)], 1: [(1, 28, 35), (1, 35, 36)], 2: [(1, 28, 42), (1, 42, 43), (1, 43, 44)]}
# Where a finger may lie without hiding anything of the key or a digit that it is checked by: nationality, sex, optional data with the check digit that TD3 gives it.
COVERABLE = {0: [(0, 15, 30), (1, 7, 8), (1, 15, 29)], 1: [(1, 10, 13), (1, 20, 21), (1, 28, 35)], 2: [(1, 10, 13), (1, 20, 21), (1, 28, 43)]}
COMPOSITE = {0: [(0, 5, 30), (1, 0, 7), (1, 8, 15), (1, 18, 29)], 1: [(1, 0, 10), (1, 13, 20), (1, 21, 35)], 2: [(1, 0, 10), (1, 13, 20), (1, 21, 43)]}
NAME = {0: 2, 1: 0, 2: 0}
LINES = {0: (3, 30), 1: (2, 36), 2: (2, 44)}


# Characters that every check digit takes for one another.
BLIND = [frozenset(c for c in range(37) if c != d and (VALUE[c] - VALUE[d]) % 10 == 0) for d in range(37)]


# What each position counts for in the composite digit.
COMPOSITE_WEIGHT = {shape: {place: WEIGHT[n % 3] for n, place in enumerate((line, i) for line, start, end in parts for i in range(start, end))} for shape, parts in COMPOSITE.items()}


def digit(chars):
    return sum(VALUE[c] * WEIGHT[i % 3] for i, c in enumerate(chars)) % 10


def masked(segments, mask):
    """[(cost, character)] cheapest first for each position; costs are relative to the first, whose share of what is allowed is the confidence."""
    out = []
    for q, allowed in zip(segments, mask):
        ranked = sorted(((-math.log(max(p, FLOOR)), c) for c, p in q.items() if c in allowed), key=lambda x: x[0])
        if not ranked:
            return None
        total = sum(max(q.get(c, 0), 0) for c in allowed)
        best = ranked[0][0]
        out.append(([(cost - best, c) for cost, c in ranked], max(q.get(ranked[0][1], 0), 0) / max(total, FLOOR)))
    return out


def fitting(q, allowed):
    """The share of what was seen that may stand there."""
    return sum(p for c, p in q.items() if c in allowed) / max(sum(q.values()), FLOOR)


def weighed(segments, shape):
    """With the share that an O has in numbers."""
    line, start, end = FIELDS[shape][0]
    seen = [max(q, key=q.get) for q in segments[line][start:end]]
    last = max((i for i, c in enumerate(seen) if 9 < c < 36 and c != LETTER_O), default=-1)
    digits = [i for i, c in enumerate(seen) if i > last and 0 < c <= 9]
    others = [c for c in seen if c not in (ZERO, LETTER_O, FILLER)]
    without = set(others) <= WITHOUT_VOWELS and sum(c > 9 for c in others) >= LEAST_CONSONANTS
    rarer = [RARER_WHERE_LEFT_OUT if without or (len(digits) >= LEAST_DIGITS and i > digits[0]) else RARER_O for i in range(end - start)]
    return [[with_rarer_o(q, rarer[i - start]) if n == line and start <= i < end else q for i, q in enumerate(segment)] for n, segment in enumerate(segments)]


ZERO, LETTER_O = ALPHABET.index("0"), ALPHABET.index("O")


def with_rarer_o(q, nats):
    """Moves what O and 0 are to each other, and nothing else: whichever stays behind is moved."""
    zero, letter = q.get(ZERO, 0), q.get(LETTER_O, 0)
    rare = letter * math.exp(-nats)
    if zero >= rare:
        return {**q, LETTER_O: rare} if LETTER_O in q else q
    return {**q, ZERO: zero * math.exp(nats)} if ZERO in q else q


def masked_shares(segments, mask):
    return [{c: p for c, p in q.items() if c in allowed} for q, allowed in zip(segments, mask)]


def readings(options, agrees):
    """What agrees with at most two characters changed, the cheapest first: [(characters, cost)]."""
    first = [o[0][1] for o in options]
    if agrees(first):
        return [(first, 0.0)]
    found = {}
    singles = [(i, cost, c) for i, o in enumerate(options) for cost, c in o[1:ALTERNATIVES] if cost <= MOST_COST]
    for n, (i, cost, c) in enumerate(singles):
        one = list(first)
        one[i] = c
        if agrees(one):
            found[tuple(one)] = min(cost, found.get(tuple(one), math.inf))
        for j, more, other in singles[n + 1:]:
            if j == i or cost + more > MOST_COST:
                continue
            two = list(one)
            two[j] = other
            if agrees(two):
                found[tuple(two)] = min(cost + more, found.get(tuple(two), math.inf))
    return [(list(chars), cost) for chars, cost in sorted(found.items(), key=lambda x: x[1])]


def repaired(options, agrees):
    """The cheapest reading of a field, or None where there is none or a second one is about as likely."""
    ranked = readings(options, agrees)
    if not ranked or (len(ranked) > 1 and ranked[1][1] - ranked[0][1] < LEAST_MARGIN):
        return None
    return ranked[0]


def with_lookalikes(ranked):
    costs = {c: cost for cost, c in ranked[1:]}
    for c in LOOKALIKES.get(ranked[0][1], ()):
        costs[c] = min(LOOKALIKE_COST, costs.get(c, LOOKALIKE_COST))
    return [ranked[0], *sorted(((cost, c) for c, cost in costs.items()), key=lambda x: x[0])]


def settle_rest(options, read, shape, over):
    """What the cheapest reading of optional data and composite digit costs that agrees with the key, or None. Which one it is matters to nobody. `over`: characters of the number that stand before them."""
    (line, start, end), *others = REST[shape]
    fields = [(line, start + over, end), *others]
    part = [with_lookalikes(o[0]) for line, start, end in fields for o in options[line][start:end]]

    def agrees(chars):
        whole, at = [list(line) for line in read], 0
        for line, start, end in fields:
            whole[line][start:end] = chars[at:at + end - start]
            at += end - start
        if digit([c for line, start, end in COMPOSITE[shape] for c in whole[line][start:end]]) != chars[-1]:
            return False
        if shape != 2:
            return True
        optional, check = chars[:14], chars[14]
        return all(c == 36 for c in optional) if check == 36 else digit(optional) == check

    ranked = readings(part, agrees)
    return ranked[0][1] if ranked else None


def overflow(read, shape):
    """How many characters of a number that runs over into the optional data stand there, its check digit included. None where it does not."""
    line, start, end = REST[shape][0]
    over = read[line][start:end]
    length = over.index(36) if 36 in over else len(over)
    return None if length < 2 else length


def decide(segments, shape, covered=False):
    """None, or {"key", "cost", "confidence", "margin", "pair", "exchange", "covered"}; {"visa": True} for a visa. `covered`: with fillers where nothing was seen; then nothing may have to be put right, no number may end among
    them, and the composite digit, which agrees by chance, tells nothing of two errors."""
    lines, chars = LINES[shape]
    name = NAME[shape]
    read, options, misfits = [], [], 0
    if shape != 0 and len(segments[0]) > 0 and segments[0][0].get(ALPHABET.index("V"), 0) > 0.5:
        return {"visa": True}
    segments = weighed(segments, shape)
    for i in range(lines):
        if i == name:
            read.append([])
            options.append(None)
            continue
        if len(segments[i]) != chars:
            return None
        o = masked(segments[i], MASKS[shape][i])
        if o is None:
            return None
        misfits += sum(fitting(q, allowed) < LEAST_FITTING for q, allowed in zip(segments[i], MASKS[shape][i]))
        options.append(o)
        read.append([entry[0][0][1] for entry in o])
    if misfits > MOST_MISFITS:
        return None
    cost, paid_for = 0.0, False
    over, over_changed = 0, False
    # The issuing state of shapes whose first line is the name's is not read.
    states = [read[0][2:5], read[1][15:18]] if shape == 0 else [read[1][10:13]]
    if any(state[0] == 36 or (state[1] == 36 and state[2] != 36) for state in states):
        return None
    for n, (line, start, end) in enumerate(FIELDS[shape]):
        check = read[line][end]
        places = [(line, i) for i in range(start, end + 1)]
        if n == 0 and shape != 2 and check == 36:
            over = overflow(read, shape)
            if over is None:
                return None
            rest_line, rest_start, _ = REST[shape][0]
            places[-1:] = [(rest_line, rest_start + i) for i in range(over)]
        elif check == 36:
            # No digit: right only where the field is empty too, which unknown dates of birth may be.
            if n > 0 and all(c == 36 for c in read[line][start:end]):
                continue
            return None
        runs_on = n == 0 and over > 0
        part = [options[at][i][0] for at, i in places]
        result = repaired(part, lambda t: t[-1] < 10 and digit(t[:-1]) == t[-1])
        # A long number has no filler.
        if result is None or (runs_on and 36 in result[0]):
            return None
        paid_for = paid_for or any(unlike(o, c) for o, c in zip(part, result[0]))
        over_changed = over_changed or (runs_on and result[0][9:] != [read[at][i] for at, i in places[9:]])
        for (at, i), c in zip(places, result[0]):
            read[at][i] = c
        cost += result[1]
    rest = settle_rest(options, read, shape, over)
    # A visa has no composite digit, and one can be made to agree.
    if rest is None or ((rest > 0 or over_changed or covered) and not may_have_chip(segments, shape)):
        return None
    cost += rest
    if covered and (cost > 0 or over > 0):
        return None
    _, (bl, bs, be), (el, es, ee) = FIELDS[shape]
    birth, expiry = read[bl][bs:be], read[el][es:ee]
    # Fillers for the expiry are rare, and optional data that were taken for it are not.
    if not (possible(birth) and possible(expiry)) or all(c == 36 for c in expiry):
        return None
    fields = key_fields(read, shape, max(0, over - 1))
    # What a digit put right that nobody would mistake for it is no more than a doubt.
    confidence, margin = (MOST_UNLIKE if paid_for else 1.0), MOST_MARGIN
    best_share = [None if o is None else [max(q.values()) if q else 0 for q in masked_shares(segments[n], MASKS[shape][n])] for n, o in enumerate(options)]
    for line, i in (place for chars, _ in fields for place in chars):
        ranked, sure = options[line][i]
        chosen = read[line][i]
        if ranked[0][1] == chosen:
            confidence = min(confidence, sure)
        listed = {c: other_cost for other_cost, c in ranked}
        unlisted = math.log(max(best_share[line][i], FLOOR)) - math.log(FLOOR)
        for c in BLIND[chosen] & MASKS[shape][line][i]:
            margin = min(margin, listed.get(c, unlisted))
    if confidence < LEAST_CONFIDENCE:
        return None
    number = [read[line][i] for line, i in fields[0][0]]
    if over == 0:
        # A filler inside of a number is rare, and a K that was read as one is not.
        if any(a == 36 and b != 36 for a, b in zip(number, number[1:])):
            return None
        while number and number[-1] == 36:
            number = number[:-1]
        number = number + [36] * (9 - len(number))
    text = lambda cs: "".join(ALPHABET[c] for c in cs)
    margins = [pair_margins(options, best_share, read, shape, field, {} if covered else COMPOSITE_WEIGHT[shape]) for field in fields]
    return {"key": (text(number), text(birth), text(expiry)), "cost": cost, "confidence": confidence, "margin": margin, "covered": covered,
            "pair": min(pair for pair, _ in margins), "exchange": min(exchange for _, exchange in margins)}


def unlike(ranked, chosen):
    """Whether a check digit had to choose something that is neither likely nor alike."""
    first = ranked[0][1]
    return chosen != first and chosen not in LOOKALIKES.get(first, ()) and dict((c, cost) for cost, c in ranked)[chosen] > MOST_UNLIKE_COST


def may_have_chip(segments, shape):
    """Whether the document is said to be a passport or a card, where its first character was read."""
    if shape == 0 or len(segments[0]) == 0:
        return True
    return sum(segments[0][0].get(ALPHABET.index(c), 0) for c in "ACIP") > 0.5


def key_fields(read, shape, over):
    """For each field of the key the places of its characters, and that of its check digit where it has one."""
    out = []
    for n, (line, start, end) in enumerate(FIELDS[shape]):
        chars = [(line, i) for i in range(start, end)]
        if n == 0 and over > 0:
            rest_line, rest_start, _ = REST[shape][0]
            chars += [(rest_line, rest_start + i) for i in range(over)]
            out.append((chars, (rest_line, rest_start + over)))
        else:
            out.append((chars, None if read[line][end] == 36 else (line, end)))
    return out


def pair_margins(options, best_share, read, shape, field, composite):
    """The cheapest reading in which two other characters of a field, or of it and its check digit, cancel each other in that digit and in the composite one; and the cheapest with zeros for letters O, or the other way round."""
    chars, check = field
    changes, alike = [], []
    for n, (line, i) in enumerate([*chars, *([] if check is None else [check])]):
        chosen, ranked = read[line][i], options[line][i][0]
        listed = {c: cost for cost, c in ranked}
        unlisted = math.log(max(best_share[line][i], FLOOR)) - math.log(FLOOR)
        # Where a check digit decided, what was read instead is cheaper than what was chosen.
        paid = listed.get(chosen, 0.0)
        if ranked[0][1] in LOOKALIKES.get(chosen, ()):
            paid = min(paid, MOST_PAID)
        other = {ZERO: LETTER_O, LETTER_O: ZERO}.get(chosen)
        cheapest, unlike_round = [MOST_MARGIN] * 10, [MOST_MARGIN] * 10
        for c in MASKS[shape][line][i]:
            by = (VALUE[c] - VALUE[chosen]) % 10
            if by != 0:
                cheapest[by] = min(cheapest[by], listed.get(c, unlisted) - paid)
                if c != other:
                    unlike_round[by] = min(unlike_round[by], listed.get(c, unlisted) - paid)
        own, whole = WEIGHT[n % 3] if n < len(chars) else -1, composite.get((line, i), 0)
        changes.append((own, whole, cheapest, unlike_round))
        if other is not None and other in MASKS[shape][line][i]:
            by = VALUE[other] - VALUE[chosen]
            alike.append((min(MOST_MARGIN, listed.get(other, unlisted) - paid), own * by % 10, whole * by % 10, chosen == ZERO))
    margin = 2 * MOST_MARGIN
    for n, (own, whole, first, first_unlike) in enumerate(changes):
        for own_too, whole_too, second, second_unlike in changes[n + 1:]:
            for by in range(1, 10):
                if first[by] + min(second) >= margin:
                    continue
                for too in range(1, 10):
                    if (own * by + own_too * too) % 10 == 0 and (whole * by + whole_too * too) % 10 == 0:
                        margin = min(margin, first[by] + second_unlike[too], first_unlike[by] + second[too])
    return margin, alike_margin(alike)


def alike_margin(alike):
    """The same for zeros and letters O, however many: where one is mistaken for the other all are, so they look as unlike as the most unlike of them. But each O more is rarer in a number, whatever it looks like."""
    reached, margin = {(0, 0): 0.0}, 2 * MOST_MARGIN
    for cost, own, whole, is_zero in sorted(alike):
        for (a, b), rarer in list(reached.items()):
            to = ((a + own) % 10, (b + whole) % 10)
            if to == (0, 0):
                margin = min(margin, cost + rarer)
            more = rarer + (0.0 if is_zero else -MORE_O)
            reached[to] = min(more, reached.get(to, math.inf))
    return margin


def possible(date):
    month, day = date[2:4], date[4:6]
    def number(pair):
        if pair == [36, 36]:
            return 0
        return None if 36 in pair else pair[0] * 10 + pair[1]
    year_ok = date[:2] == [36, 36] or 36 not in date[:2]
    m, d = number(month), number(day)
    return year_ok and m is not None and d is not None and m <= 12 and d <= 31


class Agreement:
    """Five frames that say the same key, of which one that is sure is worth three; and two more than say anything else."""

    def __init__(self):
        self.said, self.counted, self.worth = {}, {}, {}

    def add(self, said):
        if said is None or "key" not in said:
            return None
        key = said["key"]
        self.said[key] = self.said.get(key, 0) + 1
        values = [said[name] for name in ("confidence", "margin", "pair", "exchange")]
        if any(v < least for v, least in zip(values, COUNTS)):
            return None
        is_sure = said["cost"] == 0 and not said["covered"] and all(v >= least for v, least in zip(values, SURE))
        self.counted[key] = self.counted.get(key, 0) + 1
        self.worth[key] = self.worth.get(key, 0) + (SURE_WORTH if is_sure else 1)
        others = sum(self.said.values()) - self.said[key]
        enough = self.worth[key] >= max(ENOUGH_FRAMES, COUNTED_SHARE * self.said[key])
        return key if enough and self.counted[key] - others >= LEAD else None


class Film:
    """What frames say one after the other. Mirrors src/film.ts."""

    def __init__(self):
        self.forget()

    def forget(self):
        self.agreement, self.without = Agreement(), 0

    def add(self, said, seen=True):
        """`said` of one frame by `decide`, and whether it saw a zone. The key, once it is believed."""
        self.without = 0 if seen else self.without + 1
        if self.without >= GONE_FRAMES:
            self.forget()
            return None
        accepted = self.agreement.add(said)
        if accepted is not None:
            self.forget()
        return accepted
