#pragma once

#include "framewire/media/output_file.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace framewire {

/// Element type of an array.
enum class NpyValues { float32, int32 };

/// Returns the header of a NumPy file (format 1.0, 192 bytes) for values of `type` ("<f4") in C order. Throws
/// Error{usage} if the shape does not fit into the header.
std::string npy_header(const std::string& type, const std::vector<std::int64_t>& shape);

/// Writes arrays of float32 or int32 as one NumPy file (format 1.0, little endian, C order) that gets its name only
/// when it is complete. See numpy.lib.format for the layout.
class NpyFile {
public:
    /// Size of the header: a multiple of 64 that has room for any four dimensions.
    static constexpr std::size_t header_bytes = 192;

    /// Opens a file for arrays of one `shape`. If the file `grows`, it holds any number of arrays in sequence, and
    /// their count is its first dimension; otherwise it holds one array. Throws Error{usage} if a growing file goes to
    /// a pipe or standard output, because its header is written last, and Error{io}.
    NpyFile(const std::string& path, std::vector<std::int64_t> shape, bool grows, OutputFileOptions options = {},
            NpyValues values = NpyValues::float32);

    /// Appends one array with as many values as the shape. Throws Error{usage} if count or type differ, or on a second
    /// array in a file that does not grow; throws Error{io}.
    void write(const float* values, std::size_t count);
    /// Appends one array of whole numbers, with the same errors.
    void write(const std::int32_t* values, std::size_t count);
    /// Completes the file. Throws Error{usage} if a file that does not grow is empty, and Error{io}.
    void finish(Ending ending = Ending::complete);

    /// Returns the number of bytes written so far, including the header.
    std::int64_t bytes() const { return file_.bytes(); }

private:
    // Writes the header with the current count.
    void write_header();
    // Returns the size of one array.
    std::size_t array_bytes() const;
    // Checks and writes one array.
    void append(const void* values, std::size_t count, NpyValues kind);

    OutputFile file_;
    std::vector<std::int64_t> shape_;
    bool grows_;
    NpyValues values_;
    std::int64_t arrays_ = 0;
};

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
    std::size_t bytes = 0;  ///< length of the header, including magic and length field
};

/// Parses the header at the start of a file. Throws Error{no_input} if it is malformed or longer than `bytes`.
NpyHeader parse_npy_header(std::span<const std::uint8_t> bytes, const std::string& name);

/// Returns true if `bytes` start with NumPy's magic string.
bool is_npy(std::span<const std::uint8_t> bytes);

/// Parses a complete NumPy file of format 1.0 to 3.0: float32 or float64 of either byte order (float64 is rounded to
/// float32), in C order, or in Fortran order if both orders are the same. `name` is the file's name for messages. Needs
/// at most a few times the memory of `bytes`. Throws Error{no_input} for everything else: a malformed or truncated
/// header, other types, a value count that does not match the shape.
NpyArray parse_npy(std::span<const std::uint8_t> bytes, const std::string& name);

/// First array of a file and the bytes after it; NumPy stores several arrays in one file, each with its own header.
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
