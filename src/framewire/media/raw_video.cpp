#include "framewire/media/raw_video.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/time.hpp"
#include "framewire/media/conversion.hpp"
#include "framewire/media/files.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/output_file.hpp"
#include "framewire/media/sinks.hpp"
#include "framewire/media/sources.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// Writes y4m: a header line, then per frame the line "FRAME" and the planes without padding. The header declares
// subsampling, chroma position and range, with the tags that FFmpeg reads.

namespace framewire {
namespace {

constexpr std::string_view frame_line = "FRAME\n";

// Returns FFmpeg's planar 8-bit format for a subsampling.
AVPixelFormat y4m_pixels(ChromaSampling sampling) {
    switch (sampling) {
        case ChromaSampling::none: return AV_PIX_FMT_GRAY8;
        case ChromaSampling::s420: return AV_PIX_FMT_YUV420P;
        case ChromaSampling::s422: return AV_PIX_FMT_YUV422P;
        case ChromaSampling::s444: break;
    }
    return AV_PIX_FMT_YUV444P;
}

// Returns the subsampling that `pixels` requests.
std::optional<ChromaSampling> asked_sampling(const ParameterValues& values) {
    if (!values.has("pixels")) return std::nullopt;
    const auto& name = values.text("pixels");
    return name == "yuv420p" ? ChromaSampling::s420 : name == "yuv422p" ? ChromaSampling::s422 : ChromaSampling::s444;
}

// Returns the format of the output: subsampling and range of the medium, or 4:4:4 full range without a medium, which
// preserves BGR best. The matrix is the one that readers assume, because y4m has no tag for it.
YuvInfo written_as(const SinkCall& call, const Shape& frame, const PictureFacts& facts) {
    YuvInfo info{yuv_gray, {assumed_coding(frame.height).matrix, true}, {}, 1, frame.height, frame.width};
    if (frame.channels == 1) return info;
    info.format.chroma =
        asked_sampling(call.values).value_or(facts.format ? facts.format->chroma : ChromaSampling::s444);
    if (facts.format && facts.coding) info.coding.full_range = facts.coding->full_range;
    if (call.values.has("range")) info.coding.full_range = call.values.text("range") == "full";
    // y4m has no tag for the chroma position of 4:2:2, nor for chroma on the upper row between two columns.
    const bool has_tag = info.format.chroma == ChromaSampling::s420 && facts.siting != ChromaSiting{true, false};
    info.siting = has_tag ? facts.siting : siting_left;
    return info;
}

// Returns the value of the tag C, or of FFmpeg's extension XYSCSS.
std::string_view chroma_tag(const YuvInfo& info) {
    switch (info.format.chroma) {
        case ChromaSampling::none: return "Cmono";
        case ChromaSampling::s420:
            return info.siting == siting_centre     ? "C420jpeg XYSCSS=420JPEG"
                   : info.siting == siting_top_left ? "C420paldv XYSCSS=420PALDV"
                                                    : "C420mpeg2 XYSCSS=420MPEG2";
        case ChromaSampling::s422: return "C422 XYSCSS=422";
        case ChromaSampling::s444: break;
    }
    return "C444 XYSCSS=444";
}

// Sink that writes each frame with a single write() where possible.
class Y4mSink final : public Sink {
public:
    Y4mSink(const SinkCall& call, const Shape& frame, Rational rate, const SinkOptions& options)
        : file_(call.path, options.file_options()),
          shape_(frame),
          rate_(rate),
          info_(written_as(call, frame, options.facts)),
          bytes_(frame_line.size() + static_cast<std::size_t>(info_.frame_bytes())) {
        std::memcpy(bytes_.data(), frame_line.data(), frame_line.size());
        lay_out_frame();
        const auto aspect = options.facts.pixel_aspect;
        const auto header = fmt::format("YUV4MPEG2 W{} H{} F{}:{} Ip A{}:{} {} XCOLORRANGE={}\n", frame.width,
                                        frame.height, rate.numerator, rate.denominator, aspect.numerator,
                                        aspect.denominator, chroma_tag(info_), range_tag());
        file_.write(header.data(), header.size());
    }

    void write(HostView<const std::uint8_t> image, const FrameTime& time) override {
        validate(image, shape_, "the frame to write");
        converter_.to_frame(image, *frame_);
        put(time);
    }

    bool write_own(const NativeFrame& own, const FrameTime& time) override {
        const auto* picture = dynamic_cast<const DecodedPicture*>(&own);
        if (!picture || !takes(picture->frame())) return false;
        std::string assumed;
        put_planes(*planes_of(picture->frame(), coding_of(picture->frame(), assumed)), time);
        return true;
    }

    std::optional<YuvInfo> planes() const override { return planes_made_for(*frame_); }
    void write_planes(const std::shared_ptr<const YuvPicture>& picture, const FrameTime& time) override {
        put_planes(picture->view(), time);
    }

    void finish(Ending ending) override { file_.finish(ending); }
    std::int64_t bytes() const override { return file_.bytes(); }

private:
    const char* range_tag() const { return info_.coding.full_range ? "FULL" : "LIMITED"; }

    // Makes frame_ a view of bytes_: contiguous planes after the FRAME line.
    void lay_out_frame() {
        frame_->format = y4m_pixels(info_.format.chroma);
        frame_->width = info_.width;
        frame_->height = info_.height;
        frame_->chroma_location = info_.siting == siting_centre     ? AVCHROMA_LOC_CENTER
                                  : info_.siting == siting_top_left ? AVCHROMA_LOC_TOPLEFT
                                                                    : AVCHROMA_LOC_LEFT;
        tag(*frame_, info_.coding);
        auto* at = bytes_.data() + frame_line.size();
        for (int plane = 0; plane < info_.planes(); ++plane) {
            frame_->data[plane] = at;
            frame_->linesize[plane] = static_cast<int>(info_.plane_row_bytes(plane));
            at += info_.plane_bytes(plane);
        }
    }

    // Returns true if a picture has the output's format; strides may differ.
    bool takes(const AVFrame& picture) const {
        std::string assumed;
        auto other = yuv_info(picture, coding_of(picture, assumed));
        // 4:4:4 has no chroma position: ignore it.
        if (other && other->format.chroma == ChromaSampling::s444) other->siting = info_.siting;
        if (other != info_) return false;
        for (int plane = 0; plane < info_.planes(); ++plane)
            if (picture.linesize[plane] < info_.plane_row_bytes(plane)) return false;
        return true;
    }

    // Writes the frame in bytes_.
    void put(const FrameTime& time) {
        uneven_.look_at(time, rate_.value(), file_.name());
        file_.write(bytes_.data(), frame_line.size() + static_cast<std::size_t>(info_.frame_bytes()));
        file_.mark_whole();
    }

    // Writes planes in the output's format, whether or not they are contiguous in memory.
    void put_planes(const HostYuv<const std::uint8_t>& picture, const FrameTime& time) {
        bool without_gaps = true;
        for (int plane = 0; plane < info_.planes(); ++plane)
            without_gaps &= stride_of(picture, plane) == info_.plane_row_bytes(plane);
        if (!without_gaps) {
            copy_planes(picture);
            return put(time);
        }
        uneven_.look_at(time, rate_.value(), file_.name());
        file_.write(frame_line.data(), frame_line.size());
        for (int plane = 0; plane < info_.planes(); ++plane)
            file_.write(picture.planes[static_cast<std::size_t>(plane)].data,
                        static_cast<std::size_t>(info_.plane_bytes(plane)));
        file_.mark_whole();
    }

    // Copies planes with padded rows into bytes_.
    void copy_planes(const HostYuv<const std::uint8_t>& picture) {
        for (int plane = 0; plane < info_.planes(); ++plane)
            for (int y = 0; y < info_.plane_rows(plane); ++y)
                std::memcpy(frame_->data[plane] + y * info_.plane_row_bytes(plane),
                            picture.planes[static_cast<std::size_t>(plane)].row(0, y),
                            static_cast<std::size_t>(info_.plane_row_bytes(plane)));
    }

    static std::int64_t stride_of(const HostYuv<const std::uint8_t>& picture, int plane) {
        return picture.planes[static_cast<std::size_t>(plane)].row_stride_bytes;
    }

    OutputFile file_;
    Shape shape_;
    Rational rate_;
    UnevenTimes uneven_;
    YuvInfo info_;
    HostBuffer bytes_;                   // frame in the form in which it is written
    FramePointer frame_ = make_frame();  // view of bytes_
    PictureConverter converter_;
};

}  // namespace

std::vector<ParameterInfo> y4m_sink_parameters() {
    using Type = ParameterInfo::Type;
    return {{.name = "pixels",
             .help = "chroma format of colour frames; default: the source's, or yuv444p",
             .type = Type::choice,
             .choices = {"yuv420p", "yuv422p", "yuv444p"},
             .optional = true},
            {.name = "range",
             .help = "range of colour values; default: the source's, or full",
             .type = Type::choice,
             .choices = {"limited", "full"},
             .optional = true}};
}

std::unique_ptr<Sink> open_y4m_sink(const SinkCall& call, const Shape& frame, Rational rate,
                                    const SinkOptions& options) {
    return std::make_unique<Y4mSink>(call, frame, rate, options);
}

}  // namespace framewire

// Reads y4m. The planes of a frame are read into a pooled buffer that serves as the native frame, so a sink with the
// same format writes them without conversion.

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
    // Formats with two bytes per sample, little-endian.
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

// Returns the layout for the tag C, or for FFmpeg's extension XYSCSS in upper case, which newer programs write in
// addition to C and older ones instead of it.
const Layout& layout_named(std::string_view tag, std::string_view name) {
    const auto lower = lower_case(tag);
    for (const auto& known : layouts)
        if (known.tag == lower) return known;
    fail(ErrorCode::no_input,
         "{}: y4m of colour space {} is not supported; supported: 420, 420jpeg, 420mpeg2, 420paldv, 411, 422, 444, "
         "444alpha, mono, and variants of 9 to 16 bits such as 420p10 and mono10",
         name, tag);
}

int bits_of(AVPixelFormat format) { return av_pix_fmt_desc_get(format)->comp[0].depth; }

// Parses "30000:1001" or "30". Returns 0:0, which means unknown, also if the text is not a ratio.
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
            fail(ErrorCode::no_input, "{} is not y4m: a line is longer than {} bytes", file.name(), longest_line);
        line += static_cast<char>(byte);
    }
    return line;
}

// Source of a y4m stream from a file, a pipe or standard input.
class Y4mSource final : public Source {
public:
    Y4mSource(const std::string& path, const SourceOptions& options) : file_(path, options.stop) {
        const auto line = read_line(file_);
        if (!line) fail(ErrorCode::no_input, "{} is empty; expected y4m", file_.name());
        header_ = parse_y4m_header(*line, file_.name(), options.max_pixels);
        if (options.matrix) header_.coding.matrix = *options.matrix;
        if (options.full_range) header_.coding.full_range = *options.full_range;
        header_.matrix_assumed = header_.matrix_assumed && !options.matrix;
        header_.range_assumed = header_.range_assumed && !options.full_range;
        info_.name = path;
        const bool mono = is_gray(header_.format);
        info_.shape = {1, header_.height, header_.width, mono ? 1 : 3};
        info_.rate = header_.rate;
        // The frame count assumes FRAME lines without parameters, which is what all writers produce.
        const auto pictures_bytes = file_.length_bytes() - static_cast<std::int64_t>(line->size()) - 1;
        if (file_.length_bytes() >= 0 && pictures_bytes % frame_bytes() == 0)
            info_.frames = pictures_bytes / frame_bytes();
        if (header_.matrix_assumed || header_.range_assumed)
            log_debug("{}: its colour tags are incomplete; read as {}", file_.name(), to_string(header_.coding));
        if (const auto picture = yuv_info(*described_frame(), header_.coding); picture && !mono) {
            info_.facts = {.coding = picture->coding, .format = picture->format, .siting = picture->siting};
            info_.has_native_frames = true;
        }
        info_.facts.pixel_aspect = header_.pixel_aspect;
        if (const int bits = bits_of(header_.format); bits > 8)
            log_info("{}: its frames have {} bits per sample; reduced to 8", file_.name(), bits);
        // Encoders may read one vector beyond the end.
        constexpr std::size_t further_bytes = 64;
        pool_.reset(av_buffer_pool_init(static_cast<std::size_t>(header_.picture_bytes()) + further_bytes, nullptr));
        if (!pool_) fail(ErrorCode::config, "not enough memory to read {}", file_.name());
    }

    const SourceInfo& info() const override { return info_; }

    bool read(HostView<std::uint8_t> image, FrameTime& time) override { return read_frame(image, time, true); }
    bool read_own(HostView<std::uint8_t> image, FrameTime& time) override { return read_frame(image, time, false); }

    std::shared_ptr<const NativeFrame> native_frame() const override { return own_; }

    bool seek(double seconds) override {
        if (!info_.frames) return false;
        const auto frame = even_frame_at(seconds, info_.rate, *info_.frames);
        // Frames have equal sizes, so compute the position from the end.
        const auto from = file_.position_bytes(), to = file_.length_bytes() - (*info_.frames - frame) * frame_bytes();
        if (!file_.go_to(to)) return false;
        // If FRAME lines have parameters, the frame count was a coincidence: check that a frame really starts here.
        const auto line = read_line(file_);
        const bool is_there = line ? *line == "FRAME" : frame == *info_.frames;
        file_.go_to(is_there ? to : from);
        if (is_there) index_ = frame;
        return is_there;
    }

private:
    // Returns the size of a frame whose FRAME line has no parameters.
    std::int64_t frame_bytes() const { return header_.picture_bytes() + 6; }

    // Reads a frame into a buffer from the pool and converts it to the image, unless only the native frame is wanted.
    bool read_frame(HostView<std::uint8_t> image, FrameTime& time, bool with_image) {
        validate(image, info_.shape, "the image to read into");
        const auto line = read_line(file_);
        if (file_.stopped() || !line) return false;
        if (*line != "FRAME" && !line->starts_with("FRAME "))
            fail(ErrorCode::source_lost, "{}: damaged after frame {}: a FRAME line is missing", file_.name(), index_);
        auto frame = new_frame();
        const auto wanted = static_cast<std::size_t>(header_.picture_bytes());
        const auto got = file_.read(frame->data[0], wanted);
        if (file_.stopped()) return false;
        if (got < wanted)
            fail(ErrorCode::source_lost, "{}: truncated in frame {}: it has {} of {} bytes", file_.name(), index_, got,
                 wanted);
        time = {index_, even_time(index_, info_.rate), Clock::now()};
        if (with_image || !info_.has_native_frames) converter_.to_image(*frame, header_.coding, image);
        if (info_.has_native_frames) own_ = std::make_shared<const DecodedPicture>(std::move(frame), header_.coding);
        ++index_;
        return true;
    }

    // Returns a frame with the header's format but without memory.
    FramePointer described_frame() const {
        auto frame = make_frame();
        frame->format = header_.format;
        frame->width = header_.width;
        frame->height = header_.height;
        frame->chroma_location = header_.chroma;
        tag(*frame, header_.coding);
        return frame;
    }

    // Returns a frame with pooled memory for its planes, which are contiguous as in the file.
    FramePointer new_frame() const {
        auto frame = described_frame();
        frame->buf[0] = av_buffer_pool_get(pool_.get());
        if (!frame->buf[0]) fail(ErrorCode::config, "not enough memory for a picture of {}", file_.name());
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

// Returns the size of a picture: chroma planes are rounded up for odd sizes, and samples of more than 8 bits take two
// bytes.
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
    if (!line.starts_with(magic)) fail(ErrorCode::no_input, "{} is not y4m: it does not begin with {}", name, magic);
    line.remove_prefix(magic.size());

    Y4mHeader header;
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::optional<bool> full_range;
    // Tag C takes precedence; XYSCSS is used only without it.
    const Layout* layout = nullptr;
    const Layout* other_layout = &layouts[0];  // default if there is no tag C
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
        fail(ErrorCode::no_input,
             "{}: y4m of {}x{} is not supported; allowed: sides of 1 to {} pixels, {} pixels in total", name, width,
             height, max_side_px, max_pixels);
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

// Returns the table entry for `-`.
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

// Returns the table entry for y4m files and named pipes.
SourceKind y4m_source() {
    return {.name = "y4m",
            .form = "PATH",
            .summary = "a y4m file or a named pipe",
            .endings = {".y4m"},
            .examples = {"clip.y4m"},
            .has_path = true,
            .named_by_path = true,
            .must_exist = true,
            // A named pipe is read like standard input, because FFmpeg would block on it without noticing a stop
            // request.
            .matches =
                [](const std::string& path) {
                    std::error_code error;
                    return std::filesystem::is_fifo(path, error);
                },
            .open = open_y4m,
            .reads = reads_path};
}

}  // namespace framewire

// Reads and writes frames without a header.

namespace framewire {
namespace {

// Reports a truncated frame. A raw file has no structure, so missing bytes are always at its end.
[[noreturn]] void fail_cut_off(const std::string& source, std::int64_t frame, std::int64_t got_bytes,
                               std::int64_t bytes) {
    fail(ErrorCode::source_lost, "{}: truncated in frame {}: it has {} of {} bytes", source, frame, got_bytes, bytes);
}

// Source of frames without a header. The frame count is known only if the file consists of whole frames.
class RawSource final : public Source {
public:
    RawSource(const std::string& path, SourceInfo info, const SourceOptions& options)
        : file_(path, options.stop), info_(std::move(info)) {
        if (const auto length = file_.length_bytes(); length >= 0 && length % info_.shape.bytes() == 0)
            info_.frames = length / info_.shape.bytes();
    }

    const SourceInfo& info() const override { return info_; }

    bool read(HostView<std::uint8_t> image, FrameTime& time) override {
        validate(image, info_.shape, "the image to read into");
        const auto& shape = info_.shape;
        const auto row_bytes = static_cast<std::size_t>(shape.row_bytes());
        std::size_t got = 0;
        if (image.dense_rows()) {
            got = file_.read(image.data(), static_cast<std::size_t>(shape.bytes()));
        } else {
            for (int y = 0; y < shape.height; ++y) got += file_.read(image.row(0, y), row_bytes);
        }
        if (file_.stopped() || got == 0) return false;
        if (got < static_cast<std::size_t>(shape.bytes()))
            fail_cut_off(info_.name, index_, static_cast<std::int64_t>(got), shape.bytes());
        count(time);
        return true;
    }

    bool seek(double seconds) override {
        if (!info_.frames) return false;
        const auto frame = even_frame_at(seconds, info_.rate, *info_.frames);
        if (!file_.go_to(frame * info_.shape.bytes())) return false;
        index_ = frame;
        return true;
    }

private:
    void count(FrameTime& time) {
        time = {index_, even_time(index_, info_.rate), Clock::now()};
        ++index_;
    }

    InputFile file_;
    SourceInfo info_;
    std::int64_t index_ = 0;
};

// Sink for frames without a header.
class RawSink final : public Sink {
public:
    RawSink(const std::string& path, const Shape& frame, int channels, const SinkOptions& options)
        : file_(path, options.file_options()),
          shape_(frame),
          replicate_(channels != frame.channels),
          row_(replicate_ ? static_cast<std::size_t>(frame.width) * 3 : 0) {}

    void write(HostView<const std::uint8_t> image, const FrameTime&) override {
        validate(image, shape_, "the frame to write");
        write_pixels(image);
        file_.mark_whole();
    }

    void finish(Ending ending) override { file_.finish(ending); }
    std::int64_t bytes() const override { return file_.bytes(); }

private:
    std::size_t frame_bytes() const { return static_cast<std::size_t>(shape_.bytes()); }

    // Writes a frame; for BGR, gray values are written three times.
    void write_pixels(HostView<const std::uint8_t> image) {
        if (!replicate_ && image.dense_rows()) {
            file_.write(image.data(), frame_bytes());
            return;
        }
        for (int y = 0; y < shape_.height; ++y) {
            const auto* from = image.row(0, y);
            if (!replicate_) {
                file_.write(from, static_cast<std::size_t>(shape_.row_bytes()));
                continue;
            }
            for (std::size_t byte = 0; byte < row_.size(); ++byte) row_[byte] = from[byte / 3];
            file_.write(row_.data(), row_.size());
        }
    }

    OutputFile file_;
    Shape shape_;
    bool replicate_;
    std::vector<std::uint8_t> row_;
};

// Opens a raw file. Size, format and rate come from the parameters, because the file has no header.
std::unique_ptr<Source> open_raw_source(const SourceCall& call, const SourceOptions& options) {
    const auto& values = call.values;
    if (call.path.empty()) fail(ErrorCode::usage, "{} has no path; expected {}", call.text, call.kind->form);
    const auto [width, height] = values.size("size");
    const std::string format = values.has("format")           ? values.text("format")
                               : call.path.ends_with(".gray") ? "gray"
                                                              : "bgr";
    SourceInfo info;
    info.name = call.text;
    info.shape = {1, height, width, format == "gray" ? 1 : 3};
    info.rate = values.is_given("fps") ? values.rate("fps") : options.rate.value_or(values.rate("fps"));
    if (std::int64_t{width} * height > options.max_pixels)
        fail(ErrorCode::usage, "raw: frames of {}x{} exceed the limit of {} pixels", width, height, options.max_pixels);
    return std::make_unique<RawSource>(call.path, std::move(info), options);
}

}  // namespace

// Returns the table entry for raw files.
SourceKind raw_source() {
    using Type = ParameterInfo::Type;
    return {
        .name = "raw",
        .form = "raw:PATH:size=WxH:format=bgr|gray:fps=30",
        .summary = "bytes without a header",
        .prefix = "raw:",
        .parameters =
            {{.name = "size", .help = "frame size", .type = Type::size, .minimum = 1, .maximum = max_side_px},
             {.name = "format",
              .help =
                  "three bytes per pixel (bgr) or one (gray); default: gray if the path ends in .gray, otherwise bgr",
              .type = Type::choice,
              .choices = {"bgr", "gray"},
              .optional = true},
             {.name = "fps", .help = "frame rate", .type = Type::rate, .default_value = "30"}},
        .examples = {"raw:frames.bgr:size=640x480:fps=25"},
        .has_path = true,
        .open = open_raw_source,
        .reads = reads_path};
}

// Opens the sink. Rejects BGR frames for a gray format, because the user must choose how to convert them.
std::unique_ptr<Sink> open_raw_sink(const std::string& path, int channels, const Shape& frame,
                                    const SinkOptions& options) {
    if (channels < frame.channels)
        fail(ErrorCode::usage, "{} takes gray frames, but these are BGR; add the filter gray=channels=1", path);
    return std::make_unique<RawSink>(path, frame, channels, options);
}

}  // namespace framewire
