"""omnigram: multimodal Over-Encoding. Hashed n-gram tables in host memory, exact at every boundary.

Everything here calls the C library libomnigram; arrays are numpy's, DLPack goes both ways, torch is never needed.
"""

from ._ffi import library_path, version
from .addressing import ROW_NONE, Addressing, AddressResult, Column, History, schemes
from .codebook import Codebook, quantizers
from .config import Config
from .dlpack import Tensor
from .errors import (
    FileError,
    FormatError,
    InvalidError,
    InvalidTypeError,
    OmnigramError,
    OutOfMemoryError,
    UnsupportedError,
)
from .lookup import Lookup, Ticket
from .media import SPLITS, Modality, Prepared
from .pack import (
    AUDIO,
    IMAGE,
    MARKER,
    MODALITIES,
    TEXT,
    Documents,
    DocumentsBuilder,
    Ids,
    Pack,
    Packs,
    Plan,
    pack_lengths,
)
from .pool import Pool
from .table import Exchange, RowOptimizer, Table
from .table_file import TableFile, TableHeader, TableIdentity, open_table, save_table
from .table_set import TableInfo, TableSet, stencils
from .tokenizer import Tokenizer

__version__ = version()

__all__ = [
    "AUDIO", "AddressResult", "Addressing", "Codebook", "Column", "Config", "Documents", "DocumentsBuilder", "Exchange",
    "FileError", "FormatError", "History", "IMAGE", "Ids", "InvalidError", "InvalidTypeError", "Lookup", "MARKER", "MODALITIES",
    "Modality", "OmnigramError", "OutOfMemoryError", "Pack", "Packs", "Plan", "Pool", "Prepared", "ROW_NONE",
    "RowOptimizer", "SPLITS", "TEXT", "Table", "TableFile", "TableHeader", "TableIdentity", "TableInfo", "TableSet",
    "Tensor", "Ticket", "Tokenizer", "UnsupportedError", "library_path", "open_table", "pack_lengths", "quantizers",
    "save_table", "schemes", "stencils",
]
