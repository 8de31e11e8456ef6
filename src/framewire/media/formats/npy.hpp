#pragma once

#include "framewire/media/files/output_file.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace framewire {

/// Element type of an array.
enum class NpyValues { float32, int32 };

/// Header of a NumPy file (format 1.0, 192 bytes) for values of `type` ("<f4") in C order. Throws Error{usage} if the
/// shape does not fit.
std::string npy_header(const std::string& type, const std::vector<std::int64_t>& shape);

/// Writes arrays of float32 or int32 as one NumPy file (format 1.0, little endian, C order) that gets its name only
/// when it is complete. See numpy.lib.format for the layout.
class NpyFile {
public:
    /// Size of the header: a multiple of 64 with room for any four dimensions.
    static constexpr std::size_t header_bytes = 192;

    /// `shape` is the shape of every array that is written. If the file `grows`, it holds any number of arrays in
    /// sequence and their count is its first dimension; otherwise it holds one array. Throws Error{usage} if a growing
    /// file goes to a pipe or standard output, because its header is written last, and Error{io}.
    NpyFile(const std::string& path, std::vector<std::int64_t> shape, bool grows, OutputFileOptions options = {},
            NpyValues values = NpyValues::float32);

    /// Appends one array with as many values as the shape. Throws Error{usage} if the count or type differs, and on a
    /// second array in a file that does not grow; throws Error{io}.
    void write(const float* values, std::size_t count);
    void write(const std::int32_t* values, std::size_t count);
    /// Completes the file. Throws Error{usage} if a file that does not grow is empty, and Error{io}.
    void finish(Ending ending = Ending::complete);

    /// Bytes written so far, with the header.
    std::int64_t bytes() const { return file_.bytes(); }

private:
    // Writes the header with the current count.
    void write_header();
    // Size of one array.
    std::size_t array_bytes() const;
    // Checks and writes one array.
    void append(const void* values, std::size_t count, NpyValues kind);

    OutputFile file_;
    std::vector<std::int64_t> shape_;
    bool grows_;
    NpyValues values_;
    std::int64_t arrays_ = 0;
};

}  // namespace framewire
