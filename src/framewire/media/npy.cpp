#include "framewire/media/npy.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameters.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

// NumPy's file format 1.0 (numpy.lib.format): magic, version, the length of a header text, the text, and the values.
//
//    93 'NUMPY' 01 00 | length (2 bytes) | {'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), } spaces \n |
//    values
//
// The header has a fixed size, so that it can be overwritten when the number of arrays is known.

namespace framewire {
namespace {

// Values are written as they are in memory, so the host must be little-endian.
static_assert(std::endian::native == std::endian::little);

constexpr std::size_t header_text_bytes = NpyFile::header_bytes - 10;  // size without magic, version and length field

// Returns the number of values in an array of a shape.
std::size_t count_of(const std::vector<std::int64_t>& shape) {
    std::size_t count = 1;
    for (const auto side : shape) count *= static_cast<std::size_t>(side);
    return count;
}

}  // namespace

// Pads the text with spaces, so that the header of a growing file can be rewritten with the final count.
std::string npy_header(const std::string& type, const std::vector<std::int64_t>& shape) {
    auto text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type,
                            fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
    if (text.size() >= header_text_bytes) fail(ErrorCode::usage, "an array cannot have {} dimensions", shape.size());
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
        fail(ErrorCode::usage, "{} cannot store a .npy video, because its header is written last; use a regular file",
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

// Checks type and count, then writes the values.
void NpyFile::append(const void* values, std::size_t count, NpyValues kind) {
    static_assert(sizeof(float) == 4 && sizeof(std::int32_t) == 4);
    if (kind != values_) fail(ErrorCode::usage, "{} holds values of another type", file_.name());
    if (count != count_of(shape_))
        fail(ErrorCode::usage, "{} needs arrays of {} values, not {}", file_.name(), count_of(shape_), count);
    if (!grows_ && arrays_ > 0)
        fail(ErrorCode::usage, "{} can only hold one array, but a second one was written", file_.name());
    file_.write(values, array_bytes());
    ++arrays_;
}

std::size_t NpyFile::array_bytes() const { return count_of(shape_) * 4; }

void NpyFile::finish(Ending ending) {
    if (!grows_ && arrays_ == 0) fail(ErrorCode::usage, "{} needs an array, but none was written", file_.name());
    if (grows_) {
        file_.seek(0);
        write_header();
    }
    file_.finish(ending);
}

}  // namespace framewire

// Reads NumPy's format 1.0 to 3.0 from untrusted bytes: the header is parsed as a restricted Python literal, and all
// sizes are checked against the number of bytes before memory is allocated.

namespace framewire {
namespace {

// Values are read as they are in memory, so the host must be little-endian.
static_assert(std::endian::native == std::endian::little);

constexpr std::string_view magic = "\x93NUMPY";
// Limits for hostile files; 32 dimensions is NumPy's own limit.
constexpr std::size_t most_header_bytes = 65536, most_dimensions = 32;

// Parser of the header text: a Python dictionary with a string, a bool and a tuple of integers, each key exactly once,
// in any order.
class HeaderText {
public:
    HeaderText(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

    NpyHeader read() {
        NpyHeader header;
        // All three keys are required, and each may occur only once.
        bool has_descr = false, has_order = false, has_shape = false;
        const auto once = [&](bool& has) {
            if (has) refuse();
            has = true;
        };
        expect("{");
        while (!take("}")) {
            const auto key = quoted();
            expect(":");
            if (key == "descr") {
                once(has_descr);
                if (next() != '\'' && next() != '"')
                    fail(ErrorCode::no_input, "{} is an array of records; supported: float32 and float64", name_);
                header.type = quoted();
            } else if (key == "fortran_order") {
                once(has_order);
                header.fortran_order = take("True");
                if (!header.fortran_order) expect("False");
            } else if (key == "shape") {
                once(has_shape);
                header.shape = sides();
            } else {
                refuse();
            }
            if (!take(",") && next() != '}') refuse();
        }
        if (!has_descr || !has_order || !has_shape || next() != 0) refuse();
        return header;
    }

private:
    [[noreturn]] void refuse() const { fail(ErrorCode::no_input, "{} has an invalid NumPy header", name_); }

    // Returns the next non-space character; 0 at the end.
    char next() {
        while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) rest_.remove_prefix(1);
        return rest_.empty() ? '\0' : rest_.front();
    }
    // Removes `word` if it comes next, and returns whether it did.
    bool take(std::string_view word) {
        next();
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }
    void expect(std::string_view word) {
        if (!take(word)) refuse();
    }
    // Parses a string in single or double quotes; escapes are not supported.
    std::string_view quoted() {
        const char quote = next();
        if (quote != '\'' && quote != '"') refuse();
        const auto end = rest_.find(quote, 1);
        if (end == std::string_view::npos) refuse();
        const auto text = rest_.substr(1, end - 1);
        rest_.remove_prefix(end + 1);
        return text;
    }
    // Parses a tuple of dimensions.
    std::vector<std::int64_t> sides() {
        std::vector<std::int64_t> sides;
        expect("(");
        while (!take(")")) {
            next();
            std::int64_t side = 0;
            if (take_number(rest_, side) != std::errc() || side < 0 || sides.size() == most_dimensions) refuse();
            sides.push_back(side);
            if (!take(",") && next() != ')') refuse();
        }
        return sides;
    }

    std::string_view rest_;
    const std::string& name_;
};

// Converts values of either byte order to float.
template <class Value>
std::vector<float> values_of(std::span<const std::uint8_t> bytes, bool big_endian) {
    std::vector<float> values(bytes.size() / sizeof(Value));
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::uint8_t one[sizeof(Value)];
        std::memcpy(one, bytes.data() + i * sizeof(Value), sizeof(Value));
        if (big_endian) std::reverse(one, one + sizeof(Value));
        Value value;
        std::memcpy(&value, one, sizeof(Value));
        values[i] = static_cast<float>(value);
    }
    return values;
}

[[noreturn]] void fail_on_bytes(std::uint64_t bytes, std::uint64_t expected, const std::string& name) {
    fail(ErrorCode::no_input, "{} has {} bytes of values, but its shape requires {}", name, bytes, expected);
}

}  // namespace

bool is_npy(std::span<const std::uint8_t> bytes) {
    return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

NpyHeader parse_npy_header(std::span<const std::uint8_t> bytes, const std::string& name) {
    if (!is_npy(bytes)) fail(ErrorCode::no_input, "{} is not a NumPy file", name);
    const auto cut = [&] { fail(ErrorCode::no_input, "{} ends within its NumPy header", name); };
    const auto fixed_bytes = magic.size() + 2;
    if (bytes.size() < fixed_bytes) cut();
    const int major = bytes[6], minor = bytes[7];
    if (major < 1 || major > 3 || minor != 0)
        fail(ErrorCode::no_input, "{} has NumPy format {}.{}; supported: 1.0, 2.0 and 3.0", name, major, minor);
    const std::size_t length_bytes = major == 1 ? 2 : 4;
    if (bytes.size() < fixed_bytes + length_bytes) cut();
    std::size_t length = 0;
    for (std::size_t i = 0; i < length_bytes; ++i) length |= std::size_t{bytes[fixed_bytes + i]} << (8 * i);
    if (length > most_header_bytes)
        fail(ErrorCode::no_input, "{} has a NumPy header of {} bytes; the limit is {}", name, length,
             most_header_bytes);
    const auto text = bytes.subspan(fixed_bytes + length_bytes);
    if (text.size() < length) cut();
    auto header = HeaderText({reinterpret_cast<const char*>(text.data()), length}, name).read();
    header.bytes = fixed_bytes + length_bytes + length;
    return header;
}

NpyFront parse_first_npy(std::span<const std::uint8_t> bytes, const std::string& name) {
    const auto header = parse_npy_header(bytes, name);
    const auto data = bytes.subspan(header.bytes);
    const auto& type = header.type;
    if (type != "<f4" && type != ">f4" && type != "<f8" && type != ">f8")
        fail(ErrorCode::no_input, "{} is an array of type '{}'; supported: float32 and float64", name, type);
    const std::uint64_t value_bytes = type[2] == '4' ? sizeof(float) : sizeof(double);
    std::uint64_t expected_bytes = value_bytes;
    int longer_than_one = 0;
    for (const auto side : header.shape) {
        longer_than_one += side > 1;
        const auto factor = static_cast<std::uint64_t>(side);
        // A crafted shape could overflow the product.
        if (factor != 0 && expected_bytes > std::numeric_limits<std::uint64_t>::max() / factor)
            fail(ErrorCode::no_input, "{} has a shape with too many values", name);
        expected_bytes *= factor;
    }
    // If at most one dimension is longer than 1, both orders are the same.
    if (header.fortran_order && longer_than_one > 1)
        fail(ErrorCode::no_input, "{} is in Fortran order; only C order is supported", name);
    if (expected_bytes > data.size()) fail_on_bytes(data.size(), expected_bytes, name);
    const auto values = data.first(static_cast<std::size_t>(expected_bytes));
    const bool big_endian = type[0] == '>';
    return {{header.shape, value_bytes == sizeof(float) ? values_of<float>(values, big_endian)
                                                        : values_of<double>(values, big_endian)},
            data.subspan(values.size())};
}

// Parses a file with a single array. Bytes after the array are an error, because they mean that the shape is wrong.
NpyArray parse_npy(std::span<const std::uint8_t> bytes, const std::string& name) {
    auto [array, behind] = parse_first_npy(bytes, name);
    if (!behind.empty()) {
        const auto data_bytes = bytes.size() - parse_npy_header(bytes, name).bytes;
        fail_on_bytes(data_bytes, data_bytes - behind.size(), name);
    }
    return std::move(array);
}

std::string parse_npy_text(std::span<const std::uint8_t> bytes, const std::string& name) {
    const auto header = parse_npy_header(bytes, name);
    const auto data = bytes.subspan(header.bytes);
    std::string_view length = header.type;
    std::uint64_t text_bytes = 0;
    // "|S123" is a byte string of length 123.
    const bool is_text = length.starts_with("|S") && (length.remove_prefix(2), true);
    if (!is_text || take_number(length, text_bytes) != std::errc() || !length.empty() || !header.shape.empty())
        fail(ErrorCode::no_input, "{} has an array of type '{}' with {} dimensions instead of a string", name,
             header.type, header.shape.size());
    if (text_bytes != data.size()) fail_on_bytes(data.size(), text_bytes, name);
    std::string text(data.begin(), data.end());
    text.resize(text.find_last_not_of('\0') + 1);
    return text;
}

}  // namespace framewire
