"""The model and its step: against PyTorch eager, against itself cut differently, and bit for bit where bits are promised."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from train_fixture import CAPACITY, IDS, TABLES, Trainer, config, packs, train_library, train_packs  # noqa: F401

import omnigram
from omnigram._ffi import ffi, lib
from omnigram.errors import call

torch = pytest.importorskip("torch")
from omnigram.bench.eager import Eager, make_batch  # noqa: E402


def eager(trainer, tied=True):
    return Eager(trainer.parameters(), layers=2, heads=2, capacity=CAPACITY, chunk=50)


def vectors(trainer, pack):
    """What the tables give for one pack, read row by row from their stores."""
    tables = omnigram.TableSet(TABLES, IDS, ["0" * 64, "1" * 64])
    rows = np.asarray(tables.rows(pack))[: pack.n_valid]
    parts = []
    for number, info in enumerate(tables.infos if hasattr(tables, "infos") else tables.tables):
        store = train_library().og_trainer_table(trainer.pointer, number)
        for column in range(info.first_column, info.first_column + info.n_columns):
            out = np.zeros((pack.n_valid, info.dim), np.float32)
            found = rows[:, column] >= 0
            ids = np.ascontiguousarray(rows[found, column], np.int64)
            values = np.zeros((len(ids), info.dim), np.float32)
            call(lib.og_store_read, store, ffi.cast("int64_t *", ids.ctypes.data), len(ids), ffi.cast("float *", values.ctypes.data))
            out[found] = values
            parts.append(out)
    return torch.tensor(np.concatenate(parts, 1))


@pytest.mark.parametrize("model", [{}, {"tied": False}])
def test_logits_are_those_of_pytorch_eager(train_packs, model):
    with Trainer(config(memory={"mode": "off"}, model=model), train_packs) as trainer:
        for number in (0, 3):
            batch = make_batch([train_packs[number]])
            peer = eager(trainer)
            wanted = torch.nn.functional.linear(peer.hidden(batch["tokens"], batch["pos"], batch["lengths"]), peer.head())
            np.testing.assert_allclose(trainer.logits(number), wanted.detach().numpy(), atol=1e-5)


def test_logits_with_tables_are_those_of_pytorch_eager(train_packs):
    with Trainer(config(memory={"rows": "normal", "rows_std": 0.5}), train_packs) as trainer:
        batch, rows = make_batch([train_packs[1]]), vectors(trainer, train_packs[1])
        assert rows.abs().sum() > 0
        peer = eager(trainer)
        wanted = torch.nn.functional.linear(peer.hidden(batch["tokens"], batch["pos"], batch["lengths"], rows), peer.head())
        np.testing.assert_allclose(trainer.logits(1), wanted.detach().numpy(), atol=1e-5)


def test_gradients_are_those_of_autograd_through_eager(train_packs):
    with Trainer(config(memory={"rows": "normal", "rows_std": 0.5}), train_packs) as trainer:
        numbers = [0, 2]
        loss, gradients = trainer.gradients(numbers)
        rows = torch.cat([vectors(trainer, train_packs[n]) for n in numbers]).requires_grad_()
        peer = eager(trainer)
        wanted = peer.loss(make_batch([train_packs[n] for n in numbers]), rows)
        wanted.backward()
        assert loss == pytest.approx(wanted.item(), rel=1e-6)
        for name, value in gradients.items():
            np.testing.assert_allclose(value, getattr(peer, name.replace(".", "_")).grad.numpy(), atol=2e-6, err_msg=name)
        np.testing.assert_allclose(trainer.rows_gradient(numbers, rows.shape[1]), rows.grad.numpy(), atol=2e-6)


def test_a_joined_batch_is_its_micro_batches(train_packs):
    with Trainer(config(train={"precision": "fp64", "batch": 4}, memory={"rows": "normal"}), train_packs) as trainer:
        numbers = [0, 1, 2, 3]
        loss, joined = trainer.gradients(numbers)
        for micro in (1, 2, 3):
            again, parts = trainer.gradients(numbers, micro)
            assert again == pytest.approx(loss, abs=1e-12)
            for name in joined:
                np.testing.assert_allclose(parts[name], joined[name], atol=1e-12, err_msg=name)


def test_loss_is_the_mean_over_all_weighted_tokens_and_no_first_token_is_a_target(train_packs):
    with Trainer(config(), train_packs) as trainer:
        numbers = trainer.batch(0)
        total, count = 0.0, 0
        for pack in (train_packs[n] for n in numbers):
            nll = trainer.nll(pack)
            first = pack.cu_seqlens[:-1]
            assert np.isnan(nll[first]).all() and np.isnan(nll[pack.n_valid:]).all()
            inner = np.setdiff1d(np.arange(pack.n_valid), first)
            assert np.isfinite(nll[inner]).all()
            total, count = total + nll[inner].sum(), count + len(inner)
        step = trainer.step()
        assert step.weight == count
        assert step.loss == pytest.approx(total / count, rel=1e-6)


def test_without_tables_the_model_is_the_plain_one_bit_for_bit(train_packs):
    plain = config(memory={"mode": "off"})
    del plain["tables"]
    other = config(memory={"mode": "off", "lr": 9.0, "dropout": 0.5, "fusion": "add"})
    with Trainer(plain, train_packs) as a, Trainer(other, train_packs) as b, Trainer(config(), train_packs) as c:
        for name, value in a.parameters().items():
            assert value.tobytes() == c.parameters()[name].tobytes(), name  # equal starts whatever the tables are
        for _ in range(3):
            assert a.step().loss == b.step().loss
        for name, value in a.parameters().items():
            assert value.tobytes() == b.parameters()[name].tobytes(), name


def test_rows_of_a_step_are_those_that_the_step_before_left(train_packs):
    """The overlapped run has the bits of one that forgets all lookups in flight and reads its rows anew at every step."""
    over = {"memory": {"dropout": 0.2}, "train": {"batch": 4, "micro_batch": 2}}
    with Trainer(config(**over), train_packs) as overlapped, Trainer(config(**over), train_packs) as anew:
        while (step := overlapped.step()) is not None:
            assert anew.step().loss == step.loss
            anew.gradients([0])  # drops what is in flight
        for name, value in overlapped.parameters().items():
            assert value.tobytes() == anew.parameters()[name].tobytes(), name


def test_rows_start_at_zero_and_only_trained_ones_move(train_packs):
    def rows(trainer):
        store = train_library().og_trainer_table(trainer.pointer, 0)
        n, dim = lib.og_store_rows(store), lib.og_store_dim(store)
        ids, values = np.arange(n), np.zeros((n, dim), np.float32)
        call(lib.og_store_read, store, ffi.cast("int64_t *", ids.ctypes.data), n, ffi.cast("float *", values.ctypes.data))
        return values
    with Trainer(config(), train_packs) as trainer:
        assert not rows(trainer).any()
        pack_numbers = trainer.batch(0)
        trainer.step()
        tables = omnigram.TableSet(TABLES, IDS, ["0" * 64, "1" * 64])
        seen = np.unique(np.concatenate([np.asarray(tables.rows(train_packs[n]))[: train_packs[n].n_valid, :2].ravel() for n in pack_numbers]))
        moved = np.nonzero(rows(trainer).any(1))[0]
        assert len(moved) and set(moved) <= set(seen[seen >= 0])
    with Trainer(config(memory={"mode": "frozen", "rows": "normal"}), train_packs) as trainer:
        before = rows(trainer)
        trainer.step()
        assert before.any() and (rows(trainer) == before).all()


def test_one_batch_is_learnt_by_heart(train_packs):
    with Trainer(config(train={"steps": 40, "overfit_one_batch": True, "batch": 1}), train_packs) as trainer:
        losses = []
        while (step := trainer.step()) is not None:
            losses.append(step.loss)
        assert len(losses) == 40 and losses[-1] < 0.3 * losses[0]


@pytest.mark.parametrize("policy", ["abort", "skip"])
def test_what_is_not_finite_is_named(train_packs, policy):
    notes = []
    with Trainer(config(train={"nan": policy}), train_packs, log=lambda kind, line: notes.append(line)) as trainer:
        before = trainer.parameters()["norm.weight"].copy()
        trainer.parameters()["layers.1.mlp.up.weight"][0, 0] = np.nan
        if policy == "abort":
            with pytest.raises(omnigram.InvalidError, match=r"layers\.1\.mlp\.up\.weight"):
                trainer.step()
        else:
            assert trainer.step().skipped
            assert any("layers.1.mlp.up.weight" in line for line in notes)
        assert (trainer.parameters()["norm.weight"] == before).all()


def test_subnormals_are_flushed_in_every_thread():
    def subnormals_left():
        torch.set_num_threads(2)
        torch.rand(1 << 20).exp()  # the workers exist before the call
        train_library().og_train_flush_denormals()
        tiny = torch.full((1 << 20,), 1e-40)
        return torch.count_nonzero(tiny * 1.0)

    with ThreadPoolExecutor(1) as thread:  # a thread keeps the mode
        assert thread.submit(subnormals_left).result() == 0


def test_the_callers_mode_is_its_own_and_changes_no_bit(train_packs):
    tiny = np.full(8, 1e-40, np.float32)
    losses = []
    for in_another_thread in (False, True):
        with Trainer(config(), train_packs) as trainer:
            if in_another_thread:
                with ThreadPoolExecutor(1) as other:
                    losses.append([other.submit(trainer.step).result().loss for _ in range(3)])
            else:
                losses.append([trainer.step().loss for _ in range(3)])
        assert (tiny * np.float32(0.5) > 0).all()
    assert losses[0] == losses[1]


def test_config_faults_are_named(train_packs):
    with pytest.raises(omnigram.InvalidError, match="warmup"):
        Trainer(config(train={"warmpu": 3}), train_packs)
    with pytest.raises(omnigram.InvalidError, match="heads"):
        Trainer(config(model={"width": 30}), train_packs)
    with pytest.raises(omnigram.InvalidError, match="images"):
        Trainer(config(memory={"use": ["images"]}), train_packs)
    with pytest.raises(omnigram.InvalidError, match="frozen"):
        Trainer(config(memory={"mode": "frozen"}), train_packs)


def test_a_stop_ends_one_run_of_a_trainer(train_packs):
    ffi.cdef("void og_trainer_stop(og_trainer *trainer);", override=True)
    with Trainer(config(), train_packs) as trainer:
        train_library().og_trainer_stop(trainer.pointer)
        trainer.run()
        assert trainer.done == 1
        trainer.run()
        assert trainer.done == trainer.planned > 2
