"""Invented documents: the lines of their machine readable zones as ICAO 9303 lays them out, from a seed."""

import random

import numpy as np

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ<"
FILLER = 36
TD1, TD2, TD3, MRVA, MRVB = range(5)
# Lines, characters a line, width and height of the page in millimetres.
SHAPES = {TD1: (3, 30, 85.6, 54.0), TD2: (2, 36, 105.0, 74.0), TD3: (2, 44, 125.0, 88.0), MRVA: (2, 44, 120.0, 80.0), MRVB: (2, 36, 105.0, 74.0)}
# What the type head of the refinement tells apart: a visa has the shape of the document of its size.
SHAPE_OF = {TD1: 0, TD2: 1, TD3: 2, MRVA: 2, MRVB: 1}
# The line with the name, by shape (TD1, TD2, TD3).
NAME_LINE = (2, 0, 0)

STATES = (
    "AFG ALB DZA AND AGO ARG ARM AUS AUT AZE BHS BHR BGD BLR BEL BLZ BEN BTN BOL BIH BWA BRA BRN BGR BFA BDI KHM CMR CAN CPV CAF TCD CHL CHN "
    "COL COM COG COD CRI CIV HRV CUB CYP CZE DNK DJI DOM ECU EGY SLV GNQ ERI EST ETH FJI FIN FRA GAB GMB GEO D GHA GRC GTM GIN GNB GUY HTI "
    "HND HUN ISL IND IDN IRN IRQ IRL ISR ITA JAM JPN JOR KAZ KEN KIR PRK KOR KWT KGZ LAO LVA LBN LSO LBR LBY LIE LTU LUX MDG MWI MYS MDV MLI "
    "MLT MRT MUS MEX MDA MCO MNG MNE MAR MOZ MMR NAM NPL NLD NZL NIC NER NGA NOR OMN PAK PAN PNG PRY PER PHL POL PRT QAT ROU RUS RWA SAU SEN "
    "SRB SYC SLE SGP SVK SVN SLB SOM ZAF ESP LKA SDN SUR SWZ SWE CHE SYR TJK TZA THA TGO TON TTO TUN TUR TKM UGA UKR ARE GBR USA URY UZB VUT "
    "VEN VNM YEM ZMB ZWE UTO EUE UNO RKS XXA XXB XXC GBD GBN"
).split()
SURNAMES = (
    "ERIKSSON MUELLER SCHMIDT NOVAK KOWALSKI GARCIA FERNANDEZ ROSSI BIANCHI SILVA SANTOS PEREIRA IVANOVA PETROV SMITH JONES BROWN TAYLOR "
    "OBRIEN MACDONALD VAN<DER<BERG DE<JONG JANSEN PEETERS DUBOIS LEFEBVRE MOREAU NIELSEN HANSEN JOHANSSON VIRTANEN KORHONEN TAMM KALNINS "
    "KAZLAUSKAS HORVATH NAGY POPESCU IONESCU DIMITROV PAPADOPOULOS YILMAZ KAYA HADDAD ALHASSAN COHEN LEVI SHARMA PATEL SINGH KHAN AHMED "
    "NGUYEN TRAN LI WANG ZHANG KIM PARK TANAKA SATO SUZUKI OKAFOR MENSAH ABEBE DIALLO TRAORE NKOSI MARTINEZ<LOPEZ GONCALVES QUISPE"
).split()
GIVEN = (
    "ANNA MARIA LUKAS SOPHIE ELENA IVAN OLGA PIOTR EWA JOSE LUIS CARMEN GIULIA MARCO JOAO INES JOHN MARY SEAN AOIFE PIETER LOTTE JEAN CLAIRE "
    "LARS FREJA MIKKO AINO JAAN LIGA JONAS AGNE ISTVAN KATALIN ANDREI IOANA GEORGI NIKOS MEHMET AYSE OMAR LAYLA DAVID NOA ARJUN PRIYA ALI "
    "FATIMA MINH LAN WEI FANG MIN JUN HIRO YUKI CHIDI AMA HAILE AMINATA THANDI XIMENA QUENTIN ZOE BJORN WALTRAUD"
).split()
# Never trained on.
HELD_SURNAMES = "VOGEL LINDQVIST MARCHETTI OLIVEIRA STEPANENKO WHITAKER GALLAGHER DEVRIES ROUSSEAU JAERVINEN BALODIS SZABO CONSTANTINOU AYDIN RAHMAN VU HUANG YAMAMOTO ADEYEMI ZULU".split()
HELD_GIVEN = "GRETA FELIX PAOLA BRUNO TARAS HAZEL CONOR FEMKE LUC SAARA EDGARS ZSOFIA YANNIS DERYA IMRAN THUY KAI SAKURA NGOZI SIPHO".split()
SYLLABLES = "BA BE BO CA CHI DA DE DO FA FI GA GO HA HI JA JO KA KU LA LE LO MA MI MO NA NI NO PA PE QUA RA RI RO SA SE SHI TA TE TO VA VI WA WE XA YA YU ZA ZE ZO".split()
GERMAN = "CFGHJKLMNPRTVWXYZ0123456789"
ALIKE = ("0O", "0ODQ", "S8", "G6", "U0", "5S", "B8", "I1L", "Z2", "D0", "QO", "HMNW", "VYU", "A4", "CG", "EF", "KX")
CONFUSABLE = "0ODQ1IL2Z5S8B6G4A7TUVMNHKXW<"


def check_digit(text):
    return str(sum(ALPHABET_VALUE[c] * (7, 3, 1)[i % 3] for i, c in enumerate(text)) % 10)


ALPHABET_VALUE = {c: 0 if c == "<" else i for i, c in enumerate(ALPHABET)}


def _name(dice, held):
    def part(listed):
        if dice.random() < 0.55:
            return dice.choice(listed)
        return "".join(dice.choice(SYLLABLES) for _ in range(dice.randrange(1, 5)))
    surname = part(HELD_SURNAMES if held else SURNAMES)
    given = "<".join(part(HELD_GIVEN if held else GIVEN) for _ in range(dice.choice((1, 1, 2, 3))))
    return f"{surname}<<{given}"


def _seldom_o(dice, text):
    """In numbers the digit is far more frequent than the letter, which many issuers never use. Where print does not tell them apart, that is what is left."""
    return "".join("0" if c == "O" and dice.random() < 0.85 else c for c in text)


def _number(dice, length=9, confusable=0.0):
    style = dice.random()
    if confusable > 0 and dice.random() < confusable:
        # One group of characters that look alike, among digits.
        group = dice.choice(ALIKE)
        n = "".join(dice.choice(group) if dice.random() < 0.5 else dice.choice("0123456789") for _ in range(length))
    elif style < 0.3:
        n = "".join(dice.choice("0123456789") for _ in range(length))
    elif style < 0.6:
        letters = dice.randrange(1, 4)
        n = "".join(dice.choice(ALPHABET[10:36]) for _ in range(letters)) + "".join(dice.choice("0123456789") for _ in range(length - letters))
    elif style < 0.8:
        n = "".join(dice.choice(GERMAN) for _ in range(length))
    else:
        n = "".join(dice.choice(ALPHABET[:36]) for _ in range(length))
    if length == 9 and dice.random() < 0.12:
        n = n[: dice.randrange(6, 9)]
    return n


def _date(dice, first, last):
    return f"{dice.randrange(first, last) % 100:02d}{dice.randrange(1, 13):02d}{dice.randrange(1, 29):02d}"


def _fill(text, length):
    return text[:length].ljust(length, "<")


def document(dice, kind, held=False, confusable=0.0):
    """The lines of one document, and the key that opens its chip (None for a visa, which has none)."""
    state = _fill(dice.choice(STATES), 3)
    nation = state if dice.random() < 0.8 else _fill(dice.choice(STATES), 3)
    sex = dice.choice("MF<") if dice.random() < 0.2 else dice.choice("MF")
    birth, expiry = _date(dice, 1925, 2025), _date(dice, 2018, 2037)
    if dice.random() < 0.01:
        birth = birth[:2] + "<<<<"
    b, e = birth + check_digit(birth), expiry + check_digit(expiry)
    name = _name(dice, held)
    def numbered(length):
        n = _number(dice, length, confusable if length == 9 else 0.0)
        return n if held else _seldom_o(dice, n)
    number = numbered(9)
    field = _fill(number, 9)
    digit = check_digit(field)
    optional_chars = "0123456789" if dice.random() < 0.6 else ALPHABET[:36]
    def optional(longest):
        return "".join(dice.choice(optional_chars) for _ in range(dice.randrange(1, longest + 1))) if dice.random() < 0.45 else ""
    if kind == TD3:
        o = _fill(optional(14), 14)
        od = check_digit(o) if o.strip("<") else dice.choice("<0")
        two = field + digit + nation + b + sex + e + o + od
        two += check_digit(two[:10] + two[13:20] + two[21:43])
        lines = [_fill(dice.choice(("P<", "P<", "P<", "PD", "PS", "PO", "PP", "PM")) + state + name, 44), two]
    elif kind in (MRVA, MRVB):
        length = 44 if kind == MRVA else 36
        two = field + digit + nation + b + sex + e
        lines = [_fill(dice.choice(("V<", "VC", "VB", "VD")) + state + name, length), _fill(two + _fill(optional(length - 28), length - 28), length)]
        return lines, None
    elif kind == TD2:
        over = ""
        if dice.random() < 0.04:
            number = numbered(12)
            field, digit, over = number[:9], "<", number[9:] + check_digit(number)
        two = field + digit + nation + b + sex + e + _fill(over + ("" if over else optional(7)), 7)
        two += check_digit(two[:10] + two[13:20] + two[21:35])
        lines = [_fill(dice.choice(("I<", "ID", "AC", "IP")) + state + name, 36), two]
    else:
        over = ""
        if dice.random() < 0.08:
            number = numbered(dice.randrange(10, 15))
            field, digit, over = number[:9], "<", number[9:] + check_digit(number)
        one = dice.choice(("I<", "ID", "AC", "IR", "AR", "IP")) + state + field + digit + _fill(over + ("" if over else optional(15)), 15)
        second = _fill(optional(11), 11)
        two = b + sex + e + nation + second
        two += check_digit(one[5:30] + two[:7] + two[8:15] + two[18:29])
        lines = [one, two, _fill(name, 30)]
    number = number.rstrip("<")
    return lines, (number.ljust(9, "<"), birth, expiry)


def _scramble(dice, lines):
    """Lines that are no language, so that no language is learnt."""
    letters = ALPHABET if dice.random() < 0.6 else CONFUSABLE
    return [_seldom_o(dice, "".join(dice.choice(letters) for _ in line)) for line in lines]


def encode(lines):
    out = np.full((3, 44), -1, np.int64)
    for i, line in enumerate(lines):
        out[i, : len(line)] = [ALPHABET.index(c) for c in line]
    return out


def documents(seed, count, held=False, scramble=0.25, visas=0.12, confusable=0.0):
    """Types in a fixed mixture, in random order: every batch has all of them."""
    dice = random.Random(seed)
    kinds = np.empty(count, np.int64)
    text = np.empty((count, 3, 44), np.int64)
    keys = []
    for i in range(count):
        kind = dice.choice((MRVA, MRVB)) if dice.random() < visas else dice.choice((TD1, TD2, TD3, TD3))
        lines, key = document(dice, kind, held, confusable)
        if dice.random() < scramble:
            lines, key = _scramble(dice, lines), None
        kinds[i], text[i] = kind, encode(lines)
        keys.append(key)
    return kinds, text, keys
