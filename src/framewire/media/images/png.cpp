// PNG through libpng's simplified API, which converts every colour type and bit depth to 8-bit BGR or gray. Two things
// are added: the orientation in eXIf chunks, and a stop request that ends a long decode.

#include "framewire/media/images/png.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/images/alpha.hpp"
#include "framewire/media/orientation/exif.hpp"
#include "framewire/media/orientation/orientation.hpp"

#include <png.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace framewire {
namespace {

// Deleter for std::FILE.
struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

// File whose reads fail once a stop is requested. libpng decodes a whole image in one call but reads a few thousand
// bytes at a time, so a failing read ends that call.
struct StoppableFile {
    std::FILE* file;
    std::stop_token stop;

    static ssize_t read(void* self, char* to, std::size_t bytes) {
        auto& [file, stop] = *static_cast<StoppableFile*>(self);
        if (stop.stop_requested()) {
            errno = ECANCELED;
            return -1;
        }
        const auto count = std::fread(to, 1, bytes, file);
        return count == 0 && std::ferror(file) ? -1 : static_cast<ssize_t>(count);
    }
    static int seek(void* self, off64_t* offset, int whence) {
        auto* file = static_cast<StoppableFile*>(self)->file;
        if (fseeko(file, *offset, whence) != 0) return -1;
        *offset = ftello(file);
        return 0;
    }
    static int close(void* self) {
        const std::unique_ptr<StoppableFile> owner(static_cast<StoppableFile*>(self));
        return std::fclose(owner->file);
    }
};

// Opens a file through fopencookie(). Returns null and sets errno on failure.
std::FILE* open_stoppable(const std::string& path, const std::stop_token& stop) {
    auto* file = std::fopen(path.c_str(), "rbe");
    if (!file) return nullptr;
    auto* cookie = new StoppableFile{file, stop};
    auto* stoppable = fopencookie(
        cookie, "rb",
        {.read = StoppableFile::read, .write = nullptr, .seek = StoppableFile::seek, .close = StoppableFile::close});
    if (!stoppable) StoppableFile::close(cookie);
    return stoppable;
}

// A PNG chunk is a length, a name of four letters, the data and a checksum.
constexpr std::int64_t signature_bytes = 8, checksum_bytes = 4;

std::int64_t length_of(const std::uint8_t* chunk) {
    return std::int64_t{chunk[0]} << 24 | chunk[1] << 16 | chunk[2] << 8 | chunk[3];
}
// Name of a chunk.
std::string_view name_of(const std::uint8_t* chunk) { return {reinterpret_cast<const char*>(chunk + 4), 4}; }

// Orientation from the eXIf chunk, which may be anywhere in the file; libpng's simplified API skips it. Leaves the
// file at its start. A pipe cannot be read twice and has the default orientation.
Orientation orientation_in(std::FILE& file, const std::string& path) {
    constexpr std::int64_t most_bytes = 1 << 20;  // an eXIf chunk usually has a few thousand
    constexpr int most_chunks = 1 << 20;
    Orientation found;
    std::array<std::uint8_t, 8> head{};  // the signature, then chunk headers
    if (fseeko(&file, 0, SEEK_SET) != 0) return found;
    if (std::fread(head.data(), head.size(), 1, &file) == 1 && png_sig_cmp(head.data(), 0, head.size()) == 0) {
        auto at = signature_bytes;
        for (int chunk = 0; chunk < most_chunks; ++chunk) {
            if (fseeko(&file, at, SEEK_SET) != 0 || std::fread(head.data(), head.size(), 1, &file) != 1) break;
            const auto length = length_of(head.data());
            if (name_of(head.data()) == "IEND") break;
            if (name_of(head.data()) == "acTL") log_warning("{}: it moves (APNG), and its first picture is read", path);
            if (name_of(head.data()) == "eXIf" && length <= most_bytes) {
                std::vector<std::uint8_t> data(static_cast<std::size_t>(length));
                data.resize(std::fread(data.data(), 1, data.size(), &file));
                found = orientation_of_exif(exif_orientation(data));
                break;
            }
            at += std::ssize(head) + length + checksum_bytes;
        }
    }
    std::rewind(&file);
    return found;
}

// Reads through libpng's simplified API, which expands palettes and low bit depths.
class PngSource final : public Source {
public:
    PngSource(const std::string& path, const SourceOptions& options) : stop_(options.stop) {
        file_.reset(open_stoppable(path, stop_));
        if (!file_) fail(ErrorCode::no_input, "cannot open {}: {}", path, std::strerror(errno));
        png_.version = PNG_IMAGE_VERSION;
        orientation_ = orientation_in(*file_, path);
        if (!png_image_begin_read_from_stdio(&png_, file_.get()))
            fail(ErrorCode::no_input, "{} cannot be read as PNG: {}", path, png_.message);
        // If the constructor throws from here on, the destructor does not run: free libpng's memory explicitly.
        const auto pixels = std::int64_t{png_.width} * png_.height;
        if (png_.width > max_side_px || png_.height > max_side_px || pixels > options.max_pixels) {
            png_image_free(&png_);
            fail(ErrorCode::no_input, "{} is {}x{}; allowed are sides of up to {} pixels, {} pixels in all", path,
                 png_.width, png_.height, max_side_px, options.max_pixels);
        }
        const bool colour = png_.format & (PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_COLORMAP);
        info_.name = path;
        stored_shape_ = {1, static_cast<int>(png_.height), static_cast<int>(png_.width), colour ? 3 : 1};
        info_.shape = orientation_.turned(stored_shape_);
        info_.rate = options.rate.value_or(Rational{30, 1});
        info_.frames = 1;
        has_alpha_ = png_.format & PNG_FORMAT_FLAG_ALPHA;
        png_.format = colour ? PNG_FORMAT_BGR : PNG_FORMAT_GRAY;
        // Composite transparent pixels here: libpng would do it in linear light, unlike viewers.
        if (has_alpha_) png_.format = colour ? PNG_FORMAT_BGRA : PNG_FORMAT_GA;
        png_.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // interpret 16-bit files as sRGB, as viewers do
    }
    ~PngSource() override { png_image_free(&png_); }

    const SourceInfo& info() const override { return info_; }

    bool read(HostView<std::uint8_t> image, FrameTime& time) override {
        validate(image, info_.shape, "the image to read into");
        if (done_ || stop_.stop_requested()) return false;
        done_ = true;
        if (orientation_.upright()) {
            if (!read_stored(image)) return false;
        } else {
            HostImage stored(stored_shape_);
            if (!read_stored(stored.view())) return false;
            turn(std::as_const(stored).view(), orientation_, image);
        }
        time = {0, 0, Clock::now()};
        return true;
    }

private:
    // Reads the image as stored and composites it. Returns false on a stop request.
    bool read_stored(HostView<std::uint8_t> image) {
        if (!has_alpha_) return read_pixels(image.data(), image.row_stride_bytes());
        const auto stride_bytes = std::ptrdiff_t{stored_shape_.width} * (stored_shape_.channels + 1);
        // Decode with alpha into a separate buffer, then composite.
        const HostBuffer pixels(static_cast<std::size_t>(stride_bytes * stored_shape_.height));
        if (!read_pixels(pixels.data(), stride_bytes)) return false;
        lay_on_black(pixels.data(), stride_bytes, image);
        return true;
    }

    // Decodes into rows `stride_bytes` apart; returns false on a stop request.
    bool read_pixels(std::uint8_t* pixels, std::ptrdiff_t stride_bytes) {
        if (png_image_finish_read(&png_, nullptr, pixels, static_cast<png_int_32>(stride_bytes), nullptr)) return true;
        if (stop_.stop_requested()) return false;
        fail(ErrorCode::source_lost, "{} is broken: {}", info_.name, png_.message);
    }

    std::unique_ptr<std::FILE, CloseFile> file_;
    png_image png_{};
    bool has_alpha_ = false;
    Orientation orientation_;
    Shape stored_shape_;
    SourceInfo info_;
    std::stop_token stop_;
    bool done_ = false;
};

// Encodes an image with libpng's simplified API; `row_stride` is in components, not bytes.
std::vector<std::uint8_t> encode_values(png_uint_32 format, int width, int height, const void* values,
                                        png_int_32 row_stride) {
    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    png.width = static_cast<png_uint_32>(width);
    png.height = static_cast<png_uint_32>(height);
    png.format = format;

    char* data = nullptr;
    std::size_t bytes = 0;
    // libpng writes to a FILE, so write to one in memory.
    std::FILE* memory = open_memstream(&data, &bytes);
    if (!memory) fail(ErrorCode::config, "no memory to encode a PNG of {}x{}", width, height);
    const bool written = png_image_write_to_stdio(&png, memory, 0, values, row_stride, nullptr) != 0;
    const bool flushed = std::fclose(memory) == 0;
    const std::unique_ptr<char, void (*)(void*)> owner(data, std::free);
    if (!written || !flushed) fail(ErrorCode::internal, "cannot encode a PNG of {}x{}: {}", width, height, png.message);
    return {data, data + bytes};
}

// Removes the chunks about light (gAMA, cHRM, sRGB): the values are numbers that readers must not convert for display.
std::vector<std::uint8_t> without_light(const std::vector<std::uint8_t>& png) {
    constexpr std::ptrdiff_t frame_bytes = 8 + checksum_bytes;  // bytes of a chunk around its data
    std::vector<std::uint8_t> kept(png.begin(), png.begin() + signature_bytes);
    for (auto at = png.begin() + signature_bytes; png.end() - at >= frame_bytes;) {
        const auto name = name_of(&*at);
        const auto end = at + frame_bytes + length_of(&*at);
        if (name != "gAMA" && name != "cHRM" && name != "sRGB") kept.insert(kept.end(), at, end);
        at = end;
    }
    return kept;
}

}  // namespace

std::unique_ptr<Source> open_png_source(const std::string& path, const SourceOptions& options) {
    return std::make_unique<PngSource>(path, options);
}

std::vector<std::uint8_t> encode_png(HostView<const std::uint8_t> image) {
    const auto& shape = image.shape();
    return encode_values(shape.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_BGR, shape.width, shape.height,
                         image.data(), static_cast<png_int_32>(image.row_stride_bytes()));
}

std::vector<std::uint8_t> encode_gray_png_16(const std::uint16_t* values, int width, int height) {
    return without_light(encode_values(PNG_FORMAT_LINEAR_Y, width, height, values, width));
}

}  // namespace framewire
