#pragma once

#include "framewire/core/view.hpp"
#include "framewire/media/image_sequence.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/npy.hpp"
#include "framewire/media/output_file.hpp"
#include "framewire/plan/statistics.hpp"

#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::jobs {

/// Returns true if the text names an output folder: an existing folder, or a path that ends in a slash.
bool is_output_folder(const std::string& output);

/// Returns true if both paths refer to the same existing folder.
bool is_same_folder(const std::string& one, const std::string& other);

/// Creates a folder and its missing parents. Throws Error{io}.
void make_folder(const std::string& folder);

/// Returns one output path in `folder` per image: image NAME.png becomes NAME followed by `ending`. Throws Error{usage}
/// if two image names differ only in their extensions.
std::vector<std::string> outputs_of(const std::vector<std::string>& images, const std::string& folder,
                                    std::string_view ending);

/// Writes an image as a PNG file, which appears only once it is complete. Returns its size in bytes. Throws Error{io}.
std::int64_t write_png(const std::string& path, HostView<const std::uint8_t> image, OutputFileOptions options);

/// Tracks whether an output is worth completing: something was written to it, and no write failed.
class Written {
public:
    /// Calls `write`. If it throws, the output counts as failed.
    template <class Write>
    void attempt(Write&& write) {
        // reset once write() has returned
        failed_ = true;
        write();
        failed_ = false;
        any_ = true;
    }
    /// Returns true if something was written and no write failed.
    bool whole() const { return any_ && !failed_; }

private:
    bool any_ = false, failed_ = false;
};

/// Output for label images in one of two formats: `.npy`, an int32 array of height x width, with a leading axis of
/// frames unless the source has a single frame; or `.png` with 16 bits, either a single image or, for a pattern such as
/// `labels%04d.png`, one image per frame, numbered from 0.
class LabelOutput {
public:
    /// Makes a disabled output; wanted() returns false.
    LabelOutput() = default;
    /// Opens the output, or makes a disabled one if `path` is empty. `one` is true if the source has a single frame.
    /// Throws Error{usage} if the extension is not supported, and as NpyFile does.
    LabelOutput(const std::string& path, const Shape& frame, bool one, const OutputFileOptions& options);

    /// Returns true if the output is enabled.
    bool wanted() const { return !path_.empty(); }
    /// Returns the size of the files written so far.
    std::int64_t bytes() const { return array_ ? array_->bytes() : image_bytes_; }

    /// Writes the labels of the next frame. `labels` has height x width elements and is changed in place: labels that
    /// belong to none of `objects` become 0. `objects` must be ordered by number. Throws Error{usage} if a number does
    /// not fit into 16 bits or if a second frame is written to a single image, and Error{io}.
    void write(std::span<std::int32_t> labels, std::span<const Component> objects);
    /// Completes the array; images are complete as soon as they are written.
    void finish(Ending ending);

private:
    void write_image(std::span<const std::int32_t> labels);

    std::string path_;
    Shape frame_{};
    OutputFileOptions options_;
    std::optional<SequencePattern> images_;
    std::optional<NpyFile> array_;
    std::vector<bool> is_object_;
    std::vector<std::uint16_t> values_;
    std::int64_t frames_ = 0, image_bytes_ = 0;
    Written written_;
};

/// Returns true if the path is that of a single label image or of a sequence of label images.
bool is_label_image(const std::string& path);

/// Returns the path of a new file, `FOLDER/NAME-20261123-124501.ENDING`, with the local time `at`, and a number as in
/// free_file_name(). `name` may contain only characters that are valid in a file name.
std::string new_file_name(const std::string& folder, std::string_view name, std::string_view ending,
                          std::time_t at = std::time(nullptr));
/// Returns the path of a new file, `FOLDER/BEGIN.ENDING`. If that file or its `.part` exists, `BEGIN-2`, `BEGIN-3` ...
/// are tried. `begin` may contain only characters that are valid in a file name.
std::string free_file_name(const std::string& folder, std::string_view begin, std::string_view ending);

/// A text file with one record per frame. If the run is interrupted, the file stays readable up to the last complete
/// record.
class RecordFile {
public:
    /// Opens the file. All functions of this class throw Error{io}.
    RecordFile(const std::string& path, OutputFileOptions options) : file_(path, std::move(options)) {}

    /// Writes the text that precedes the first record.
    void begin(std::string_view text) { put(text); }
    /// Writes the record of one frame.
    void write(std::string_view frame) {
        written_.attempt([&] { put(frame); });
    }
    /// Writes `end` after the last record and completes the file. The file does not get its final name if it has no
    /// record or if writing failed.
    void finish(Ending ending, std::string_view end = {}) {
        if (!written_.whole()) return;
        put(end);
        file_.finish(ending);
    }

    /// Returns the number of bytes written so far.
    std::int64_t bytes() const { return file_.bytes(); }

private:
    // Marks the end of each complete record, so that a truncated file ends with a complete one.
    void put(std::string_view text) {
        file_.write(text.data(), text.size());
        if (!text.empty()) file_.mark_whole();
    }

    OutputFile file_;
    Written written_;
};

/// File for a run's statistics. It is opened before any work, so that an unwritable path is reported early, and gets
/// its final name only once it is complete.
class StatisticsFile {
public:
    /// Opens the file. If `path` is empty, there is no file, and writing does nothing. Throws Error{io}.
    StatisticsFile(const std::string& path, bool replace);
    /// Returns true if there is a file.
    explicit operator bool() const { return file_.has_value(); }
    /// Writes and completes the file. Throws Error{io}.
    void write(const std::string& json);
    /// Writes these statistics as JSON.
    void write(const StatisticsSnapshot& figures, const RunDescription& run);

private:
    std::optional<OutputFile> file_;
};

/// An optional sink that is completed only if its contents are usable.
class VideoOutput {
public:
    /// Makes a disabled output; wanted() returns false.
    VideoOutput() = default;
    /// Opens the sink, or makes a disabled output if `path` is empty. Throws as open_sink() does.
    VideoOutput(const std::string& path, const Shape& frame, Rational rate, const SinkOptions& options) {
        if (!path.empty()) sink_ = open_sink(path, frame, rate, options);
    }

    /// Returns true if the output is enabled. The functions that write require this.
    bool wanted() const { return sink_ != nullptr; }
    /// Returns the number of bytes written so far.
    std::int64_t bytes() const { return sink_ ? sink_->bytes() : 0; }

    /// Writes one frame. Throws as Sink::write() does.
    void write(HostView<const std::uint8_t> image, const FrameTime& time) {
        written_.attempt([&] { sink_->write(image, time); });
    }

    /// Writes the source's native frame. Returns false if the sink cannot take it and needs the image instead.
    bool write_own(const NativeFrame& own, const FrameTime& time) {
        bool taken = false;
        written_.attempt([&] { taken = sink_->write_own(own, time); });
        return taken;
    }

    /// Returns the format of planes that the sink accepts, see Sink::planes(); empty if the output is disabled.
    std::optional<YuvInfo> planes() const { return sink_ ? sink_->planes() : std::nullopt; }
    /// Writes a frame as planes in the format that planes() returns.
    void write_planes(const std::shared_ptr<const YuvPicture>& picture, const FrameTime& time) {
        written_.attempt([&] { sink_->write_planes(picture, time); });
    }

    /// Completes the sink if something was written and no write failed. Otherwise the output is left as NAME.part: a
    /// sink that failed is incomplete, and a video without frames cannot be played.
    void finish(Ending ending) {
        if (written_.whole()) sink_->finish(ending);
    }

private:
    std::unique_ptr<Sink> sink_;
    Written written_;
};

}  // namespace framewire::jobs
