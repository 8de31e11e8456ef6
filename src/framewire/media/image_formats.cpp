#include "framewire/media/image_formats.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/conversion.hpp"
#include "framewire/media/orientation.hpp"

#include <png.h>
#include <tiffio.h>
#include <turbojpeg.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

// Reads TIFF through libtiff's RGBA reader, which handles strips, tiles, pages and all compressions. For a single
// picture in strips that libtiff cannot convert, for example one of floats, open_tiff_source() returns null, and FFmpeg
// reads the file.

namespace framewire {
namespace {

// Deleter for TIFF.
struct CloseTiff {
    void operator()(TIFF* tiff) const noexcept { TIFFClose(tiff); }
};
// Deleter for TIFFOpenOptions.
struct FreeTiffOptions {
    void operator()(TIFFOpenOptions* options) const noexcept { TIFFOpenOptionsFree(options); }
};

// More pages than scanners produce. The limit is for hostile files, whose chain of directories may be longer.
constexpr std::size_t most_pages = 65'536;
// libtiff allocates the size that a file declares for one strip or tile: this limit allows the largest picture, but
// not arbitrary sizes.
constexpr tmsize_t most_bytes_at_once = tmsize_t{1} << 30;

// Formats a message from libtiff.
std::string text_of(const char* format, std::va_list arguments) {
    std::array<char, 512> text{};
    std::vsnprintf(text.data(), text.size(), format, arguments);
    return text.data();
}

// Wraps libtiff's reader that converts any picture to RGBA. Rows keep their stored order.
class RgbaReading {
public:
    explicit RgbaReading(TIFF& tiff) {
        constexpr int stop_on_error = 1;
        begun_ = TIFFRGBAImageBegin(&image_, &tiff, stop_on_error, why_.data());
        image_.orientation = image_.req_orientation = ORIENTATION_TOPLEFT;
    }
    ~RgbaReading() {
        if (begun_) TIFFRGBAImageEnd(&image_);
    }
    RgbaReading(const RgbaReading&) = delete;
    RgbaReading& operator=(const RgbaReading&) = delete;

    bool begun() const { return begun_; }
    std::string why() const { return why_.data(); }

    // Reads rows starting at `row` into `pixels`; returns false on failure.
    bool read(int row, int width, int rows, std::vector<std::uint32_t>& pixels) {
        image_.row_offset = row;
        image_.width = static_cast<std::uint32_t>(width);  // limits how far libtiff reads
        return begun_ && TIFFRGBAImageGet(&image_, pixels.data(), static_cast<std::uint32_t>(width),
                                          static_cast<std::uint32_t>(rows));
    }

private:
    TIFFRGBAImage image_{};
    std::array<char, 1024> why_{};
    bool begun_ = false;
};

// Source whose frames are the pages of a TIFF file.
class TiffSource final : public Source {
public:
    TiffSource(const std::string& path, const SourceOptions& options) : options_(options) {
        info_.name = path;
        const std::unique_ptr<TIFFOpenOptions, FreeTiffOptions> opening(TIFFOpenOptionsAlloc());
        if (!opening) fail(ErrorCode::config, "not enough memory to open {}", path);
        TIFFOpenOptionsSetMaxSingleMemAlloc(opening.get(), most_bytes_at_once);
        TIFFOpenOptionsSetErrorHandlerExtR(opening.get(), take_error, this);
        TIFFOpenOptionsSetWarningHandlerExtR(opening.get(), take_warning, this);
        // Mode "m" disables memory mapping: if the mapped file were truncated while it is read, the process would
        // crash.
        tiff_.reset(TIFFOpenExt(path.c_str(), "rm", opening.get()));
        if (!tiff_) fail(ErrorCode::no_input, "cannot open {}: {}", path, complaint());
        find_pages();
        const auto page = go_to(pages_.front(), ErrorCode::no_input);
        info_.shape = page.orientation.turned(page.shape);
        info_.rate = options.rate.value_or(Rational{30, 1});
        info_.frames = std::ssize(pages_);
    }

    const SourceInfo& info() const override { return info_; }

    bool read(HostView<std::uint8_t> image, FrameTime& time) override {
        validate(image, info_.shape, "the image to read into");
        if (index_ == pages_.size() || options_.stop.stop_requested()) return false;
        const auto page = go_to(pages_[index_], ErrorCode::source_lost);
        const auto shape = page.orientation.turned(page.shape);
        if (shape == info_.shape) {
            read_page(page, image);
        } else {
            if (!std::exchange(warned_, true))
                log_warning("{}: page {} is {}; converted to {}, like the first", info_.name, index_ + 1,
                            to_string(shape), to_string(info_.shape));
            HostImage other(shape);
            read_page(page, other.view());
            scale(std::as_const(other).view(), image);
        }
        const auto number = static_cast<std::int64_t>(index_++);
        time = {number, static_cast<double>(number) / info_.rate.value(), Clock::now()};
        return true;
    }

    /// Returns the reason why the first page cannot be read; empty if it can.
    std::string obstacle() { return obstacle_of_page(); }
    bool is_cmyk() const { return field<std::uint16_t>(TIFFTAG_PHOTOMETRIC) == PHOTOMETRIC_SEPARATED; }
    bool is_tiled() const { return TIFFIsTiled(tiff_.get()); }

private:
    enum class Alpha { none, beside, within };  // within: colours are premultiplied by alpha

    // Properties of one page.
    struct Page {
        Shape shape{};  // shape as stored
        Orientation orientation{};
    };

    static int take_error(TIFF*, void* self, const char*, const char* format, std::va_list arguments) {
        auto& error = static_cast<TiffSource*>(self)->error_;
        if (error.empty()) error = text_of(format, arguments);  // later errors are consequences of the first
        return 1;
    }
    static int take_warning(TIFF*, void* self, const char*, const char* format, std::va_list arguments) {
        log_debug("{}: {}", static_cast<TiffSource*>(self)->info_.name, text_of(format, arguments));
        return 1;
    }

    // Returns the first error since the last call, and clears it.
    std::string complaint() {
        auto text = std::exchange(error_, {});
        return text.empty() ? "it is not a readable TIFF" : text;
    }

    // Returns the value of a tag, or libtiff's default.
    template <class Number>
    Number field(std::uint32_t tag) const {
        Number number = 0;
        TIFFGetFieldDefaulted(tiff_.get(), tag, &number);
        return number;
    }

    // Collects the directories that are pages, without reduced copies and masks.
    void find_pages() {
        // Subfile types that are not pages: thumbnails and transparency masks.
        constexpr std::uint32_t no_page = FILETYPE_REDUCEDIMAGE | FILETYPE_MASK;
        do {
            if (!(field<std::uint32_t>(TIFFTAG_SUBFILETYPE) & no_page))
                pages_.push_back(TIFFCurrentDirOffset(tiff_.get()));
        } while (pages_.size() < most_pages && TIFFReadDirectory(tiff_.get()));
        // Reaching the end of the chain is not an error; a broken chain is one.
        if (!error_.empty())
            fail(ErrorCode::no_input, "{}: one of its directories is damaged: {}", info_.name, complaint());
        // If the file has only reduced copies, read the first one.
        if (pages_.empty()) {
            TIFFSetDirectory(tiff_.get(), 0);
            pages_.push_back(TIFFCurrentDirOffset(tiff_.get()));
        }
    }

    // Goes to a page and validates its size; on failure throws Error with `code`.
    Page go_to(std::uint64_t page, ErrorCode code) {
        error_.clear();
        if (!TIFFSetSubDirectory(tiff_.get(), page)) fail(code, "{} is damaged: {}", info_.name, complaint());
        const auto width = field<std::uint32_t>(TIFFTAG_IMAGEWIDTH), height = field<std::uint32_t>(TIFFTAG_IMAGELENGTH);
        if (width < 1 || height < 1 || width > static_cast<std::uint32_t>(max_side_px) ||
            height > static_cast<std::uint32_t>(max_side_px) || std::int64_t{width} * height > options_.max_pixels)
            fail(code, "{} is {}x{}; allowed: sides of up to {} pixels, {} pixels in total", info_.name, width, height,
                 max_side_px, options_.max_pixels);
        return {{1, static_cast<int>(height), static_cast<int>(width), is_gray_page() ? 1 : 3},
                orientation_of_exif(field<std::uint16_t>(TIFFTAG_ORIENTATION))};
    }

    // Returns the kind of transparency. libtiff uses only the first extra sample.
    Alpha alpha() const {
        std::uint16_t extra = 0;
        std::uint16_t* kinds = nullptr;
        TIFFGetFieldDefaulted(tiff_.get(), TIFFTAG_EXTRASAMPLES, &extra, &kinds);
        if (extra == 0 || !kinds) return Alpha::none;
        return kinds[0] == EXTRASAMPLE_UNASSALPHA   ? Alpha::beside
               : kinds[0] == EXTRASAMPLE_ASSOCALPHA ? Alpha::within
                                                    : Alpha::none;
    }

    bool is_gray_page() const {
        const auto colours = field<std::uint16_t>(TIFFTAG_PHOTOMETRIC);
        return colours == PHOTOMETRIC_MINISBLACK || colours == PHOTOMETRIC_MINISWHITE;
    }

    // Returns the reason why the current page cannot be read correctly; empty if it can.
    std::string obstacle_of_page() {
        std::array<char, 1024> why{};
        if (!TIFFRGBAImageOK(tiff_.get(), why.data())) return why.data();
        const auto colours = field<std::uint16_t>(TIFFTAG_PHOTOMETRIC);
        // libtiff's conversions of all other colour spaces are inexact.
        constexpr std::array<std::uint16_t, 6> exact{PHOTOMETRIC_MINISWHITE, PHOTOMETRIC_MINISBLACK,
                                                     PHOTOMETRIC_RGB,        PHOTOMETRIC_PALETTE,
                                                     PHOTOMETRIC_YCBCR,      PHOTOMETRIC_SEPARATED};
        if (std::ranges::find(exact, colours) == exact.end())
            return fmt::format("its colour type is {}; supported: gray, RGB, palettes, YCbCr and CMYK", colours);
        // libtiff ignores the transparency of gray pages unless they have 8 bits.
        const auto bits = field<std::uint16_t>(TIFFTAG_BITSPERSAMPLE);
        if (is_gray_page() && alpha() != Alpha::none && bits != 8)
            return fmt::format("it is gray with transparency and {} bits per sample; supported: 8", bits);
        if (is_tiled()) {
            const auto width = field<std::uint32_t>(TIFFTAG_TILEWIDTH),
                       height = field<std::uint32_t>(TIFFTAG_TILELENGTH);
            if (width < 1 || height < 1 || width > static_cast<std::uint32_t>(max_side_px) ||
                height > static_cast<std::uint32_t>(max_side_px) || std::int64_t{width} * height > options_.max_pixels)
                return fmt::format("its tiles are {}x{}; allowed: sides of up to {} pixels, {} pixels in total", width,
                                   height, max_side_px, options_.max_pixels);
        }
        // Some unsupported formats, such as 16-bit CMYK, fail only here.
        if (const RgbaReading reading(*tiff_); !reading.begun()) return reading.why();
        return {};
    }

    // Reads the current page in display orientation.
    void read_page(const Page& page, HostView<std::uint8_t> image) {
        if (page.orientation.upright()) return read_stored(page.shape, image);
        HostImage stored(page.shape);
        read_stored(page.shape, stored.view());
        turn(std::as_const(stored).view(), page.orientation, image);
    }

    // Rounds 16-bit colour map entries to 8 bits, because libtiff would truncate them.
    void round_colour_map() {
        if (field<std::uint16_t>(TIFFTAG_PHOTOMETRIC) != PHOTOMETRIC_PALETTE) return;
        const auto bits = field<std::uint16_t>(TIFFTAG_BITSPERSAMPLE);
        std::array<std::uint16_t*, 3> maps{};
        if (bits > 8 || !TIFFGetField(tiff_.get(), TIFFTAG_COLORMAP, &maps[0], &maps[1], &maps[2])) return;
        const auto colours = std::size_t{1} << bits;
        std::array<std::vector<std::uint16_t>, 3> rounded;
        bool deep = false;  // some writers store 8-bit values
        for (std::size_t channel = 0; channel < maps.size(); ++channel)
            for (std::size_t colour = 0; colour < colours; ++colour) {
                deep = deep || maps[channel][colour] > 255;
                rounded[channel].push_back(static_cast<std::uint16_t>((maps[channel][colour] + 128) / 257 * 257));
            }
        if (deep) TIFFSetField(tiff_.get(), TIFFTAG_COLORMAP, rounded[0].data(), rounded[1].data(), rounded[2].data());
    }

    // Reads the current page as stored. libtiff composites transparency on black, except for gray pages, for which
    // put_row() does it.
    void read_stored(const Shape& shape, HostView<std::uint8_t> image) {
        if (const auto obstacle = obstacle_of_page(); !obstacle.empty())
            fail(ErrorCode::source_lost, "{}: cannot read page {}: {}", info_.name, index_ + 1, obstacle);
        // Read whole tiles: libtiff computes a wrong row stride for partial gray tiles.
        auto width = shape.width, rows = shape.height;
        if (is_tiled()) {
            const auto tile = static_cast<int>(field<std::uint32_t>(TIFFTAG_TILEWIDTH));
            width = (width + tile - 1) / tile * tile;
            rows = std::min(rows, static_cast<int>(field<std::uint32_t>(TIFFTAG_TILELENGTH)));
        }
        round_colour_map();
        std::vector<std::uint32_t> pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(rows));
        const bool gray_alpha = shape.channels == 1 && alpha() == Alpha::beside;
        RgbaReading reading(*tiff_);
        for (int y = 0; y < shape.height; y += rows) {
            rows = std::min(rows, shape.height - y);
            if (!reading.read(y, width, rows, pixels) || !error_.empty())
                fail(ErrorCode::source_lost, "{}: cannot read page {}: {}", info_.name, index_ + 1,
                     error_.empty() && !reading.why().empty() ? reading.why() : complaint());
            for (int row = 0; row < rows; ++row)
                put_row(pixels.data() + std::ptrdiff_t{row} * width, shape, gray_alpha, image.row(0, y + row));
        }
    }

    // Converts a row of RGBA to BGR or gray.
    static void put_row(const std::uint32_t* pixel, const Shape& shape, bool gray_alpha, std::uint8_t* to) {
        for (const auto* const end = pixel + shape.width; pixel != end; ++pixel) {
            if (shape.channels == 3) {
                *to++ = static_cast<std::uint8_t>(TIFFGetB(*pixel));
                *to++ = static_cast<std::uint8_t>(TIFFGetG(*pixel));
            }
            const auto value = TIFFGetR(*pixel);
            *to++ = static_cast<std::uint8_t>(gray_alpha ? (value * TIFFGetA(*pixel) + 127) / 255 : value);
        }
    }

    // Scales a page to the size of the first.
    void scale(HostView<const std::uint8_t> from, HostView<std::uint8_t> to) {
        const auto& shape = from.shape();
        auto frame = make_frame(shape.channels == 1 ? AV_PIX_FMT_GRAY8 : AV_PIX_FMT_BGR24, shape.width, shape.height);
        for (int y = 0; y < shape.height; ++y)
            std::memcpy(frame->data[0] + std::ptrdiff_t{y} * frame->linesize[0], from.row(0, y),
                        static_cast<std::size_t>(shape.row_bytes()));
        converter_.to_image(*frame, {YuvMatrix::bt601, true}, to);
    }

    SourceOptions options_;
    SourceInfo info_;
    std::string error_;  // libtiff's first error since complaint()
    std::unique_ptr<TIFF, CloseTiff> tiff_;
    std::vector<std::uint64_t> pages_;  // file offsets of the pages' directories
    std::size_t index_ = 0;
    PictureConverter converter_;
    bool warned_ = false;
};

}  // namespace

bool is_tiff(const std::string& path) {
    using namespace std::string_view_literals;
    std::array<char, 4> head{};
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return false;  // reading from a pipe would consume its bytes
    std::ifstream file(path, std::ios::binary);
    if (!file.read(head.data(), head.size())) return false;
    const std::string_view text(head.data(), head.size());
    return text == "II*\0"sv || text == "MM\0*"sv || text == "II+\0"sv || text == "MM\0+"sv;
}

std::unique_ptr<Source> open_tiff_source(const std::string& path, const SourceOptions& options) {
    auto source = std::make_unique<TiffSource>(path, options);
    const auto why = source->obstacle();
    if (why.empty()) return source;
    // FFmpeg misinterprets 16-bit CMYK as RGB, so it must not read CMYK.
    if (!source->is_tiled() && !source->is_cmyk() && source->info().frames == 1) return nullptr;
    fail(ErrorCode::no_input, "cannot read {}: {}", path, why);
}

}  // namespace framewire

// Composites on black with the stored values, not in linear light, because viewers do it this way and the result must
// look the same.

namespace framewire {
namespace {

// Composites one row: round(value * alpha / 255).
template <int channels>
void lay_row(const std::uint8_t* pixels, int count, std::uint8_t* out) {
    for (int x = 0; x < count; ++x, pixels += channels + 1, out += channels) {
        const int alpha = pixels[channels];
        for (int channel = 0; channel < channels; ++channel)
            out[channel] = static_cast<std::uint8_t>((pixels[channel] * alpha + 127) / 255);
    }
}

}  // namespace

void lay_on_black(const std::uint8_t* pixels, std::ptrdiff_t stride_bytes, HostView<std::uint8_t> image) {
    const auto& shape = image.shape();
    for (int y = 0; y < shape.height; ++y, pixels += stride_bytes) {
        if (shape.channels == 1)
            lay_row<1>(pixels, shape.width, image.row(0, y));
        else
            lay_row<3>(pixels, shape.width, image.row(0, y));
    }
}

// Compresses with libjpeg-turbo and its fast DCT.
std::string encode_jpeg(HostView<const std::uint8_t> image, int quality) {
    const std::unique_ptr<void, decltype(&tjDestroy)> encoder(tjInitCompress(), &tjDestroy);
    if (!encoder) fail(ErrorCode::internal, "cannot create a JPEG encoder: {}", tjGetErrorStr2(nullptr));
    const auto& shape = image.shape();
    const bool gray = shape.channels == 1;
    unsigned char* bytes = nullptr;
    unsigned long size = 0;
    const int failed = tjCompress2(encoder.get(), image.data(), shape.width, static_cast<int>(image.row_stride_bytes()),
                                   shape.height, gray ? TJPF_GRAY : TJPF_BGR, &bytes, &size,
                                   gray ? TJSAMP_GRAY : TJSAMP_420, quality, TJFLAG_FASTDCT);
    const std::unique_ptr<unsigned char, decltype(&tjFree)> owner(bytes, &tjFree);
    if (failed)
        fail(ErrorCode::internal, "cannot encode {} as JPEG: {}", to_string(shape), tjGetErrorStr2(encoder.get()));
    return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace framewire

// Reads and writes PNG through libpng's simplified API, which converts every colour type and bit depth to 8-bit BGR or
// gray. This code adds the orientation in eXIf chunks, and stop requests that end a long decode.

namespace framewire {
namespace {

// Deleter for std::FILE.
struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

// File whose reads fail once a stop is requested. libpng decodes a whole image in one call but reads a few thousand
// bytes at a time, so a failing read ends the call.
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

// A PNG chunk consists of a length, a name of four letters, the data and a checksum.
constexpr std::int64_t signature_bytes = 8, checksum_bytes = 4;

std::int64_t length_of(const std::uint8_t* chunk) {
    return std::int64_t{chunk[0]} << 24 | chunk[1] << 16 | chunk[2] << 8 | chunk[3];
}
// Returns the name of a chunk.
std::string_view name_of(const std::uint8_t* chunk) { return {reinterpret_cast<const char*>(chunk + 4), 4}; }

// Returns the orientation from the eXIf chunk, which may be anywhere in the file; libpng's simplified API skips it.
// Leaves the file at its start. A pipe cannot be read twice and has the default orientation.
Orientation orientation_in(std::FILE& file, const std::string& path) {
    constexpr std::int64_t most_bytes = 1 << 20;  // an eXIf chunk usually has a few thousand bytes
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
            if (name_of(head.data()) == "acTL")
                log_warning("{}: it is animated (APNG); only its first picture is read", path);
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

// Source that reads through libpng's simplified API, which expands palettes and low bit depths.
class PngSource final : public Source {
public:
    PngSource(const std::string& path, const SourceOptions& options) : stop_(options.stop) {
        file_.reset(open_stoppable(path, stop_));
        if (!file_) fail(ErrorCode::no_input, "cannot open {}: {}", path, std::strerror(errno));
        png_.version = PNG_IMAGE_VERSION;
        orientation_ = orientation_in(*file_, path);
        if (!png_image_begin_read_from_stdio(&png_, file_.get()))
            fail(ErrorCode::no_input, "cannot read {} as PNG: {}", path, png_.message);
        // If the constructor throws from here on, the destructor does not run: free libpng's memory explicitly.
        const auto pixels = std::int64_t{png_.width} * png_.height;
        if (png_.width > max_side_px || png_.height > max_side_px || pixels > options.max_pixels) {
            png_image_free(&png_);
            fail(ErrorCode::no_input, "{} is {}x{}; allowed: sides of up to {} pixels, {} pixels in total", path,
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
        // Composite transparent pixels here: libpng would do it in linear light, which viewers do not.
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
    // Reads the image in its stored orientation and composites it. Returns false on a stop request.
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
        fail(ErrorCode::source_lost, "{} is damaged: {}", info_.name, png_.message);
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
    if (!memory) fail(ErrorCode::config, "not enough memory to encode a PNG of {}x{}", width, height);
    const bool written = png_image_write_to_stdio(&png, memory, 0, values, row_stride, nullptr) != 0;
    const bool flushed = std::fclose(memory) == 0;
    const std::unique_ptr<char, void (*)(void*)> owner(data, std::free);
    if (!written || !flushed) fail(ErrorCode::internal, "cannot encode a PNG of {}x{}: {}", width, height, png.message);
    return {data, data + bytes};
}

// Removes the chunks about light (gAMA, cHRM, sRGB): the values are numbers, which readers must not convert for
// display.
std::vector<std::uint8_t> without_light(const std::vector<std::uint8_t>& png) {
    constexpr std::ptrdiff_t frame_bytes = 8 + checksum_bytes;  // bytes of a chunk in addition to its data
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
