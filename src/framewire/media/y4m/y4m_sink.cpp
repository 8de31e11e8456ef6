#include "framewire/core/error.hpp"
#include "framewire/media/files/output_file.hpp"
#include "framewire/media/sinks/uneven_times.hpp"
#include "framewire/media/y4m/y4m.hpp"

namespace framewire {
namespace {

class Y4mSink final : public Sink {
public:
    Y4mSink(const std::string& path, const Shape& frame, Rational rate, const SinkOptions& options)
        : file_(path, options.file_options()), shape_(frame), rate_(rate) {
        const bool mono = frame.channels == 1;
        if (!mono) {
            frame_ = make_frame(AV_PIX_FMT_YUV444P, frame.width, frame.height);
            tag(*frame_, {assumed_coding(frame.height).matrix, true});
        }
        const auto& aspect = options.facts.pixel_aspect;
        const auto header = fmt::format("YUV4MPEG2 W{} H{} F{}:{} Ip A{}:{} {} XCOLORRANGE=FULL\n", frame.width,
                                        frame.height, rate.numerator, rate.denominator, aspect.numerator,
                                        aspect.denominator, mono ? "Cmono" : "C444 XYSCSS=444");
        file_.write(header.data(), header.size());
    }

    void write(HostView<const std::uint8_t> image, const FrameTime& time) override {
        validate(image, shape_, "the frame to write");
        uneven_.look_at(time, rate_.value(), file_.name());
        file_.write("FRAME\n", 6);
        if (frame_) {
            converter_.to_frame(image, *frame_);
            for (int plane = 0; plane < 3; ++plane) write_rows(frame_->data[plane], frame_->linesize[plane]);
        } else {
            write_rows(image.data(), image.row_stride_bytes());
        }
        file_.mark_whole();
    }

    void finish(Ending ending) override { file_.finish(ending); }
    std::int64_t bytes() const override { return file_.bytes(); }

private:
    void write_rows(const std::uint8_t* rows, std::int64_t stride_bytes) {
        if (stride_bytes == shape_.width) {
            file_.write(rows, static_cast<std::size_t>(stride_bytes * shape_.height));
            return;
        }
        for (int y = 0; y < shape_.height; ++y)
            file_.write(rows + y * stride_bytes, static_cast<std::size_t>(shape_.width));
    }

    OutputFile file_;
    Shape shape_;
    Rational rate_;
    UnevenTimes uneven_;
    FramePointer frame_;  // of colour
    PictureConverter converter_;
};

}  // namespace

std::unique_ptr<Sink> open_y4m_sink(const std::string& path, const Shape& frame, Rational rate,
                                    const SinkOptions& options) {
    return std::make_unique<Y4mSink>(path, frame, rate, options);
}

}  // namespace framewire
