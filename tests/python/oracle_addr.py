"""Addresses by the published formulas, in plain integers: an oracle that shares nothing with the C code.

`python tests/python/oracle_addr.py FILE [SEED] [CASES]` writes a file of test vectors (format 2) with random configs of every
scheme; `omnigram verify FILE` must find no mismatch in it. Windows are lists, products are Python's big integers, wrapping is
written out, Engram's multipliers are numpy's own.
"""

import json
import random
import struct
import sys
import unicodedata

import numpy as np

M32, M64 = 1 << 32, 1 << 64


def signed(x, bits):
    x %= 1 << bits
    return x - (1 << bits) if x >> (bits - 1) else x


def is_prime(n):
    if n < 2:
        return False
    d = 2
    while d * d <= n:
        if n % d == 0:
            return False
        d += 1 if d == 2 else 2
    return True


def next_prime(n):
    n += 1
    while not is_prime(n):
        n += 1
    return n


def splitmix64(v):
    v = (v + 0x9E3779B97F4A7C15) % M64
    v = (v ^ (v >> 30)) * 0xBF58476D1CE4E5B9 % M64
    v = (v ^ (v >> 27)) * 0x94D049BB133111EB % M64
    return v ^ (v >> 31)


class Case:
    """The tokens of one case, with the documents and the past that a window may look at."""

    def __init__(self, ids, starts, past):
        self.ids, self.past = ids, past
        self.starts = [0] if starts is None else starts
        if past:
            self.starts = [s for s in self.starts if s > 0]

    def tokens_before(self, t):
        """Tokens before t that its document (or the past) holds, newest first."""
        first = max([s for s in self.starts if s <= t], default=None)
        if first is not None:
            return self.ids[first:t][::-1]
        return self.ids[:t][::-1] + self.past[::-1]


def lag(before, k, absent=0):
    return before[k - 1] if k <= len(before) else absent


def global_bases(config, sizes):
    return [sum(sizes[:c]) if config.get("global_rows") else 0 for c in range(len(sizes))]


def welm(config, case, t):
    before, out = case.tokens_before(t), []
    for order, rows in zip(config["orders"], config["rows"]):
        number = case.ids[t] + sum(lag(before, k) * config["vocab"] ** k for k in range(1, order))
        row = number * 2654435761 % M32 % rows
        need = max(config["orders"]) if config["fill"] == "row0_max" else order
        out.append(0 if config["fill"] != "zero_id" and len(before) < need - 1 else row)
    return [b + r for b, r in zip(global_bases(config, config["rows"]), out)]


def split_sizes(config):
    n = (config["max_order"] - 1) * config["splits"]
    return [(2 + j // config["splits"], config["rows0"] + config["row_step"] * j) for j in range(n)]


def ott(config, case, t):
    before, out = case.tokens_before(t), []
    for order, rows in split_sizes(config):
        out.append((case.ids[t] + sum(lag(before, k) * config["vocab"] ** k for k in range(1, order))) % rows)
    return [b + r for b, r in zip(global_bases(config, [r for _, r in split_sizes(config)]), out)]


def mojo(config, case, t):
    before, out = case.tokens_before(t), []
    for order, rows in zip(config["orders"], config["rows"]):
        out.append((case.ids[t] + sum(lag(before, k) * config["vocab"] ** k for k in range(1, order))) % rows)
    return [b + r for b, r in zip(global_bases(config, config["rows"]), out)]


def longcat(config, case, t):
    special, serving = set(config.get("special", [])), config["variant"] == "serving"
    before, now = [], case.ids[t]
    if serving:
        ignored = set(config.get("ignored", []))
        for token in case.tokens_before(t):
            if token in ignored:
                break
            before.append(token)
        if now in ignored:
            now, before = 0, []
    else:
        lite = config["variant"] == "lite"
        for token in case.tokens_before(t):
            seen = 0 if token in special else token
            if seen == config["eos"] and (lite or seen != 0):  # Next looks for eos among what is left of the ids
                break
            before.append(seen)
        now = 0 if now in special else now
        if now == 0 and not lite:
            before = []
    out = []
    for order, rows in split_sizes(config):
        out.append((now + sum(lag(before, k) * config["vocab"] ** k for k in range(1, order))) % rows)
    return [b + r for b, r in zip(global_bases(config, [r for _, r in split_sizes(config)]), out)]


def longcat_live(config, case, t):
    now = 0 if case.ids[t] in config.get("special", []) else case.ids[t]
    return [int(now > 0)] * ((config["max_order"] - 1) * config["splits"])


def engram_constants(config):
    half = max(1, ((2**63 - 1) // config["compressed_vocab"]) // 2)
    rng = np.random.default_rng(config["seed"] + 10007 * config["layer_id"])
    drawn = rng.integers(0, half, size=config["max_order"], dtype=np.int64)
    seen, primes = set(), None
    for layer in config["all_layers"]:
        primes = []
        for start in config["start_rows_per_order"]:
            p, of_order = start - 1, []
            for _ in range(config["heads"]):
                p = next_prime(p)
                while p in seen:
                    p = next_prime(p)
                seen.add(p)
                of_order.append(p)
            primes.append(of_order)
        if layer == config["layer_id"]:
            break
    return [2 * int(r) + 1 for r in drawn], primes


def engram(config, case, t, constants):
    multipliers, primes = constants
    dead = config["dead"] if config["variant"] == "v41" else None
    window, blocked = [], False
    before = case.tokens_before(t)
    for k in range(config["max_order"]):
        token = case.ids[t] if k == 0 else lag(before, k, None)
        blocked = blocked or token is None or token == dead
        window.append(config["pad"] if blocked else token)
    out = []
    for n, of_order in enumerate(primes):
        mix = 0
        for k in range(n + 2):
            mix ^= window[k] * multipliers[k]
        out += [mix % p for p in of_order]
    return [b + r for b, r in zip(global_bases(config, sum(primes, [])), out)]


def qwen_constants(config):
    half = max(1, ((2**63 - 1) // config["vocab"]) // 2)
    base = config["seed"] + 10007 * config["layer_index"]
    multipliers = [2 * (splitmix64((base + 0x9E3779B97F4A7C15 * (i + 1)) % M64) % half) + 1 for i in range(config["max_order"])]
    n, p, primes = (config["max_order"] - 1) * config["heads_per_order"], config["base_rows"] - 1, []
    for _ in range((config["layer_index"] + 1) * n):
        p = next_prime(p)
        primes.append(p)
    return multipliers, primes[-n:]


def qwen(config, case, t, constants):
    multipliers, primes = constants
    window, met = [case.ids[t]], False
    before = case.tokens_before(t)
    for k in range(1, config["max_order"]):
        token = lag(before, k, config["eos"])
        met = met or token == config["eos"]
        window.append(config["eos"] if met else token)
    out = []
    for c, p in enumerate(primes):
        mix = 0
        for k in range(2 + c // config["heads_per_order"]):
            mix ^= window[k] * multipliers[k]
        out.append(mix % p)
    return [b + r for b, r in zip(global_bases(config, primes), out)]


def bigram(config, case, t):
    before, mod = case.tokens_before(t), config["rows"] - 1
    if not before:
        return [mod]
    left = mod if len(before) == 1 else before[0]
    return [(signed(36313 * case.ids[t], 32) ^ signed(27191 * left, 32)) % mod]


def bigram_sign(config, case, t):
    before = case.tokens_before(t)
    return (before[0] ^ case.ids[t]) % 8192 if before else 0


BLT = [1000000007, 5915587277, 1500450271, 3267000013, 5754853343, 4093082899, 9576890767, 3628273133, 2860486313, 5463458053, 3367900313]


def blt(config, case, t):
    before, order = case.tokens_before(t), config["order"]
    window = [lag(before, k) for k in range(order - 1, 0, -1)] + [case.ids[t]]
    return [signed(sum(w * BLT[config["function"]] ** i for i, w in enumerate(window)), 64) % config["rows"]]


def ngrammer(config, case, t):
    before, out = case.tokens_before(t), []
    for h in range(config["heads"]):
        pair = case.ids[t][h] + config["codes_per_head"] * (before[0][h] if before else 0)
        row = (pair * (h + 1) + (h + 1)) % config["primes"][h] % config["rows"]
        out.append(row + (config["rows"] * h if config.get("global_rows") else 0))
    return out


def lngram(config, case, t):
    before, order, k = case.tokens_before(t), config["order"], 2 ** config["bits"]
    if len(before) < order - 1:
        return None
    out = []
    for r in range(len(case.ids[t])):
        window = [before[lag_ - 1][r] for lag_ in range(order - 1, 0, -1)] + [case.ids[t][r]]
        out.append(r * k**order + sum(code * k**i for i, code in enumerate(window)))
    return out


def identity(config, case, t):
    token = case.ids[t]
    if token in config.get("placeholders", []):
        return [config["pad"]]
    return [token if 0 <= token < config["rows"] else 0]


def mix64(config, case, t):
    before, out, base = case.tokens_before(t), [], 0
    key = splitmix64(config["seed"])
    for c, rows in enumerate(config["rows"]):
        order, head = config["orders"][c // config["heads"]], c % config["heads"]
        z = splitmix64((~key + head * 64 + order) % M64)
        for k in range(order):
            token = case.ids[t] if k == 0 else lag(before, k, -1)
            z += (token + 1) * (splitmix64((key + head * 1024 + k) % M64) | 1)
        z %= M64
        z = (z ^ (z >> 32)) * 0xBF58476D1CE4E5B9 % M64
        z = (z ^ (z >> 29)) * 0x94D049BB133111EB % M64
        row = z * rows >> 64
        out.append(base + row if len(before) >= order - 1 else None)
        base += rows if config.get("global_rows") else 0
    return out


# ---- random cases -----------------------------------------------------------------------------------------------


def draw_config(rng, scheme):
    vocab = rng.choice([7, 64, 255, 8192, 50257, 100352, 131072, 151936, 2**31 - 1, rng.randint(2, 300000)])

    def rows():
        return rng.choice([1, 2, 97, 65536, 16000057, 2**32, 2**32 + 15, 2**40 - 1, rng.randint(1, 10**7)])

    maybe_global = {"global_rows": rng.random() < 0.5}
    orders = [rng.randint(1, 7) for _ in range(rng.randint(1, 5))]
    if scheme == "welm_knuth32":
        fill = rng.choice(["zero_id", "row0", "row0_max"])
        return {"vocab": vocab, "orders": orders, "rows": [rows() for _ in orders], "fill": fill, **maybe_global}
    if scheme == "ott_mod":
        return {"vocab": vocab, "max_order": rng.randint(2, 6), "splits": rng.randint(1, 4), "rows0": rows(), "row_step": rng.randint(0, 9),
                "fill": "zero_id", **maybe_global}
    if scheme == "mojo_mod":
        return {"vocab": vocab, "orders": orders, "rows": [rows() for _ in orders], **maybe_global}
    if scheme == "longcat_mod":
        config = {"vocab": vocab, "max_order": rng.randint(2, 6), "splits": rng.randint(1, 4), "rows0": rows(), "row_step": rng.randint(0, 9), **maybe_global}
        few = [min(vocab, 30) - 1 - i for i in range(3) if min(vocab, 30) - 1 - i > 2]
        if rng.random() < 0.5:
            return {**config, "variant": "serving", "ignored": few}
        if rng.random() < 0.3:
            return {**config, "variant": "lite", "eos": rng.choice([0, 1])}
        return {**config, "variant": "hf", "eos": rng.choice([0, 1, 1, *few[:1]]), **({"special": few} if rng.random() < 0.5 else {})}
    if scheme == "engram_xor":
        variant, max_order = rng.choice(["v1", "v41"]), rng.randint(2, 5)
        layers = rng.sample(range(40), rng.choice([1, 2, 3, 12]))
        config = {"variant": variant, "compressed_vocab": max(vocab, 8), "layer_id": rng.choice(layers), "all_layers": layers, "heads": rng.randint(1, 4),
                  "start_rows_per_order": [rng.choice([2, 100, 5000]) for _ in range(max_order - 1)], "max_order": max_order, "pad": rng.randint(0, 6),
                  "seed": rng.choice([0, 1, 12345, 2**31, 2**40 + 7]), **maybe_global}
        if rng.random() < 0.1:  # numpy's seed is 0
            config["seed"] = -10007 * config["layer_id"]
        return {**config, "dead": -1} if variant == "v41" else config
    if scheme == "qwen_xor":
        return {"vocab": vocab, "max_order": rng.randint(2, 5), "heads_per_order": rng.randint(1, 4), "base_rows": rng.choice([2, 97, 20000]),
                "seed": rng.choice([0, 99, 1234, 2**50, -1, -(2**62)]), "layer_index": rng.randint(0, 3), "eos": rng.randint(0, min(vocab, 20) - 1), **maybe_global}
    if scheme == "bigram_xor32":
        return {"rows": rng.choice([2, 3, 377280, 2**31, rng.randint(2, 10**6)])}
    if scheme == "blt_poly":
        return {"order": rng.randint(1, 9), "function": rng.randint(0, 10), "rows": rows()}
    if scheme == "ngrammer":
        heads, size = rng.randint(1, 5), rng.randint(1, 200000)
        return {"codes_per_head": rng.choice([1, 16, 1024, 5000]), "heads": heads, "rows": size, "primes": [next_prime(size + 7 * h) for h in range(heads)], **maybe_global}
    if scheme == "lngram_direct":
        return {"bits": rng.randint(1, 6), "order": rng.randint(1, 4)}
    if scheme == "identity":
        config = {"variant": rng.choice(["gemma3n", "gemma4"]), "rows": rng.randint(5, 60)}
        return {**config, "pad": rng.randint(0, 4), "placeholders": [3, 55]} if config["variant"] == "gemma4" else config
    if scheme != "mix64":
        raise KeyError(f"draw_config has no configs of {scheme}")
    heads, orders = rng.randint(1, 3), sorted(rng.sample(range(1, 8), rng.randint(1, 4)))
    return {"orders": orders, "heads": heads, "seed": rng.choice([0, 1, 2**40]), "rows": [rows() for _ in range(heads * len(orders))], **maybe_global}


def draw_token(rng, scheme, config):
    limit = {"bigram_xor32": 2**31, "blt_poly": 2**31, "identity": 70, "mix64": 2**31}.get(scheme) or config.get("vocab") or config.get("compressed_vocab")
    if scheme == "engram_xor" and config["variant"] == "v41" and rng.random() < 0.2:
        return -1
    if scheme == "identity" and config["variant"] == "gemma3n" and rng.random() < 0.2:
        return -rng.choice([1, 7, 2**31])
    token = rng.randrange(limit) if rng.random() < 0.5 else rng.randrange(min(limit, 30))
    return config["eos"] if "eos" in config and rng.random() < 0.1 else token


def draw_tokens(rng, scheme, config, n, routes):
    if scheme == "ngrammer":
        return [[rng.randrange(config["codes_per_head"]) for _ in range(config["heads"])] for _ in range(n)]
    if scheme == "lngram_direct":
        return [[rng.randrange(2 ** config["bits"]) for _ in range(routes)] for _ in range(n)]
    return [draw_token(rng, scheme, config) for _ in range(n)]


ROWS = {"welm_knuth32": welm, "ott_mod": ott, "mojo_mod": mojo, "longcat_mod": longcat, "engram_xor": engram, "qwen_xor": qwen, "bigram_xor32": bigram,
        "blt_poly": blt, "ngrammer": ngrammer, "lngram_direct": lngram, "identity": identity, "mix64": mix64}


def address_case(rng, scheme):
    # 256 positions are a block of the library's
    config, n, routes = draw_config(rng, scheme), rng.randint(1, 40) if rng.random() < 0.9 else rng.randint(250, 600), rng.randint(1, 4)
    out = {"scheme": scheme, "config": config, "ids": draw_tokens(rng, scheme, config, n, routes)}
    if rng.random() < 0.7:
        out["doc_starts"] = [0] + sorted(rng.randint(0, n) for _ in range(rng.randint(0, 4)))
    if rng.random() < 0.3:
        out["history_oldest_first"] = draw_tokens(rng, scheme, config, rng.randint(1, 9), routes)
    case = Case(out["ids"], out.get("doc_starts"), out.get("history_oldest_first", []))
    extra = ()
    if scheme == "engram_xor":
        extra = (engram_constants(config),)
        out["multipliers"], out["primes"] = extra[0]
    if scheme == "qwen_xor":
        extra = (qwen_constants(config),)
    out["rows"] = [ROWS[scheme](config, case, t, *extra) for t in range(n)]
    if scheme == "longcat_mod" and config["variant"] == "hf":
        out["live"] = [longcat_live(config, case, t) for t in range(n)]
    if scheme == "bigram_xor32":
        out["signs"] = [bigram_sign(config, case, t) for t in range(n)]
    if scheme == "lngram_direct":
        out["logits"] = [[(1 if code >> j & 1 else -1) * rng.uniform(0.01, 3) for code in codes for j in range(config["bits"])] for codes in out["ids"]]
    return out


# ---- blocks and canonical texts ------------------------------------------------------------------------------------


def e4m3(byte):
    sign, exponent, mantissa = -1 if byte & 0x80 else 1, byte >> 3 & 15, byte & 7
    if byte & 0x7F == 0x7F:
        return None
    return sign * (mantissa / 8 * 2**-6 if exponent == 0 else (1 + mantissa / 8) * 2.0 ** (exponent - 7))


def fp8_case(rng):
    scales, group = rng.randint(1, 9), rng.choice([1, 4, 32])
    values = [rng.randrange(256) for _ in range(scales * group)]
    powers = [rng.randrange(20, 230) for _ in range(scales)]
    decoded = [None if e4m3(v) is None else e4m3(v) * 2.0 ** (powers[i // group] - 127) for i, v in enumerate(values)]
    return {"block": "fp8_row", "e4m3": values, "ue8m0": powers, "values": [v if v is None else struct.unpack("f", struct.pack("f", v))[0] for v in decoded]}


def pkm_case(rng):
    n, dim = rng.randint(1, 12), rng.randint(1, 8)
    knn, draw = rng.randint(1, n), lambda k: [rng.gauss(0, 1) for _ in range(k)]
    query, keys = draw(2 * dim), [[draw(dim) for _ in range(n)] for _ in range(2)]
    halves = [[sum(q * k for q, k in zip(query[h * dim : (h + 1) * dim], key)) for key in keys[h]] for h in range(2)]
    best = [sorted(range(n), key=lambda i: -half[i])[:knn] for half in halves]
    sums = sorted(((halves[0][a] + halves[1][b], a * n + b) for a in best[0] for b in best[1]), reverse=True)[:knn]
    weights = np.exp(np.array([s for s, _ in sums]) - sums[0][0])
    return {"block": "pkm", "query": query, "subkeys1": keys[0], "subkeys2": keys[1], "knn": knn,
            "hits": [[i, float(w)] for (_, i), w in zip(sums, weights / weights.sum())]}


def scone_case(rng):
    ids, order = [rng.randrange(4) for _ in range(rng.randint(1, 40))], rng.randint(1, 5)
    members = {tuple(rng.randrange(4) for _ in range(rng.randint(1, 6))) for _ in range(rng.randint(0, 30))}
    match = [max((m for m in members if len(m) <= order and tuple(ids[: t + 1][-len(m) :]) == m), key=len, default=None) for t in range(len(ids))]
    return {"block": "scone_longest_match", "max_order": order, "set": [list(m) for m in members], "ids": ids, "match": [m and list(m) for m in match]}


SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"


def canonical(text):
    if "\ufffd" in text:
        return text
    s = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text))
    s = "".join(c for c in s if not unicodedata.category(c).startswith("M"))
    s = "".join(c.lower() for c in s)
    joined = ""
    for c in s:
        c = " " if c in " \t\r\n" else c
        joined += "" if c == " " and joined.endswith(" ") else c
    s = "\ue000" if joined == " " else joined
    s = s.strip(SPACES).replace("\ue000", " ")
    return s or text


def canonical_case(rng):
    ranges = [(1, 0x7F), (0x80, 0x24F), (0x300, 0x58F), (0x590, 0x6FF), (0x900, 0xFFF), (0x1E00, 0x22FF), (0x3000, 0x30FF), (0xAC00, 0xAD00), (0xFB00, 0xFFFD),
              (0x1D400, 0x1D7FF), (0x2000, 0x2030)]
    text = "".join(chr(rng.randint(*rng.choice(ranges))) for _ in range(rng.randint(0, 8)))
    # a code point that one Unicode version has and another has not is nobody's fault
    text = "".join(c for c in text if unicodedata.category(c) not in ("Cn", "Cs"))
    return {"text": text, "key": canonical(text)}


def document(seed, cases):
    rng = random.Random(seed)
    out = [address_case(rng, scheme) for scheme in ROWS for _ in range(cases)]
    for make in (fp8_case, pkm_case, scone_case, canonical_case):
        out += [make(rng) for _ in range(cases)]
    return {"format": 2, "rtol": 1e-6, "atol": 1e-9, "cases": out}


def main():
    seed, cases = int((sys.argv[2:] or [1])[0]), int((sys.argv[3:] or [100])[0])
    with open(sys.argv[1], "w") as file:
        json.dump(document(seed, cases), file)


if __name__ == "__main__":
    main()
