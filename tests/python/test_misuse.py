"""What a caller of the package gets wrong: an omnigram error that names value and limit; never a crash, a hang or a guess."""

import json
import os
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import omnigram as og

WELM = {"scheme": "welm_knuth32", "vocab": 97, "orders": [2, 3], "rows": [101, 103]}


def table(rows=100, dim=8, **more):
    return og.Table(rows, dim, **more).fill(1)


def child(code, status=0):
    """Runs code in an interpreter of its own, which ends by itself."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    prelude = "import builtins, os, sys, threading, time\nimport numpy as np\nimport omnigram as og\n"
    done = subprocess.run([sys.executable, "-c", prelude + textwrap.dedent(code)], capture_output=True, text=True,
                          timeout=120, env=environment)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done.stdout


def in_threads(count, function):
    threads = [threading.Thread(target=function, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    return threads


class OnDevice:
    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, **_):
        raise AssertionError("memory of a device was asked for")


class Broken:
    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **_):
        return 5


def view(dtype="<f4", shape=(2, 8), shift=0):
    return np.zeros(shift + np.prod(shape) * 4, np.uint8)[shift:].view(dtype).reshape(shape)


WRONG = [
    (lambda: table()[1.7], "1.7"), (lambda: table()[True], "True"), (lambda: table()[None], "None"), (lambda: table()[2**70], str(2**70)),
    (lambda: table()[np.array([True, False])], "bool"), (lambda: table()[[[1]]], "2 dimensions"), (lambda: table()[100], r"0\.\.99"),
    (lambda: table().read([-1]), "-1"), (lambda: table().read(["1"]), "rows"), (lambda: table().read(np.array([2**64 - 1], np.uint64)), str(2**64 - 1)),
    (lambda: table().write([0], np.full((1, 8), 1e300)), "1e.300"), (lambda: table().write([0], np.ones((1, 8)) * 1j), "complex"),
    (lambda: table().write([0], [["1"] * 8]), "U1"), (lambda: table().write([0], [[1, 2]]), r"\(1, 8\)"), (lambda: table().write([0], [[1, [2]]]), "values"),
    (lambda: table().write([0], OnDevice()), r"device \(2, 0\)"), (lambda: table().fill(-1), "-1"), (lambda: table().fill(0, float("nan")), "nan"),
    (lambda: og.Table(2**70, 8), str(2**70)), (lambda: og.Table(10.5, 8), "10.5"), (lambda: og.Table(10, 2**40), "65536"), (lambda: og.Table(True, 8), "True"),
    (lambda: og.Table(10, 8, 99), "99"), (lambda: og.Table(10, 8, None), "None"), (lambda: og.Table(10, 8, state=2**31), str(2**31)),
    (lambda: og.Table(10, 8, name="x"), "'x'"), (lambda: og.Table(10, 8, backing="disk"), "anonymous, shared, file"),
    (lambda: og.Table(10, 8, backing="shared", name="a\0b"), "NUL"), (lambda: og.Table.attach(5), "int"),
    (lambda: og.open_table("a\0b"), "NUL"), (lambda: og.Config.from_file("a\0b"), "NUL"), (lambda: og.Config({"a": 1})["a\0b"], "NUL"),
    (lambda: og.TableFile(7), "int"), (lambda: og.save_table(table(), "x", None), "identity"), (lambda: og.save_table(None, "x", None), "identity"),
    (lambda: og.Lookup(table(), base=[2**63 - 1]), "64 bits"), (lambda: og.Lookup(table(), threads=2**40), "threads"), (lambda: og.Lookup([5]), r"tables\[0\]"),
    (lambda: og.Lookup(table(), dtype="i64"), "out_dtype"), (lambda: og.Lookup([]), "0 stores"), (lambda: og.Lookup(table())([2**63]), str(2**63)),
    (lambda: og.Lookup(table())([1, 2], into=view(">f4")), ">f4"), (lambda: og.Lookup(table())([1, 2], into=view(shift=1)), "aligned"),
    (lambda: og.Lookup(table())([1, 2], into=view()[::-1]), "compact"), (lambda: og.Lookup(table())([1], into=OnDevice()), r"device \(2, 0\)"),
    (lambda: og.Lookup(table())([1], into=Broken()), "Broken"), (lambda: og.Lookup(table())(Broken()), "Broken"), (lambda: og.Lookup(table())([True]), "bool"),
    (lambda: og.RowOptimizer("adam", lr="x"), "'x'"), (lambda: og.RowOptimizer("adam", lrr=1), "lrr"), (lambda: og.RowOptimizer("adamw"), "adagrad_row"),
    (lambda: og.RowOptimizer("sgd").apply(None, [0], np.ones((1, 8)), step=1), "NoneType"),
    (lambda: og.RowOptimizer("sgd").apply(table(), [0], np.ones((1, 8)), step=2**70), str(2**70)), (lambda: og.Pool(2**40), str(2**40)),
    (lambda: og.Addressing(WELM).rows([97]), "97"), (lambda: og.Addressing(WELM).rows([1], pool=5), "pool"),
    (lambda: og.Addressing(WELM).rows([1], history=5), "history"), (lambda: og.Addressing(WELM).history().restore(b"x" * 88), "changed"),
    (lambda: og.Codebook("kmeans", "imag", np.zeros((1, 4, 2))), "text, image, audio"), (lambda: og.Codebook(3, "image", np.zeros((1, 4, 2))), "quantizer"),
    (lambda: og.Codebook("gone", "image", np.zeros((1, 4, 2))).encode([[0, 0]]), "'gone'"), (lambda: og.Modality("smell"), "'smell'"),
    (lambda: og.Modality("image", {"size": 16, "patch": 8}).restore(np.zeros((2, 2, 5))), "192"), (lambda: og.Modality("image").decode("text"), "str"),
    (lambda: og.Modality("text").restore(np.zeros((1, 1, 1))), "tokenizer"), (lambda: og.Tokenizer.train([5], 300, "x"), r"texts\[0\]"),
    (lambda: og.Ids((0,), (1,), (1,), 5).struct, "1 entries"), (lambda: og.DocumentsBuilder(None), "Ids"), (lambda: og.Ids.make(text=2**70), str(2**70)),
    (lambda: og.pack_lengths([1], 2**63), str(2**63)), (lambda: og.pack_lengths([1], 5, "best"), "best_fit"), (lambda: og.TableSet({}, None), "Ids"),
    (lambda: og.Config({"a": object()}), "object"), (lambda: og.Config({"a": float("nan")}), "config"), (lambda: og.Tensor([1], "f32"), "list"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_wrong_arguments_are_named(number):
    call, says = WRONG[number]
    with pytest.raises(og.OmnigramError, match=says):
        call()


def test_a_type_is_wrong_in_python_s_words_too():
    for kind in (TypeError, ValueError, og.InvalidTypeError):
        with pytest.raises(kind):
            og.Table("a", 8)


def test_everything_says_that_it_is_closed():
    builder = og.DocumentsBuilder(og.Ids.make(text=10))
    builder.begin()
    builder.item(og.TEXT, [1, 2])
    builder.end()
    documents = builder.finish()
    addressing, book, lookup = og.Addressing(WELM), og.Codebook("kmeans", "image", np.zeros((1, 4, 2))), og.Lookup(table())
    history, packs, pool, one = addressing.history(), og.Packs.build(documents, capacity=8), og.Pool(2), table()
    ticket, codes, pack = lookup.submit([1]), book.codes, packs[0]
    for handle in (addressing, book, lookup, packs, pool, one, documents):
        handle.close()
    for call in (builder.begin, builder.finish, lambda: builder.item(og.TEXT, [1]), lambda: history.push([1]), history.reset, ticket.wait, ticket.cancel,
                 lookup.stats, lambda: lookup([1]), lambda: one[0], lambda: packs[0], lambda: pool.threads, lambda: addressing.rows([1]),
                 lambda: book.encode([[0, 0]]), lambda: len(documents), lambda: og.Lookup(one)):
        with pytest.raises(og.InvalidError, match="closed"):
            call()
    assert codes.sum() == 0 and pack.tokens[1] == 1  # views keep the memory


def test_ids_changed_while_a_ticket_is_on_its_way_are_those_that_were_checked():
    large = table(2000, 64)
    with og.Lookup(large, in_flight=4) as lookup:
        for _ in range(10):
            rows = np.full(20000, 7)
            ticket = lookup.submit(rows)
            rows[:] = 10**12
            np.testing.assert_array_equal(ticket.wait(), np.broadcast_to(large[7], (20000, 64)))


def test_forgotten_tickets_keep_no_memory():
    with og.Lookup(table(), in_flight=2) as lookup:
        for _ in range(50):
            lookup.submit(np.zeros(100, int))
        assert len(lookup._in_flight.tickets) <= 2 and not lookup._in_flight.begun
        with pytest.raises(og.InvalidError):
            lookup.submit([100])
        assert not lookup._in_flight.begun


def test_threads_share_a_lookup():
    large, wrong = table(20000, 16), []
    values = large.tensor().numpy()
    with og.Lookup(large, in_flight=1) as lookup:
        def use(seed):
            rng = np.random.default_rng(seed)
            for k in range(8):
                rows = rng.integers(0, 20000, 5000 + seed * 1000)
                got = lookup(rows) if k % 2 else lookup.submit(rows).wait()
                if not np.array_equal(got, values[rows]):
                    wrong.append(seed)
        for thread in in_threads(4, use):
            thread.join()
    assert not wrong


def test_close_waits_for_the_calls_of_other_threads():
    for _ in range(5):
        lookup, ended = og.Lookup(table(20000, 64), in_flight=1), []

        def use(_, lookup=lookup, ended=ended):
            try:
                while True:
                    lookup.submit(np.zeros(5000, int)).wait()
            except og.InvalidError as error:
                ended.append(str(error))
        threads = in_threads(3, use)
        time.sleep(0.01)
        lookup.close()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        assert ended == ["this Lookup is closed"] * 3


def test_threads_share_a_config_a_builder_and_a_history():
    config, builder = og.Config({"a": {str(i): i for i in range(50)}}), og.DocumentsBuilder(og.Ids.make(text=10))
    addressing = og.Addressing(WELM)
    history = addressing.history()

    def use(seed):
        for i in range(100):
            if seed % 2:
                config.override(f"a.x{i % 20}={i}").merge({"a": {f"x{i % 20}": i}})
            else:
                assert config["a"] and config.to_json() and og.Config().merge(config)
            try:  # steps of two threads mix, so most are refused
                builder.begin(seed, i)
                builder.item(og.TEXT, np.zeros(100, int))
                builder.end()
            except og.InvalidError:
                pass
            addressing.rows(np.arange(90), history=history)
    for thread in in_threads(4, use):
        thread.join()
    assert addressing.rows([5], history=history).shape == (1, 2)
    try:
        builder.finish().check()
    except og.InvalidError as error:
        assert "open" in str(error)


def test_a_saved_history_is_only_that_of_its_addressing():
    first, same, other = og.Addressing(WELM), og.Addressing(WELM), og.Addressing({**WELM, "rows": [101, 107]})
    history = first.history()
    history.push([1, 2, 3])
    saved = history.save()
    there = same.history()
    there.restore(saved)
    np.testing.assert_array_equal(same.rows([4], history=there), first.rows([4], history=history))
    with pytest.raises(og.InvalidError, match=other.fingerprint):
        other.history().restore(saved)
    for at in (0, 40, len(saved) - 1):
        with pytest.raises(og.InvalidError, match="changed"):
            there.restore(saved[:at] + bytes([saved[at] ^ 1]) + saved[at + 1:])


def test_a_forked_child_is_refused_and_ends():
    out = child("""
        lookup, pool, addressing = og.Lookup(og.Table(10, 4).fill()), og.Pool(3), og.Addressing("mix64", orders=[2], rows=[97])
        ticket = lookup.submit([1])
        process = os.fork()
        for use in (lambda: lookup([1]), lambda: lookup.submit([1]), ticket.wait, lambda: addressing.rows(range(9), pool=pool), lambda: pool.threads):
            try: use()
            except og.InvalidError as error: assert process == 0 and "forked" in str(error)
            else: assert process
        lookup.close(); pool.close()
        if process == 0:
            assert og.Lookup(og.Table(10, 4))([1]).shape == (1, 4)  # what is made here works here
            sys.exit(0)
        print("ended", os.waitpid(process, 0)[1])
    """)
    assert out == "ended 0\n"


BUSY = "table = og.Table(50000, 64).fill(); lookup = og.Lookup(table, in_flight=8, threads=2)\n"


@pytest.mark.parametrize("code", [
    "tickets = [lookup.submit(np.random.randint(0, 50000, 30000)) for _ in range(8)]",
    "builtins.keep = [lookup, [lookup.submit(np.random.randint(0, 50000, 30000)) for _ in range(8)]]; builtins.keep.append(builtins.keep); del table",
    "def use():\n    try:\n        while True: lookup.submit(np.zeros(30000, int)).wait()\n    except og.InvalidError: pass\n"
    "threading.Thread(target=use, daemon=True).start(); time.sleep(0.1)",
    "pool = og.Pool(4); addressing = og.Addressing('mix64', orders=[2], rows=[97])\ndef use():\n    try:\n"
    "        while True: addressing.rows(np.zeros(30000, int), pool=pool)\n    except og.InvalidError: pass\n"
    "threading.Thread(target=use, daemon=True).start(); time.sleep(0.1)",
    "array = np.from_dlpack(og.Tensor(np.ones(5, np.float32), 'f32')); builtins.keep = array, og.Table(5, 4).__dlpack__(), og.Table(5, 4).__dlpack__(max_version=(1, 0))",
])
def test_the_interpreter_may_end_at_any_moment(code):
    child(BUSY + code)


def test_the_interpreter_may_end_while_torch_reads_a_table():
    pytest.importorskip("torch")
    child("import torch\ntorch.keep = torch.from_dlpack(og.Table(1000, 64).fill())")


def test_strides_that_dlpack_cannot_say_are_refused():
    for array in (np.arange(6, dtype=np.float32)[::-1], np.zeros(9, np.uint8)[1:].view(np.float32)):
        with pytest.raises(BufferError, match="copy it first"):
            og.Tensor(array, "f32").__dlpack__(max_version=(1, 0))


def test_a_table_of_another_vocabulary_scheme_or_codebook_is_refused_with_both_fingerprints(tmp_path):
    path, mine = tmp_path / "table.safetensors", og.Addressing(WELM)
    ids = og.Ids.make(text=100, image=16)
    tables = {"image": {"stencil": "grid", "cells": [["W"]], "addressing": {"scheme": "mix64", "rows": 97}, "dim": 8}}
    sets = [og.TableSet(tables, ids, [letter * 64]).tables[0] for letter in "ab"]
    by_codebook = [og.TableIdentity(t.name, t.fingerprint, json.dumps(t.description)) for t in sets]
    pairs = [(og.TableIdentity.of(mine), og.TableIdentity.of(og.Addressing({**WELM, "vocab": 98}))),
             (og.TableIdentity.of(mine), og.TableIdentity.of(og.Addressing("mix64", orders=[2, 3], rows=[101, 103]))), tuple(by_codebook)]
    for has, wants in pairs:
        og.save_table(table(), path, has)
        og.open_table(path, has).close()
        for use in (og.open_table, og.TableFile):
            with pytest.raises(og.InvalidError) as caught:
                use(path, wants)
            assert has.fingerprint in str(caught.value) and wants.fingerprint in str(caught.value) and str(path) in str(caught.value)


def test_an_identity_is_of_an_addressing():
    with pytest.raises(og.InvalidTypeError, match="addressing: str where Addressing is needed"):
        og.TableIdentity.of("mix64")
