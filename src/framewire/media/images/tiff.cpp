// TIFF through libtiff's RGBA reader, which handles strips, tiles, pages and all compressions. FFmpeg reads only what
// libtiff cannot convert: a single picture in strips, such as one of floats (open_tiff_source() then returns null).

#include "framewire/media/images/tiff.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/conversion/colour.hpp"
#include "framewire/media/orientation/orientation.hpp"

#include <tiffio.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

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

// More pages than scanners produce; a hostile file may have a longer chain of directories.
constexpr std::size_t most_pages = 65'536;
// libtiff allocates the size that a file declares for one strip or tile: this limit allows the largest picture, but
// not arbitrary sizes.
constexpr tmsize_t most_bytes_at_once = tmsize_t{1} << 30;

// Formats a message of libtiff.
std::string text_of(const char* format, std::va_list arguments) {
    std::array<char, 512> text{};
    std::vsnprintf(text.data(), text.size(), format, arguments);
    return text.data();
}

// libtiff's reader that converts any picture to RGBA. Rows keep their stored order.
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

    // Reads rows from `row` on into `pixels`; returns false on failure.
    bool read(int row, int width, int rows, std::vector<std::uint32_t>& pixels) {
        image_.row_offset = row;
        image_.width = static_cast<std::uint32_t>(width);  // limits how far it reads
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
        if (!opening) fail(ErrorCode::config, "no memory to open {}", path);
        TIFFOpenOptionsSetMaxSingleMemAlloc(opening.get(), most_bytes_at_once);
        TIFFOpenOptionsSetErrorHandlerExtR(opening.get(), take_error, this);
        TIFFOpenOptionsSetWarningHandlerExtR(opening.get(), take_warning, this);
        // Mode "m" disables memory mapping: a file that is truncated meanwhile would crash the process.
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
                log_warning("{}: page {} is {}; it is made {} like the first", info_.name, index_ + 1, to_string(shape),
                            to_string(info_.shape));
            HostImage other(shape);
            read_page(page, other.view());
            scale(std::as_const(other).view(), image);
        }
        const auto number = static_cast<std::int64_t>(index_++);
        time = {number, static_cast<double>(number) / info_.rate.value(), Clock::now()};
        return true;
    }

    /// Reason why the first page cannot be read; empty if it can.
    std::string obstacle() { return obstacle_of_page(); }
    bool is_cmyk() const { return field<std::uint16_t>(TIFFTAG_PHOTOMETRIC) == PHOTOMETRIC_SEPARATED; }
    bool is_tiled() const { return TIFFIsTiled(tiff_.get()); }

private:
    enum class Alpha { none, beside, within };  // within: colours are premultiplied by alpha

    // Properties of the current page.
    struct Page {
        Shape shape{};  // as stored
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

    // The first error since the last call.
    std::string complaint() {
        auto text = std::exchange(error_, {});
        return text.empty() ? "it is no TIFF that can be read" : text;
    }

    // Value of a tag, or libtiff's default.
    template <class Number>
    Number field(std::uint32_t tag) const {
        Number number = 0;
        TIFFGetFieldDefaulted(tiff_.get(), tag, &number);
        return number;
    }

    // Collects the directories that are pages; reduced copies and masks are not.
    void find_pages() {
        // Subfile types that are not pages: thumbnails and transparency masks.
        constexpr std::uint32_t no_page = FILETYPE_REDUCEDIMAGE | FILETYPE_MASK;
        do {
            if (!(field<std::uint32_t>(TIFFTAG_SUBFILETYPE) & no_page))
                pages_.push_back(TIFFCurrentDirOffset(tiff_.get()));
        } while (pages_.size() < most_pages && TIFFReadDirectory(tiff_.get()));
        // The end of the chain is not an error; a broken chain is.
        if (!error_.empty()) fail(ErrorCode::no_input, "{}: a directory of it is broken: {}", info_.name, complaint());
        // A file with reduced copies only: read the first one.
        if (pages_.empty()) {
            TIFFSetDirectory(tiff_.get(), 0);
            pages_.push_back(TIFFCurrentDirOffset(tiff_.get()));
        }
    }

    // Goes to a page and validates its size; throws Error with `code`.
    Page go_to(std::uint64_t page, ErrorCode code) {
        error_.clear();
        if (!TIFFSetSubDirectory(tiff_.get(), page)) fail(code, "{} is broken: {}", info_.name, complaint());
        const auto width = field<std::uint32_t>(TIFFTAG_IMAGEWIDTH), height = field<std::uint32_t>(TIFFTAG_IMAGELENGTH);
        if (width < 1 || height < 1 || width > static_cast<std::uint32_t>(max_side_px) ||
            height > static_cast<std::uint32_t>(max_side_px) || std::int64_t{width} * height > options_.max_pixels)
            fail(code, "{} is {}x{}; allowed are sides of up to {} pixels, {} pixels in all", info_.name, width, height,
                 max_side_px, options_.max_pixels);
        return {{1, static_cast<int>(height), static_cast<int>(width), is_gray_page() ? 1 : 3},
                orientation_of_exif(field<std::uint16_t>(TIFFTAG_ORIENTATION))};
    }

    // Kind of transparency. libtiff uses only the first extra sample.
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

    // Reason why the current page cannot be read correctly; empty if it can.
    std::string obstacle_of_page() {
        std::array<char, 1024> why{};
        if (!TIFFRGBAImageOK(tiff_.get(), why.data())) return why.data();
        const auto colours = field<std::uint16_t>(TIFFTAG_PHOTOMETRIC);
        // libtiff's conversions of other colour spaces are inexact.
        constexpr std::array<std::uint16_t, 6> exact{PHOTOMETRIC_MINISWHITE, PHOTOMETRIC_MINISBLACK,
                                                     PHOTOMETRIC_RGB,        PHOTOMETRIC_PALETTE,
                                                     PHOTOMETRIC_YCBCR,      PHOTOMETRIC_SEPARATED};
        if (std::ranges::find(exact, colours) == exact.end())
            return fmt::format("its colours are of kind {}; gray, RGB, palettes, YCbCr and CMYK are read", colours);
        // libtiff ignores the transparency of such pages.
        const auto bits = field<std::uint16_t>(TIFFTAG_BITSPERSAMPLE);
        if (is_gray_page() && alpha() != Alpha::none && bits != 8)
            return fmt::format("it is gray with transparency of {} bits a sample; 8 are read", bits);
        if (is_tiled()) {
            const auto width = field<std::uint32_t>(TIFFTAG_TILEWIDTH),
                       height = field<std::uint32_t>(TIFFTAG_TILELENGTH);
            if (width < 1 || height < 1 || width > static_cast<std::uint32_t>(max_side_px) ||
                height > static_cast<std::uint32_t>(max_side_px) || std::int64_t{width} * height > options_.max_pixels)
                return fmt::format("its tiles are {}x{}; allowed are sides of up to {} pixels, {} pixels in all", width,
                                   height, max_side_px, options_.max_pixels);
        }
        // Some unsupported formats fail only here, such as 16-bit CMYK.
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

    // Rounds 16-bit colour map entries to 8 bits: libtiff would truncate them.
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

    // Reads the current page as stored. libtiff composites transparency on black itself, except for gray pages, for
    // which put_row() does it.
    void read_stored(const Shape& shape, HostView<std::uint8_t> image) {
        if (const auto obstacle = obstacle_of_page(); !obstacle.empty())
            fail(ErrorCode::source_lost, "{}: page {} cannot be read: {}", info_.name, index_ + 1, obstacle);
        // Read whole tiles: libtiff computes a wrong row distance for parts of gray tiles.
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
                fail(ErrorCode::source_lost, "{}: page {} cannot be read: {}", info_.name, index_ + 1,
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
    std::vector<std::uint64_t> pages_;  // file offsets of their directories
    std::size_t index_ = 0;
    PictureConverter converter_;
    bool warned_ = false;
};

}  // namespace

bool is_tiff(const std::string& path) {
    using namespace std::string_view_literals;
    std::array<char, 4> head{};
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return false;  // reading from a pipe would consume the bytes
    std::ifstream file(path, std::ios::binary);
    if (!file.read(head.data(), head.size())) return false;
    const std::string_view text(head.data(), head.size());
    return text == "II*\0"sv || text == "MM\0*"sv || text == "II+\0"sv || text == "MM\0+"sv;
}

std::unique_ptr<Source> open_tiff_source(const std::string& path, const SourceOptions& options) {
    auto source = std::make_unique<TiffSource>(path, options);
    const auto why = source->obstacle();
    if (why.empty()) return source;
    // FFmpeg misinterprets 16-bit CMYK as RGB, so CMYK is not left to it.
    if (!source->is_tiled() && !source->is_cmyk() && source->info().frames == 1) return nullptr;
    fail(ErrorCode::no_input, "{} cannot be read: {}", path, why);
}

}  // namespace framewire
