// Writes y4m: a header line, then per frame the line "FRAME" and the planes without padding. The header declares
// subsampling, chroma position and range, as FFmpeg reads them.

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/media/conversion/decoded_picture.hpp"
#include "framewire/media/files/output_file.hpp"
#include "framewire/media/sinks/uneven_times.hpp"
#include "framewire/media/y4m/y4m.hpp"

#include <cstring>

namespace framewire {
namespace {

constexpr std::string_view frame_line = "FRAME\n";

// FFmpeg's planar 8-bit format for a subsampling.
AVPixelFormat y4m_pixels(ChromaSampling sampling) {
    switch (sampling) {
        case ChromaSampling::none: return AV_PIX_FMT_GRAY8;
        case ChromaSampling::s420: return AV_PIX_FMT_YUV420P;
        case ChromaSampling::s422: return AV_PIX_FMT_YUV422P;
        case ChromaSampling::s444: break;
    }
    return AV_PIX_FMT_YUV444P;
}

// The subsampling that `pixels` requests.
std::optional<ChromaSampling> asked_sampling(const ParameterValues& values) {
    if (!values.has("pixels")) return std::nullopt;
    const auto& name = values.text("pixels");
    return name == "yuv420p" ? ChromaSampling::s420 : name == "yuv422p" ? ChromaSampling::s422 : ChromaSampling::s444;
}

// Format of the output: subsampling and range of the medium, or 4:4:4 full range without one, which preserves BGR
// best. The matrix is the one that readers assume, because y4m has no tag for it.
YuvInfo written_as(const SinkCall& call, const Shape& frame, const PictureFacts& facts) {
    YuvInfo info{yuv_gray, {assumed_coding(frame.height).matrix, true}, {}, 1, frame.height, frame.width};
    if (frame.channels == 1) return info;
    info.format.chroma = asked_sampling(call.values).value_or(facts.sampling.value_or(ChromaSampling::s444));
    if (facts.sampling && facts.coding) info.coding.full_range = facts.coding->full_range;
    if (call.values.has("range")) info.coding.full_range = call.values.text("range") == "full";
    // y4m has no tag for the chroma position of 4:2:2, nor for chroma on the upper row between two columns.
    const bool has_tag = info.format.chroma == ChromaSampling::s420 && facts.siting != ChromaSiting{true, false};
    info.siting = has_tag ? facts.siting : siting_left;
    return info;
}

// Tag C and FFmpeg's extension XYSCSS.
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

// Writes each frame with a single write() where possible.
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

    bool write_own(const OwnPicture& own, const FrameTime& time) override {
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

    // Makes frame_ a view of bytes_: contiguous planes behind the FRAME line.
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

    // True if a picture has the output's format; strides may differ.
    bool takes(const AVFrame& picture) const {
        std::string assumed;
        auto other = yuv_info(picture, coding_of(picture, assumed));
        // 4:4:4 has no chroma position.
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

    // Writes planes in the output's format, wherever they are in memory.
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
    HostBuffer bytes_;                   // a frame as it is written
    FramePointer frame_ = make_frame();  // a view of bytes_
    PictureConverter converter_;
};

}  // namespace

std::vector<ParameterInfo> y4m_sink_parameters() {
    using Type = ParameterInfo::Type;
    return {{.name = "pixels",
             .help = "the chroma of colour; as the medium has it where left out, and yuv444p where that has none",
             .type = Type::choice,
             .choices = {"yuv420p", "yuv422p", "yuv444p"},
             .optional = true},
            {.name = "range",
             .help = "of the numbers of colour; as the medium has it where left out, and full where that has none",
             .type = Type::choice,
             .choices = {"limited", "full"},
             .optional = true}};
}

std::unique_ptr<Sink> open_y4m_sink(const SinkCall& call, const Shape& frame, Rational rate,
                                    const SinkOptions& options) {
    return std::make_unique<Y4mSink>(call, frame, rate, options);
}

}  // namespace framewire
