#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace framewire {

/// Array from a NumPy file: its dimensions, slowest first, and its values in C order.
struct NpyArray {
    std::vector<std::int64_t> shape;
    std::vector<float> values;
};

/// Parsed header of a NumPy file.
struct NpyHeader {
    std::string type;  ///< NumPy's type string: "<f4" ...
    bool fortran_order = false;
    std::vector<std::int64_t> shape;
    std::size_t bytes = 0;  ///< length of the header with magic and length field
};

/// Parses the header at the start of a file. Throws Error{no_input} if it is malformed or longer than `bytes`.
NpyHeader parse_npy_header(std::span<const std::uint8_t> bytes, const std::string& name);

/// True if `bytes` start with NumPy's magic string.
bool is_npy(std::span<const std::uint8_t> bytes);

/// Parses a complete NumPy file of format 1.0 to 3.0: float32 or float64 of either byte order (float64 is rounded to
/// float32), in C order, or in Fortran order if both are the same. `name` is the file's name for messages. Needs at
/// most a few times the memory of `bytes`. Throws Error{no_input} for everything else: a malformed or truncated
/// header, other types, a value count that does not match the shape.
NpyArray parse_npy(std::span<const std::uint8_t> bytes, const std::string& name);

/// The first array of a file and the bytes behind it; NumPy stores several arrays in one file, each with its own
/// header.
struct NpyFront {
    NpyArray array;
    std::span<const std::uint8_t> behind;
};

/// Parses the first array in `bytes` and ignores what follows. Throws as parse_npy() does.
NpyFront parse_first_npy(std::span<const std::uint8_t> bytes, const std::string& name);

/// Parses a complete NumPy file that holds one byte string: type 'S', shape (). Trailing zeros are removed, as NumPy
/// does. Throws Error{no_input} for everything else.
std::string parse_npy_text(std::span<const std::uint8_t> bytes, const std::string& name);

}  // namespace framewire
