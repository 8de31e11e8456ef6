#include "framewire/media/raw.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/files/input_file.hpp"
#include "framewire/media/files/output_file.hpp"
#include "framewire/media/parameters.hpp"

#include <vector>

namespace framewire {
namespace {

std::pair<std::string, Parameters> split(std::string_view text) {
    return Parameters::after_path("raw", text, {"size", "format", "fps"});
}

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
            fail(ErrorCode::source_lost, "{}: cut off in frame {}: {} of its {} bytes are there", info_.name, index_,
                 got, shape.bytes());
        time = {index_, static_cast<double>(index_) / info_.rate.value(), Clock::now()};
        ++index_;
        return true;
    }

private:
    InputFile file_;
    SourceInfo info_;
    std::int64_t index_ = 0;
};

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
    void write_pixels(HostView<const std::uint8_t> image) {
        if (!replicate_ && image.dense_rows()) {
            file_.write(image.data(), static_cast<std::size_t>(shape_.bytes()));
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

}  // namespace

std::string raw_path(std::string_view text) { return split(text).first; }

std::unique_ptr<Source> open_raw_source(const std::string& text, const SourceOptions& options) {
    auto [path, parameters] = split(text);
    const auto size = parameters.size("size");
    if (path.empty() || !size)
        fail(ErrorCode::usage, "raw:{} lacks its {}; the form is raw:PATH:size=WxH:format=bgr|gray:fps=30", text,
             path.empty() ? "path" : "size");
    const bool is_gray_file = path.ends_with(".gray");
    SourceInfo info;
    info.name = "raw:" + text;
    info.shape = {1, size->second, size->first,
                  parameters.choice("format", is_gray_file ? "gray" : "bgr", {"bgr", "gray"}) == "gray" ? 1 : 3};
    info.rate = parameters.rate("fps", options.rate.value_or(Rational{30, 1}));
    if (std::int64_t{size->first} * size->second > options.max_pixels)
        fail(ErrorCode::usage, "raw: pictures of {}x{} are more than the {} pixels allowed", size->first, size->second,
             options.max_pixels);
    return std::make_unique<RawSource>(path, std::move(info), options);
}

std::unique_ptr<Sink> open_raw_sink(const std::string& path, const Shape& frame, const SinkOptions& options) {
    const int channels = path.ends_with(".gray") ? 1 : 3;
    if (channels < frame.channels)
        fail(ErrorCode::usage, "{} takes gray frames and these are BGR; put the filter gray=channels=1 before it",
             path);
    return std::make_unique<RawSink>(path, frame, channels, options);
}

}  // namespace framewire
