// NumPy's file format 1.0 (numpy.lib.format): magic, version, the length of a header text, the text, and the values.
//
//    93 'NUMPY' 01 00 | length (2 bytes) | {'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), } spaces \n |
//    values
//
// The header has a fixed size, so that it can be overwritten when the number of arrays is known.

#include "framewire/media/formats/npy.hpp"

#include "framewire/core/error.hpp"

#include <fmt/ranges.h>

#include <bit>
#include <utility>

namespace framewire {
namespace {

// Values are written as they lie in memory, so the host must be little-endian.
static_assert(std::endian::native == std::endian::little);

constexpr std::size_t header_text_bytes = NpyFile::header_bytes - 10;  // without magic, version and length field

// Number of values of a shape.
std::size_t count_of(const std::vector<std::int64_t>& shape) {
    std::size_t count = 1;
    for (const auto side : shape) count *= static_cast<std::size_t>(side);
    return count;
}

}  // namespace

// The text is padded with spaces, so the header of a growing file can be rewritten with the final count.
std::string npy_header(const std::string& type, const std::vector<std::int64_t>& shape) {
    auto text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type,
                            fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
    if (text.size() >= header_text_bytes)
        fail(ErrorCode::usage, "an array of {} dimensions; there is room for fewer", shape.size());
    text.resize(header_text_bytes - 1, ' ');
    text += '\n';
    const std::string start{"\x93NUMPY\x01\x00", 8};
    const char length[2] = {static_cast<char>(header_text_bytes & 255), static_cast<char>(header_text_bytes >> 8)};
    return start + std::string(length, 2) + text;
}

NpyFile::NpyFile(const std::string& path, std::vector<std::int64_t> shape, bool grows, OutputFileOptions options,
                 NpyValues values)
    : file_(path, std::move(options)), shape_(std::move(shape)), grows_(grows), values_(values) {
    if (grows && !file_.seekable())
        fail(ErrorCode::usage, "{} takes no .npy of a video, whose beginning is written last; a file does",
             file_.name());
    write_header();
}

// Writes the header with the current count at the file position.
void NpyFile::write_header() {
    auto shape = shape_;
    if (grows_) shape.insert(shape.begin(), arrays_);
    const auto header = npy_header(values_ == NpyValues::float32 ? "<f4" : "<i4", shape);
    file_.write(header.data(), header.size());
}

void NpyFile::write(const float* values, std::size_t count) { append(values, count, NpyValues::float32); }
void NpyFile::write(const std::int32_t* values, std::size_t count) { append(values, count, NpyValues::int32); }

// Checks type and count and writes the values.
void NpyFile::append(const void* values, std::size_t count, NpyValues kind) {
    static_assert(sizeof(float) == 4 && sizeof(std::int32_t) == 4);
    if (kind != values_) fail(ErrorCode::usage, "values of another kind for {}", file_.name());
    if (count != count_of(shape_))
        fail(ErrorCode::usage, "{} values for {}, whose arrays have {}", count, file_.name(), count_of(shape_));
    if (!grows_ && arrays_ > 0) fail(ErrorCode::usage, "a second array for {}, which holds one", file_.name());
    file_.write(values, array_bytes());
    ++arrays_;
}

std::size_t NpyFile::array_bytes() const { return count_of(shape_) * 4; }

void NpyFile::finish(Ending ending) {
    if (!grows_ && arrays_ == 0) fail(ErrorCode::usage, "no array for {}, which holds one", file_.name());
    if (grows_) {
        file_.seek(0);
        write_header();
    }
    file_.finish(ending);
}

}  // namespace framewire
