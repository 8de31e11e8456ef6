#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace framewire {

/// The array of a NumPy file: its sides, slowest first, and its values in C order.
struct NpyArray {
    std::vector<std::int64_t> shape;
    std::vector<float> values;
};

/// What stands before the values of a NumPy file.
struct NpyHeader {
    std::string type;  ///< "<f4" ...
    bool fortran_order = false;
    std::vector<std::int64_t> shape;
    std::size_t bytes = 0;  ///< of all that stands there
};

/// Reads it of what a file begins with. Throws Error{no_input} where it is broken, or longer than that.
NpyHeader parse_npy_header(std::span<const std::uint8_t> bytes, const std::string& name);

/// Whether `bytes` begin as NumPy's files do.
bool is_npy(std::span<const std::uint8_t> bytes);

/// Reads a whole NumPy file of format 1.0 to 3.0: float32 or float64 of either byte order (float64 rounded to float32),
/// in C order, or in Fortran's where both are the same. `name` is the file's, for messages. Takes no more memory than a
/// few times `bytes`. Throws Error{no_input} on all else: a broken or cut header, other types, more or fewer values
/// than the shape has.
NpyArray parse_npy(std::span<const std::uint8_t> bytes, const std::string& name);

/// An array, and what comes behind it in the file: NumPy puts several arrays into one, each with its header.
struct NpyFront {
    NpyArray array;
    std::span<const std::uint8_t> behind;
};

/// The same of the first array in `bytes`, whatever comes behind it.
NpyFront parse_first_npy(std::span<const std::uint8_t> bytes, const std::string& name);

/// Reads a whole NumPy file of one text of single bytes: type 'S', shape (). Zeros at its end do not count, as in
/// NumPy. Throws Error{no_input} on all else.
std::string parse_npy_text(std::span<const std::uint8_t> bytes, const std::string& name);

}  // namespace framewire
