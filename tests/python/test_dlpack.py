import gc

import numpy as np
import pytest

import omnigram
from omnigram import dlpack

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16", "i32", "i64", "u8"])
def test_out_and_back_is_the_same_memory(kind):
    numpy_dtype = dlpack.NUMPY[dlpack.dtype_code(kind)]
    array = np.arange(12).reshape(3, 4).astype(numpy_dtype)
    tensor = omnigram.Tensor(array, kind)
    there = torch.from_dlpack(tensor)
    assert there.data_ptr() == array.ctypes.data and tuple(there.shape) == (3, 4)
    memory = dlpack.borrow(there, "x")
    assert int(dlpack.ffi.cast("uintptr_t", memory.pointer)) == array.ctypes.data
    assert memory.shape == (3, 4) and memory.dtype == dlpack.dtype_code(kind)


def test_bf16_values():
    values = torch.randn(5, 7).to(torch.bfloat16)
    tensor = omnigram.Tensor(values.view(torch.uint16).numpy(), "bf16")
    assert torch.equal(torch.from_dlpack(tensor), values)
    np.testing.assert_array_equal(np.asarray(tensor), values.float().numpy())


def test_memory_lives_as_long_as_its_reader():
    before = len(dlpack._exported)
    there = torch.from_dlpack(omnigram.Tensor(np.full(1000, 7, np.float32), "f32"))
    gc.collect()
    assert len(dlpack._exported) == before + 1 and there.sum() == 7000
    del there
    gc.collect()
    assert len(dlpack._exported) == before


def test_an_unused_capsule_gives_its_tensor_back():
    before = len(dlpack._exported)
    tensor = omnigram.Tensor(np.zeros(3, np.float32), "f32")
    for version in (None, (1, 0)):
        capsule = tensor.__dlpack__(max_version=version)
        assert ("dltensor_versioned" if version else "dltensor") in repr(capsule)
        del capsule
    gc.collect()
    assert len(dlpack._exported) == before


def test_read_only_memory_is_said_to_be_so():
    array = np.zeros(3, np.float32)
    array.flags.writeable = False
    tensor = omnigram.Tensor(array, "f32")
    with pytest.raises(BufferError, match="read-only"):
        tensor.__dlpack__()
    assert not np.from_dlpack(tensor).flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        dlpack.borrow(array, "x", writable=True)


def test_what_cannot_be_borrowed_is_refused():
    with pytest.raises(TypeError, match="list"):
        dlpack.borrow([1, 2], "x")
    with pytest.raises(ValueError, match="compact"):
        dlpack.borrow(torch.zeros(4, 4).t(), "x")
    with pytest.raises(TypeError, match="dtype"):
        dlpack.borrow(torch.zeros(4, dtype=torch.complex64), "x")
    with pytest.raises(BufferError, match="device"):
        omnigram.Tensor(np.zeros(3, np.float32), "f32").__dlpack__(dl_device=(2, 0))


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
def test_a_table_is_its_rows_in_place(kind):
    """The documented call and the short one; a row has other bytes beside its values, so the view is strided."""
    table = omnigram.Table(10, 8, kind, state=1).fill(3)
    rows = torch.from_dlpack(table)
    assert tuple(rows.shape) == (10, 8) and rows.data_ptr() == torch.from_dlpack(table.tensor()).data_ptr()
    np.testing.assert_array_equal(rows.float().numpy(), table.read(np.arange(10)))
    table.close()
    gc.collect()
    assert rows.float().abs().sum() > 0  # the reader keeps the memory
    with pytest.raises(TypeError, match="scales"):
        torch.from_dlpack(omnigram.Table(4, 32, "int8", group=32))


def test_bf16_tensors_are_values_and_gradients():
    values = torch.randn(4, 8).to(torch.bfloat16)
    with omnigram.Table(10, 8) as table:
        table.write([1, 3, 5, 7], values)
        np.testing.assert_array_equal(table.read([1, 3, 5, 7]), values.float().numpy())
        omnigram.RowOptimizer("sgd", lr=1.0).apply(table, [1, 3, 5, 7], values, step=1)
        assert not table[:].any()
        with pytest.raises(omnigram.InvalidError, match="row-major and compact"):
            table.write([1], torch.randn(8, 4).to(torch.bfloat16).t()[:1])
        with pytest.raises(omnigram.InvalidTypeError, match="rows: float32 values where int64"):
            table.read(values[0])
