"""Faults that users of other systems met in training on packs, each as a small case (docs/failure-cards.md)."""

import hashlib
import json
import math
import shutil

import numpy as np
import pytest
from train_fixture import IDS, Trainer, config, documents, files, packs, program, train_packs, train_words  # noqa: F401

import omnigram
from omnigram import TEXT


def texts(*lengths, first=1):
    """Documents of these many text codes each: a document of n codes has n + 2 tokens."""
    builder = omnigram.DocumentsBuilder(IDS)
    for number, n in enumerate(lengths):
        builder.begin(0, number)
        if n:
            builder.item(TEXT, (first + np.arange(n) * (number + 3)) % 60)
        builder.end()
    return builder.finish()


def by_origin(nll, pack):
    """(document, offset in it) of each token: its nll."""
    out = {}
    for d, (begin, end) in enumerate(zip(pack.cu_seqlens, pack.cu_seqlens[1:])):
        for t in range(begin, end):
            out[int(pack.origin["index"][d]), int(pack.origin["offset"][d]) + int(t - begin)] = nll[t]
    return out


@pytest.mark.parametrize("fusion, scale", [("add", 6.0), ("welm_mean", 12.0)])
def test_tables_of_zeros_leave_the_word_embedding(train_packs, fusion, scale):  # noqa: F811
    """The sum is the embedding itself and the mean its half, bit for bit: a mean of twice the embedding is the embedding."""
    plain = config(memory={"mode": "off"}, model={"embed_scale": 6.0})
    with Trainer(plain, train_packs) as off, \
            Trainer(config(memory={"fusion": fusion, "rows": "zero"}, model={"embed_scale": scale}), train_packs) as on:
        assert np.abs(on.parameters()["memory.up.weight"]).min() >= 0 and on.parameters()["memory.up.weight"].any()
        for number in range(3):
            assert on.logits(number).tobytes() == off.logits(number).tobytes()


@pytest.mark.parametrize("model, fusion", [({}, "welm_mean"), ({"mlp": "gelu"}, "add"), ({"tied": False}, "welm_mean")])
def test_a_document_in_a_pack_is_the_document_alone(model, fusion):
    """Every model: what a document predicts does not depend on which others share its pack, or on how many there are."""
    many = documents(12)
    together, alone = omnigram.Packs.build(many, capacity=96, method="concat"), omnigram.Packs.build(many, capacity=96, method="none")
    assert len(together) < len(alone) == 12 and max(len(p.cu_seqlens) for p in together) > 3
    with Trainer(config(model=model, memory={"rows": "normal", "rows_std": 0.5, "fusion": fusion}), together) as trainer:
        found, wanted = {}, {}
        for pack in together:
            found.update(by_origin(trainer.nll(pack), pack))
        for pack in alone:
            wanted.update(by_origin(trainer.nll(pack), pack))
    assert found.keys() == wanted.keys()
    np.testing.assert_allclose([found[k] for k in wanted], list(wanted.values()), rtol=2e-5)


def test_a_poke_is_not_seen_by_the_next_document_at_any_entry():
    """Logits (what a sampler reads), losses (evaluation) and gradients (training) of the document behind are the same bits."""
    def build(code):
        builder = omnigram.DocumentsBuilder(IDS)
        for number, codes in enumerate(([1, 2, code], [4, 5, 6, 7])):
            builder.begin(0, number)
            builder.item(TEXT, np.array(codes))
            builder.end()
        return omnigram.Packs.build(builder.finish(), capacity=16, method="concat")
    over = config(memory={"rows": "normal", "rows_std": 0.5})
    with Trainer(over, build(3)) as before, Trainer(over, build(59)) as after:
        one, two = build(3)[0], build(59)[0]
        begin = int(one.cu_seqlens[1])
        assert (one.tokens != two.tokens).sum() == 1
        assert (before.logits(0)[:begin] != after.logits(0)[:begin]).any()
        np.testing.assert_array_equal(before.logits(0)[begin:], after.logits(0)[begin:])
        np.testing.assert_array_equal(before.nll(one)[begin:], after.nll(two)[begin:])
        np.testing.assert_array_equal(before.rows_gradient([0])[begin:], after.rows_gradient([0])[begin:])
        with pytest.raises(omnigram.InvalidError, match="width 7"):
            before.rows_gradient([0], 7)


def test_fragments_may_go_on_beyond_the_capacity():
    """Positions of a carried fragment are those of its document, 40 of it in packs of 16. Rotary attention knows distances only, so
    its losses are those of fragments that begin at 0, and a fragment of one token is one that can be read."""
    long = texts(39, 15, 13)
    carried, reset = (omnigram.Packs.build(long, capacity=16, long_doc="fragment", fragment_context=c, fragment_overlap=0)
                      for c in ("carry", "reset"))
    assert max(int(p.pos.max()) for p in carried) == 40 and max(int(p.pos.max()) for p in reset) == 15
    found, wanted = {}, {}
    with Trainer(config(memory={"rows": "normal"}), carried) as trainer:
        for number, pack in enumerate(carried):
            found.update(by_origin(trainer.nll(pack), pack))
            assert np.isfinite(trainer.logits(number)).all()
        for pack in reset:
            wanted.update(by_origin(trainer.nll(pack), pack))
        assert any(1 in np.diff(pack.cu_seqlens) for pack in carried)
        assert math.isfinite(trainer.step().loss)
    assert found.keys() == wanted.keys()
    np.testing.assert_allclose([found[k] for k in wanted], list(wanted.values()), rtol=1e-4)


def test_a_batch_without_a_target_is_skipped_and_not_reported_as_zero(tmp_path):
    """Pieces of one token predict nothing: no loss is 0 or NaN in a log, nothing is updated, and the steps are counted."""
    nothing = omnigram.Packs.build(texts(3, 4), capacity=1, long_doc="fragment")
    assert sum(float(p.loss_weight.sum()) for p in nothing) == 0
    notes = []
    with Trainer(config(), nothing, run=tmp_path / "run", log=lambda kind, line: notes.append(line)) as trainer:
        before = {name: value.copy() for name, value in trainer.parameters().items()}
        step = trainer.step()
        assert step.skipped and math.isnan(step.loss) and step.weight == 0
        assert any("weight 0" in line for line in notes)
        trainer.run()
        for name, value in trainer.parameters().items():
            assert value.tobytes() == before[name].tobytes(), name
    rows = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert rows and all(row["loss"] is None and row["train_bits_text"] is None for row in rows)
    assert [row["skipped"] for row in rows][-1] == len(rows) + 1


def test_a_part_without_targets_changes_neither_loss_nor_gradients():
    """One of the packs of a batch holds a single token. Alone it would divide by 0; in a batch it counts for nothing, however the batch
    is cut."""
    three = omnigram.Packs.build(texts(7, 5), capacity=8, method="none", long_doc="fragment")
    weights = [float(p.loss_weight.sum()) for p in three]
    empty = weights.index(0)
    rest = [i for i in range(len(three)) if i != empty]
    assert len(three) == 3
    with Trainer(config(train={"precision": "fp64", "batch": 3}, memory={"rows": "normal"}), three) as trainer:
        loss, gradients = trainer.gradients([empty, *rest])
        for numbers, micro in (([empty, *rest], 1), ([rest[0], empty, rest[1]], 1), ([rest[0], empty, rest[1]], 2), (rest, 2)):
            again, others = trainer.gradients(numbers, micro)
            assert again == pytest.approx(loss, abs=1e-12) and math.isfinite(loss)
            for name in gradients:
                np.testing.assert_allclose(others[name], gradients[name], atol=1e-12, err_msg=name)


@pytest.mark.parametrize("n", [1, 2, 3, 7])
@pytest.mark.parametrize("batch", [3, 4])
def test_every_pack_comes_once_an_epoch(n, batch):
    """Fewer packs than a batch, and a remainder of one: no number is negative, twice or of the step before; epochs differ in order."""
    few = omnigram.Packs.build(texts(*range(5, 5 + n)), capacity=16, method="none")
    with Trainer(config(train={"epochs": 3, "batch": batch}), few) as trainer:
        assert trainer.planned == -(-3 * n // batch)
        batches = [trainer.batch(step) for step in range(trainer.planned)]
        flat = [number for numbers in batches for number in numbers]
        epochs = [flat[k * n:(k + 1) * n] for k in range(3)]
        assert len(flat) == 3 * n and all(sorted(epoch) == list(range(n)) for epoch in epochs)
        assert n < 7 or epochs[0] != epochs[1] != epochs[2]
        for numbers in batches:  # and the step is of just these
            step = trainer.step()
            assert step.useful == sum(few[k].n_valid for k in numbers) and step.tokens == 16 * len(numbers)
            assert step.weight == sum(float(few[k].loss_weight.sum()) for k in numbers)
        assert trainer.step() is None


def test_a_checkpoint_without_the_loader_s_place_is_refused(files, tmp_path):  # noqa: F811
    """Resuming from it would begin the epoch again."""
    run = tmp_path / "run"
    program(*train_words(files, run, "--train.steps=4"))
    newest = run / "ckpt" / (run / "ckpt" / "latest").read_text()
    state, manifest = json.loads((newest / "state.json").read_text()), json.loads((newest / "manifest.json").read_text())
    assert state["loader"]["next_pack"] == 4 * 3
    for missing in ("loader", "next_pack", "seed"):
        copy = tmp_path / missing
        shutil.copytree(run, copy)
        changed = json.loads(json.dumps(state))
        del (changed if missing == "loader" else changed["loader"])[missing]
        text = json.dumps(changed).encode()
        folder = copy / "ckpt" / newest.name
        (folder / "state.json").write_bytes(text)
        manifest["files"]["state.json"] = {"bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}
        (folder / "manifest.json").write_text(json.dumps(manifest))
        message = program(*train_words(files, copy, "--train.steps=4"), ok=False).stderr
        assert "state.json" in message and "loader" in message
