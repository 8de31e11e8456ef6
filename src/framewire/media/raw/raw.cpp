// Frames without a header. Because every row is at a known position of the file, read_own() of a regular
// file delivers a RawPicture instead of bytes, whose rows the filters read themselves in parallel.

#include "framewire/media/raw/raw.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/files/input_file.hpp"
#include "framewire/media/files/output_file.hpp"
#include "framewire/media/sources/even_frames.hpp"
#include "framewire/media/sources/source_kind.hpp"
#include "framewire/media/threads.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace framewire {
namespace {

// Reports a truncated frame: a raw file has no structure, so missing bytes are always missing at its end.
[[noreturn]] void fail_cut_off(const std::string& source, std::int64_t frame, std::int64_t got_bytes,
                               std::int64_t bytes) {
    fail(ErrorCode::source_lost, "{}: cut off in frame {}: {} of its {} bytes are there", source, frame, got_bytes,
         bytes);
}

// Native frame that is still in its file: rows are read when they are needed.
class RawPicture final : public OwnPicture {
public:
    RawPicture(std::shared_ptr<const InputFile> file, std::int64_t position_bytes, std::int64_t index,
               const SourceInfo& info)
        : file_(std::move(file)),
          position_bytes_(position_bytes),
          index_(index),
          source_(info.name),
          shape_(info.shape) {}

    void to_image(HostView<std::uint8_t> image) const override {
        validate(image, shape_, "the image to read into");
        const ImageRows<std::uint8_t> all(image);
        media_threads().for_chunks(shape_.height, rows_at_once(),
                                   [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                                       read(all.part({static_cast<int>(begin), static_cast<int>(end)}));
                                   });
    }

    // Returns null: filters read the rows themselves.
    std::shared_ptr<const OwnPicture> moved(const PixelMove&, Executor&) const override { return nullptr; }

    MakeRows rows() const override {
        return [this](const ImageRows<std::uint8_t>& rows) { read(rows); };
    }

private:
    // Rows per task when a frame is read in parallel, about 128 KiB.
    std::int64_t rows_at_once() const { return std::max<std::int64_t>(1, (128 << 10) / shape_.row_bytes()); }

    // Reads the rows of a view, in one call if they are contiguous.
    void read(const ImageRows<std::uint8_t>& rows) const {
        if (rows.view.dense_rows()) return read(rows.first, rows.view.shape().height, rows.view.data());
        for (int y = rows.range().begin; y < rows.range().end; ++y) read(y, 1, rows.row(y));
    }

    void read(int first, int count, std::uint8_t* to) const {
        const auto before = first * shape_.row_bytes(), wanted = count * shape_.row_bytes();
        const auto got = file_->read_at(position_bytes_ + before, to, static_cast<std::size_t>(wanted));
        if (got < static_cast<std::size_t>(wanted))
            fail_cut_off(source_, index_, before + static_cast<std::int64_t>(got), shape_.bytes());
    }

    std::shared_ptr<const InputFile> file_;
    std::int64_t position_bytes_, index_;
    std::string source_;
    Shape shape_;
};

// Source of frames without a header.
// Source of frames without a header. The frame count is known only if the file consists of whole frames.
class RawSource final : public Source {
public:
    RawSource(const std::string& path, SourceInfo info, const SourceOptions& options)
        : file_(std::make_shared<InputFile>(path, options.stop)), info_(std::move(info)) {
        if (const auto length = file_->length_bytes(); length >= 0 && length % info_.shape.bytes() == 0)
            info_.frames = length / info_.shape.bytes();
        info_.has_rows = file_->has_places();
    }

    const SourceInfo& info() const override { return info_; }

    bool read(HostView<std::uint8_t> image, FrameTime& time) override {
        validate(image, info_.shape, "the image to read into");
        own_.reset();
        const auto& shape = info_.shape;
        const auto row_bytes = static_cast<std::size_t>(shape.row_bytes());
        std::size_t got = 0;
        if (image.dense_rows()) {
            got = file_->read(image.data(), static_cast<std::size_t>(shape.bytes()));
        } else {
            for (int y = 0; y < shape.height; ++y) got += file_->read(image.row(0, y), row_bytes);
        }
        if (file_->stopped() || got == 0) return false;
        if (got < static_cast<std::size_t>(shape.bytes()))
            fail_cut_off(info_.name, index_, static_cast<std::int64_t>(got), shape.bytes());
        count(time);
        return true;
    }

    // Leaves the frame in the file, so that a consumer that touches each byte once reads it directly into the cache of
    // the core that uses it.
    bool read_own(HostView<std::uint8_t> image, FrameTime& time) override {
        const auto position_bytes = file_->position_bytes();
        if (file_->stopped() || !file_->skip(info_.shape.bytes())) return read(image, time);
        own_ = std::make_shared<const RawPicture>(file_, position_bytes, index_, info_);
        count(time);
        return true;
    }

    std::shared_ptr<const OwnPicture> own_picture() const override { return own_; }

    bool seek(double seconds) override {
        if (!info_.frames) return false;
        const auto frame = even_frame_at(seconds, info_.rate, *info_.frames);
        if (!file_->go_to(frame * info_.shape.bytes())) return false;
        index_ = frame;
        return true;
    }

private:
    void count(FrameTime& time) {
        time = {index_, even_time(index_, info_.rate), Clock::now()};
        ++index_;
    }

    std::shared_ptr<InputFile> file_;
    SourceInfo info_;
    std::shared_ptr<const OwnPicture> own_;  // of the last frame read
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

    // Writes a frame; gray values are repeated for BGR.
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

// Size, format and rate come from the parameters, because the file has no header.
std::unique_ptr<Source> open_raw_source(const SourceCall& call, const SourceOptions& options) {
    const auto& values = call.values;
    if (call.path.empty()) fail(ErrorCode::usage, "{} lacks its path; the form is {}", call.text, call.kind->form);
    const auto [width, height] = values.size("size");
    const std::string format = values.has("format")           ? values.text("format")
                               : call.path.ends_with(".gray") ? "gray"
                                                              : "bgr";
    SourceInfo info;
    info.name = call.text;
    info.shape = {1, height, width, format == "gray" ? 1 : 3};
    info.rate = values.is_given("fps") ? values.rate("fps") : options.rate.value_or(values.rate("fps"));
    if (std::int64_t{width} * height > options.max_pixels)
        fail(ErrorCode::usage, "raw: pictures of {}x{} are more than the {} pixels allowed", width, height,
             options.max_pixels);
    return std::make_unique<RawSource>(call.path, std::move(info), options);
}

}  // namespace

// The table entry for raw files.
SourceKind raw_source() {
    using Type = ParameterInfo::Type;
    return {.name = "raw",
            .form = "raw:PATH:size=WxH:format=bgr|gray:fps=30",
            .summary = "bytes without a header",
            .prefix = "raw:",
            .parameters =
                {{.name = "size", .help = "of its pictures", .type = Type::size, .minimum = 1, .maximum = max_side_px},
                 {.name = "format",
                  .help = "three bytes a pixel or one; without, gray where the path ends in .gray, else bgr",
                  .type = Type::choice,
                  .choices = {"bgr", "gray"},
                  .optional = true},
                 {.name = "fps", .help = "its rate", .type = Type::rate, .default_value = "30"}},
            .examples = {"raw:frames.bgr:size=640x480:fps=25"},
            .has_path = true,
            .open = open_raw_source,
            .reads = reads_path};
}

// BGR cannot be written to a gray format without choosing a conversion, which is left to the user.
std::unique_ptr<Sink> open_raw_sink(const std::string& path, int channels, const Shape& frame,
                                    const SinkOptions& options) {
    if (channels < frame.channels)
        fail(ErrorCode::usage, "{} takes gray frames and these are BGR; put the filter gray=channels=1 before it",
             path);
    return std::make_unique<RawSink>(path, frame, channels, options);
}

}  // namespace framewire
