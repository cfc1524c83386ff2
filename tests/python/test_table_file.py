import numpy as np
import pytest

import omnigram

IDENTITY = omnigram.TableIdentity("text", "0" * 64, '{"scheme":"mix64","vocab":97}')


@pytest.fixture(params=["f32", "bf16", "fp8_e4m3", "int8", "nf4"])
def table(request):
    with omnigram.Table(257, 64, request.param, state=1) as made:
        assert made.dtype == request.param
        yield made.fill(5, 1.0)


@pytest.mark.parametrize("layout", ["plain", "packed"])
@pytest.mark.parametrize("shards", [1, 3])
def test_a_saved_table_reads_back_bit_for_bit(tmp_path, table, layout, shards):
    path = tmp_path / ("table.safetensors" if shards == 1 else "table.json")
    omnigram.save_table(table, path, IDENTITY, layout=layout, shards=shards)
    with omnigram.TableFile(path, IDENTITY) as file:
        header = file.header
        assert (header.rows, header.dim, header.dtype, header.layout, header.shards) == (257, 64, table.dtype, layout, shards)
        assert header.identity == IDENTITY
        np.testing.assert_array_equal(file.load()[:], table[:])
    if shards > 1:
        with pytest.raises(ValueError, match="index of files"):
            omnigram.open_table(path)
        return
    with omnigram.open_table(path, IDENTITY) as mapped:
        np.testing.assert_array_equal(mapped.read([256, 0, 100]), table.read([256, 0, 100]))
        with pytest.raises(ValueError, match="read-only"):
            mapped.write([0], np.zeros((1, 64), np.float32))


def test_plain_files_are_what_others_read(tmp_path):
    load_file = pytest.importorskip("safetensors.numpy").load_file
    with omnigram.Table(100, 8) as table:
        table.fill(1, 1.0)
        omnigram.save_table(table, tmp_path / "t.safetensors", IDENTITY, layout="plain")
        np.testing.assert_array_equal(load_file(tmp_path / "t.safetensors")["weight"], table[:])


def test_a_table_of_another_vocabulary_is_refused(tmp_path, table):
    path = tmp_path / "t.safetensors"
    omnigram.save_table(table, path, IDENTITY)
    other = IDENTITY._replace(fingerprint="1" * 64, description='{"scheme":"mix64","vocab":98}')
    with pytest.raises(omnigram.InvalidError) as caught:
        omnigram.open_table(path, other)
    for word in ("0" * 8, "1" * 8, "vocab"):
        assert word in str(caught.value)


def test_an_index_of_floats_views_in_place(tmp_path):
    with omnigram.Table(50, 16) as table:
        omnigram.save_table(table.fill(2, 1.0), tmp_path / "t.safetensors", IDENTITY, layout="plain")
        with omnigram.open_table(tmp_path / "t.safetensors", writable=True) as mapped:
            mapped.tensor().numpy()[49] = 7
        with omnigram.open_table(tmp_path / "t.safetensors") as again:
            assert (again[49] == 7).all() and np.array_equal(again[:49], table[:49])
            assert not again.tensor().bits.flags.writeable
