"""The same model as a researcher would write it in PyTorch eager: the peer of `bench train`, and the oracle of its tests."""

from __future__ import annotations

import torch
import torch.nn.functional as F


def rotate(x, cosine, sine):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cosine - b * sine, b * cosine + a * sine), -1)


class Eager(torch.nn.Module):
    """Parameters carry omnigram's names (with _ for .), so that weights are copied by name."""

    def __init__(self, weights: dict, layers: int, heads: int, capacity: int, *, eps: float = 1e-5, base: float = 10000.0,
                 chunk: int = 1024):
        super().__init__()
        self.layers, self.heads, self.eps, self.chunk = layers, heads, eps, chunk
        for name, value in weights.items():
            self.register_parameter(name.replace(".", "_"), torch.nn.Parameter(torch.tensor(value)))
        self.dtype = self.embed_weight.dtype
        half = self.embed_weight.shape[1] // heads // 2
        angles = torch.arange(capacity, dtype=torch.float64)[:, None] * base ** (-torch.arange(half, dtype=torch.float64) / half)
        self.cosine, self.sine = angles.cos().to(self.dtype), angles.sin().to(self.dtype)

    def p(self, name: str) -> torch.Tensor:
        return getattr(self, name.replace(".", "_") + "_weight")

    def norm(self, x, name):
        return F.rms_norm(x, (x.shape[-1],), self.p(name), self.eps)

    def hidden(self, tokens, pos, lengths, rows=None):
        """tokens, pos [N] of documents of these lengths, one after another; rows [N][width] of the tables."""
        x = F.embedding(tokens, self.p("embed"))
        x = x * x.shape[-1] ** 0.5
        if rows is not None:
            x = (x + F.linear(rows.to(x.dtype), self.p("memory.up"))) / 2
        cosine, sine = self.cosine[pos][:, None], self.sine[pos][:, None]
        for i in range(self.layers):
            x = x + self.attention(x, f"layers.{i}.attention", lengths, cosine, sine)
            gate, up = F.linear(self.norm(x, f"layers.{i}.mlp.norm"), self.p(f"layers.{i}.mlp.up")).chunk(2, -1)
            x = x + F.linear(F.silu(gate) * up, self.p(f"layers.{i}.mlp.down"))
        return self.norm(x, "norm")

    def attention(self, x, name, lengths, cosine, sine):
        n, width = x.shape
        q, k, v = F.linear(self.norm(x, name + ".norm"), self.p(name + ".qkv")).view(n, 3, self.heads, width // self.heads).unbind(1)
        q, k = rotate(q, cosine, sine).to(v.dtype), rotate(k, cosine, sine).to(v.dtype)
        outs = [F.scaled_dot_product_attention(*(t.transpose(0, 1)[None] for t in part), is_causal=True)[0].transpose(0, 1)
                for part in zip(q.split(lengths), k.split(lengths), v.split(lengths))]
        return F.linear(torch.cat(outs).reshape(n, width), self.p(name + ".out"))

    def head(self):
        return self.p("head") if hasattr(self, "head_weight") else self.p("embed")

    def loss(self, batch, rows=None):
        """sum(weight * nll) / sum(weight), logits of `chunk` positions at a time."""
        h = self.hidden(batch["tokens"], batch["pos"], batch["lengths"], rows)[batch["sources"]]
        total = h.new_zeros((), dtype=torch.float32 if self.dtype == torch.float32 else self.dtype)
        for a in range(0, len(h), self.chunk):
            part = slice(a, a + self.chunk)
            nll = F.cross_entropy(F.linear(h[part], self.head()).to(self.dtype), batch["targets"][part], reduction="none")
            total = total + (nll * batch["weights"][part]).sum()
        return total / batch["weights"].sum()


def make_batch(packs, dtype=torch.float32) -> dict:
    """Tensors of some packs without their pads."""
    tokens, pos, lengths, sources, targets, weights, first = [], [], [], [], [], [], 0
    for pack in packs:
        n = pack.n_valid
        tokens.append(torch.tensor(pack.tokens[:n]).long())
        pos.append(torch.tensor(pack.pos[:n]).long())
        lengths += (pack.cu_seqlens[1:] - pack.cu_seqlens[:-1]).tolist()
        weight = torch.tensor(pack.loss_weight[:n]).to(dtype)
        at = weight.nonzero()[:, 0]
        sources.append(at - 1 + first)
        targets.append(tokens[-1][at])
        weights.append(weight[at])
        first += n
    join = {"tokens": tokens, "pos": pos, "sources": sources, "targets": targets, "weights": weights}
    return {"lengths": lengths, **{name: torch.cat(parts) for name, parts in join.items()}}
