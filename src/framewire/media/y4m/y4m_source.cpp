// Reads y4m. A frame's planes are read into a pooled buffer that serves as the native frame, so a sink with the same
// format writes them without conversion.

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameters/numbers.hpp"
#include "framewire/core/time/frame_rate.hpp"
#include "framewire/media/conversion/decoded_picture.hpp"
#include "framewire/media/files/input_file.hpp"
#include "framewire/media/names.hpp"
#include "framewire/media/sources/even_frames.hpp"
#include "framewire/media/sources/source_kind.hpp"
#include "framewire/media/y4m/y4m.hpp"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

namespace framewire {
namespace {

// Longest line of a stream: the header or a FRAME line.
constexpr std::size_t longest_line = 1024;

// Pixel format and chroma position for a value of the tag C.
struct Layout {
    std::string_view tag;
    AVPixelFormat format;
    AVChromaLocation chroma;
};

constexpr Layout layouts[] = {
    {"420", AV_PIX_FMT_YUV420P, AVCHROMA_LOC_CENTER},
    {"420jpeg", AV_PIX_FMT_YUV420P, AVCHROMA_LOC_CENTER},
    {"420mpeg2", AV_PIX_FMT_YUV420P, AVCHROMA_LOC_LEFT},
    {"420paldv", AV_PIX_FMT_YUV420P, AVCHROMA_LOC_TOPLEFT},
    {"422", AV_PIX_FMT_YUV422P, AVCHROMA_LOC_LEFT},
    {"444", AV_PIX_FMT_YUV444P, AVCHROMA_LOC_UNSPECIFIED},
    {"411", AV_PIX_FMT_YUV411P, AVCHROMA_LOC_LEFT},
    {"444alpha", AV_PIX_FMT_YUVA444P, AVCHROMA_LOC_UNSPECIFIED},
    {"mono", AV_PIX_FMT_GRAY8, AVCHROMA_LOC_UNSPECIFIED},
    // Two bytes per sample, little-endian.
    {"mono9", AV_PIX_FMT_GRAY9LE, AVCHROMA_LOC_UNSPECIFIED},
    {"mono10", AV_PIX_FMT_GRAY10LE, AVCHROMA_LOC_UNSPECIFIED},
    {"mono12", AV_PIX_FMT_GRAY12LE, AVCHROMA_LOC_UNSPECIFIED},
    {"mono16", AV_PIX_FMT_GRAY16LE, AVCHROMA_LOC_UNSPECIFIED},
    {"420p9", AV_PIX_FMT_YUV420P9LE, AVCHROMA_LOC_LEFT},
    {"422p9", AV_PIX_FMT_YUV422P9LE, AVCHROMA_LOC_LEFT},
    {"444p9", AV_PIX_FMT_YUV444P9LE, AVCHROMA_LOC_UNSPECIFIED},
    {"420p10", AV_PIX_FMT_YUV420P10LE, AVCHROMA_LOC_LEFT},
    {"422p10", AV_PIX_FMT_YUV422P10LE, AVCHROMA_LOC_LEFT},
    {"444p10", AV_PIX_FMT_YUV444P10LE, AVCHROMA_LOC_UNSPECIFIED},
    {"420p12", AV_PIX_FMT_YUV420P12LE, AVCHROMA_LOC_LEFT},
    {"422p12", AV_PIX_FMT_YUV422P12LE, AVCHROMA_LOC_LEFT},
    {"444p12", AV_PIX_FMT_YUV444P12LE, AVCHROMA_LOC_UNSPECIFIED},
    {"420p14", AV_PIX_FMT_YUV420P14LE, AVCHROMA_LOC_LEFT},
    {"422p14", AV_PIX_FMT_YUV422P14LE, AVCHROMA_LOC_LEFT},
    {"444p14", AV_PIX_FMT_YUV444P14LE, AVCHROMA_LOC_UNSPECIFIED},
    {"420p16", AV_PIX_FMT_YUV420P16LE, AVCHROMA_LOC_LEFT},
    {"422p16", AV_PIX_FMT_YUV422P16LE, AVCHROMA_LOC_LEFT},
    {"444p16", AV_PIX_FMT_YUV444P16LE, AVCHROMA_LOC_UNSPECIFIED},
};

// Layout for the tag C, or for FFmpeg's extension XYSCSS in upper case, which newer programs write in addition and
// older ones instead.
const Layout& layout_named(std::string_view tag, std::string_view name) {
    const auto lower = lower_case(tag);
    for (const auto& known : layouts)
        if (known.tag == lower) return known;
    fail(ErrorCode::no_input,
         "{}: y4m of colour space {} is not read; 420, 420jpeg, 420mpeg2, 420paldv, 411, 422, 444, 444alpha and mono "
         "are, "
         "and 420p10, mono10 and their like of 9 to 16 bits",
         name, tag);
}

int bits_of(AVPixelFormat format) { return av_pix_fmt_desc_get(format)->comp[0].depth; }

// Parses "30000:1001" or "30". Returns 0:0 for unknown, also if the text is not a ratio.
Rational y4m_ratio(std::string_view text) {
    const auto colon = text.find(':');
    const auto numerator = number_in<std::int64_t>(text.substr(0, colon));
    const auto denominator = colon == std::string_view::npos ? 1 : number_in<std::int64_t>(text.substr(colon + 1));
    return {numerator.value_or(0), denominator.value_or(0)};
}

// Reads a line without its line end; nullopt at the end of the file. Throws Error{no_input} if the line is too long.
std::optional<std::string> read_line(InputFile& file) {
    std::string line;
    for (int byte = file.get(); byte != '\n'; byte = file.get()) {
        if (byte < 0) {
            if (line.empty()) return std::nullopt;
            return line;
        }
        if (line.size() == longest_line)
            fail(ErrorCode::no_input, "{} is no y4m: a line is longer than {} bytes", file.name(), longest_line);
        line += static_cast<char>(byte);
    }
    return line;
}

// Source of a y4m stream from a file, a pipe or standard input.
class Y4mSource final : public Source {
public:
    Y4mSource(const std::string& path, const SourceOptions& options) : file_(path, options.stop) {
        const auto line = read_line(file_);
        if (!line) fail(ErrorCode::no_input, "{} is empty; y4m is needed", file_.name());
        header_ = parse_y4m_header(*line, file_.name(), options.max_pixels);
        if (options.matrix) header_.coding.matrix = *options.matrix;
        if (options.full_range) header_.coding.full_range = *options.full_range;
        header_.matrix_assumed = header_.matrix_assumed && !options.matrix;
        header_.range_assumed = header_.range_assumed && !options.full_range;
        info_.name = path;
        const bool mono = is_gray(header_.format);
        info_.shape = {1, header_.height, header_.width, mono ? 1 : 3};
        info_.rate = header_.rate;
        // The frame count assumes FRAME lines without parameters, as all writers produce them.
        const auto pictures_bytes = file_.length_bytes() - static_cast<std::int64_t>(line->size()) - 1;
        if (file_.length_bytes() >= 0 && pictures_bytes % frame_bytes() == 0)
            info_.frames = pictures_bytes / frame_bytes();
        if (header_.matrix_assumed || header_.range_assumed)
            log_debug("{}: its tags leave open what its colours mean; taken as {}", file_.name(),
                      to_string(header_.coding));
        if (const auto picture = yuv_info(*described_frame(), header_.coding); picture && !mono) {
            info_.facts = {.coding = picture->coding, .sampling = picture->format.chroma, .siting = picture->siting};
            info_.has_own_pictures = true;
        }
        info_.facts.pixel_aspect = header_.pixel_aspect;
        if (const int bits = bits_of(header_.format); bits > 8)
            log_info("{}: its pictures have {} bits a sample; 8 of them are worked with", file_.name(), bits);
        // Encoders may read one vector beyond the end.
        constexpr std::size_t further_bytes = 64;
        pool_.reset(av_buffer_pool_init(static_cast<std::size_t>(header_.picture_bytes()) + further_bytes, nullptr));
        if (!pool_) fail(ErrorCode::config, "no memory to read {}", file_.name());
    }

    const SourceInfo& info() const override { return info_; }

    bool read(HostView<std::uint8_t> image, FrameTime& time) override { return read_frame(image, time, true); }
    bool read_own(HostView<std::uint8_t> image, FrameTime& time) override { return read_frame(image, time, false); }

    std::shared_ptr<const OwnPicture> own_picture() const override { return own_; }

    bool seek(double seconds) override {
        if (!info_.frames) return false;
        const auto frame = even_frame_at(seconds, info_.rate, *info_.frames);
        // Frames have equal sizes, so their positions are computed from the end.
        const auto from = file_.position_bytes(), to = file_.length_bytes() - (*info_.frames - frame) * frame_bytes();
        if (!file_.go_to(to)) return false;
        // If FRAME lines have parameters, the frame count was a coincidence: check that a frame starts here.
        const auto line = read_line(file_);
        const bool is_there = line ? *line == "FRAME" : frame == *info_.frames;
        file_.go_to(is_there ? to : from);
        if (is_there) index_ = frame;
        return is_there;
    }

private:
    // Size of a frame whose FRAME line has no parameters.
    std::int64_t frame_bytes() const { return header_.picture_bytes() + 6; }

    // Reads a frame into a buffer from the pool, from which the image is converted unless only the native frame is
    // wanted.
    bool read_frame(HostView<std::uint8_t> image, FrameTime& time, bool with_image) {
        validate(image, info_.shape, "the image to read into");
        const auto line = read_line(file_);
        if (file_.stopped() || !line) return false;
        if (*line != "FRAME" && !line->starts_with("FRAME "))
            fail(ErrorCode::source_lost, "{}: broken after frame {}: a FRAME line is missing", file_.name(), index_);
        auto frame = new_frame();
        const auto wanted = static_cast<std::size_t>(header_.picture_bytes());
        const auto got = file_.read(frame->data[0], wanted);
        if (file_.stopped()) return false;
        if (got < wanted)
            fail(ErrorCode::source_lost, "{}: cut off in frame {}: {} of its {} bytes are there", file_.name(), index_,
                 got, wanted);
        time = {index_, even_time(index_, info_.rate), Clock::now()};
        if (with_image || !info_.has_own_pictures) converter_.to_image(*frame, header_.coding, image);
        if (info_.has_own_pictures) own_ = std::make_shared<const DecodedPicture>(std::move(frame), header_.coding);
        ++index_;
        return true;
    }

    // A frame with the header's format, without memory.
    FramePointer described_frame() const {
        auto frame = make_frame();
        frame->format = header_.format;
        frame->width = header_.width;
        frame->height = header_.height;
        frame->chroma_location = header_.chroma;
        tag(*frame, header_.coding);
        return frame;
    }

    // A frame with pooled memory for its planes, which are contiguous as in the file.
    FramePointer new_frame() const {
        auto frame = described_frame();
        frame->buf[0] = av_buffer_pool_get(pool_.get());
        if (!frame->buf[0]) fail(ErrorCode::config, "no memory for a picture of {}", file_.name());
        frame->data[0] = frame->buf[0]->data;
        av_image_fill_arrays(frame->data, frame->linesize, frame->buf[0]->data, header_.format, header_.width,
                             header_.height, 1);
        return frame;
    }

    // Deleter for a buffer pool.
    struct FreePool {
        void operator()(AVBufferPool* pool) const noexcept { av_buffer_pool_uninit(&pool); }
    };

    InputFile file_;
    Y4mHeader header_;
    SourceInfo info_;
    std::unique_ptr<AVBufferPool, FreePool> pool_;  // frame buffers outlive the pool
    std::shared_ptr<const DecodedPicture> own_;
    PictureConverter converter_;
    std::int64_t index_ = 0;
};

}  // namespace

// Chroma planes are rounded up for odd sizes; samples of more than 8 bits take two bytes.
std::int64_t Y4mHeader::picture_bytes() const {
    const auto& descriptor = *av_pix_fmt_desc_get(format);
    std::int64_t samples = 0;
    for (int plane = 0; plane < descriptor.nb_components; ++plane) {
        const bool subsampled = plane == 1 || plane == 2;
        samples += std::int64_t{AV_CEIL_RSHIFT(width, subsampled ? descriptor.log2_chroma_w : 0)} *
                   AV_CEIL_RSHIFT(height, subsampled ? descriptor.log2_chroma_h : 0);
    }
    return samples * (descriptor.comp[0].depth > 8 ? 2 : 1);
}

Y4mHeader parse_y4m_header(std::string_view line, std::string_view name, std::int64_t max_pixels) {
    constexpr std::string_view magic = "YUV4MPEG2";
    if (!line.starts_with(magic)) fail(ErrorCode::no_input, "{} is no y4m: it does not begin with {}", name, magic);
    line.remove_prefix(magic.size());

    Y4mHeader header;
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::optional<bool> full_range;
    // Tag C decides; XYSCSS is used only without it.
    const Layout* layout = nullptr;
    const Layout* other_layout = &layouts[0];  // if there is no tag C
    while (!line.empty()) {
        const auto end = line.find(' ');
        const auto token = line.substr(0, end);
        line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
        if (token.empty()) continue;
        const auto value = token.substr(1);
        switch (token.front()) {
            case 'W': width = number_in<std::int64_t>(value).value_or(0); break;
            case 'H': height = number_in<std::int64_t>(value).value_or(0); break;
            case 'F': {
                const auto [numerator, denominator] = y4m_ratio(value);
                header.rate = claimed_rate(numerator, denominator).value_or(header.rate);
                break;
            }
            case 'A': {
                constexpr std::int64_t largest = 65535;
                const auto ratio = y4m_ratio(value);
                if (std::min(ratio.numerator, ratio.denominator) > 0 &&
                    std::max(ratio.numerator, ratio.denominator) <= largest)
                    header.pixel_aspect = ratio;
                break;
            }
            case 'C': layout = &layout_named(value, name); break;
            case 'X':
                if (value == "COLORRANGE=FULL") full_range = true;
                if (value == "COLORRANGE=LIMITED") full_range = false;
                if (value.starts_with("YSCSS=")) other_layout = &layout_named(value.substr(6), name);
                break;
            default: break;  // interlacing does not change the bytes
        }
    }
    if (width < 1 || width > max_side_px || height < 1 || height > max_side_px || width * height > max_pixels)
        fail(ErrorCode::no_input, "{}: y4m of {}x{} is not read; allowed are sides of 1 to {} pixels, {} pixels in all",
             name, width, height, max_side_px, max_pixels);
    header.width = static_cast<int>(width);
    header.height = static_cast<int>(height);
    if (!layout) layout = other_layout;
    header.format = layout->format;
    header.chroma = layout->chroma;
    // y4m has no tag for the matrix, and its range tag is optional.
    header.coding = assumed_coding(header.height);
    const bool mono = is_gray(layout->format);
    header.coding.full_range = full_range.value_or(mono);
    header.matrix_assumed = !mono;
    header.range_assumed = !full_range && !mono;
    return header;
}

std::unique_ptr<Source> open_y4m_source(const std::string& path, const SourceOptions& options) {
    return std::make_unique<Y4mSource>(path, options);
}

namespace {

// Opens a path for both kinds of sources below.
std::unique_ptr<Source> open_y4m(const SourceCall& call, const SourceOptions& options) {
    return open_y4m_source(call.path, options);
}

}  // namespace

// The table entry for `-`.
SourceKind standard_input_source() {
    return {.name = "stdin",
            .form = "-",
            .summary = "y4m on standard input",
            .examples = {"-"},
            .has_path = true,
            .matches = [](const std::string& text) { return text == "-"; },
            .open = open_y4m,
            .reads = reads_path};
}

// The table entry for y4m files and named pipes.
SourceKind y4m_source() {
    return {.name = "y4m",
            .form = "PATH",
            .summary = "y4m, and whatever comes through a named pipe",
            .endings = {".y4m"},
            .examples = {"clip.y4m"},
            .has_path = true,
            .named_by_path = true,
            .must_exist = true,
            // A named pipe is read like standard input: FFmpeg would block on it without noticing a stop request.
            .matches =
                [](const std::string& path) {
                    std::error_code error;
                    return std::filesystem::is_fifo(path, error);
                },
            .open = open_y4m,
            .reads = reads_path};
}

}  // namespace framewire
