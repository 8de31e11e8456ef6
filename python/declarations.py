"""Makes the declarations that the package loads from the header of the C interface, which is their only source.

    python3 declarations.py framewire.h framewire/_cffi.py

The result is a module of cffi's ABI mode: nothing is compiled, and importing it parses nothing.
"""
import re
import sys

from cffi import FFI


def declarations(header: str) -> str:
    """Returns the C declarations of a header without comments, preprocessor lines and attributes."""
    text = re.sub(r"//[^\n]*", "", header)
    text = re.sub(r"^[ \t]*#ifdef __cplusplus\n.*?^[ \t]*#endif\n", "", text, flags=re.S | re.M)
    text = re.sub(r"^[ \t]*#[^\n]*\n", "", text, flags=re.M)
    return text.replace("FW_API ", "")


def main(header: str, module: str) -> None:
    """Writes the module."""
    ffi = FFI()
    ffi.set_source("framewire._cffi", None)
    with open(header, encoding="utf-8") as file:
        ffi.cdef(declarations(file.read()))
    ffi.emit_python_code(module)


if __name__ == "__main__":
    main(*sys.argv[1:])
