#pragma once

#include "framewire/media/files/output_file.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace framewire {

/// What an array's values are.
enum class NpyValues { float32, int32 };

/// What comes before the values of an array in C order of this type ("<f4") and shape: format 1.0, 192 bytes. Throws
/// Error{usage} where the shape has no room in them.
std::string npy_header(const std::string& type, const std::vector<std::int64_t>& shape);

/// Writes arrays of float32, or int32, as one NumPy file (format 1.0, little endian, C order) that appears under its
/// name only when whole.
class NpyFile {
public:
    /// What stands before the values: a multiple of 64, and room for any four numbers.
    static constexpr std::size_t header_bytes = 192;

    /// `shape` is that of every array written. Where the file `grows`, it holds as many as come, one after the other,
    /// and their number is its first dimension; elsewhere it holds the one. Throws Error{usage} where a growing file
    /// goes to a pipe or standard output, for its beginning is written last, and Error{io}.
    NpyFile(const std::string& path, std::vector<std::int64_t> shape, bool grows, OutputFileOptions options = {},
            NpyValues values = NpyValues::float32);

    /// Appends one array of the shape's size. Throws Error{usage} on another size, on a second array in a file that
    /// does not grow, and on values of the other kind; Error{io}.
    void write(const float* values, std::size_t count);
    void write(const std::int32_t* values, std::size_t count);
    /// Completes the file. Throws Error{usage} when one that does not grow is empty, Error{io}.
    void finish(Ending ending = Ending::complete);

    std::int64_t bytes() const { return file_.bytes(); }

private:
    void write_header();
    std::size_t array_bytes() const;
    void append(const void* values, std::size_t count, NpyValues kind);

    OutputFile file_;
    std::vector<std::int64_t> shape_;
    bool grows_;
    NpyValues values_;
    std::int64_t arrays_ = 0;
};

}  // namespace framewire
