#pragma once

#include "framewire/core/component.hpp"
#include "framewire/core/view.hpp"
#include "framewire/media/files/output_file.hpp"
#include "framewire/media/formats/npy.hpp"
#include "framewire/media/images/sequence.hpp"
#include "framewire/session/outputs/written.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace framewire::session {

/// Output for label images, in one of two formats: `.npy`, an int32 array of height x width, with a leading axis of
/// frames unless the source has one frame; or `.png` with 16 bits, one image, or one per frame for a pattern such as
/// `labels%04d.png`, counted from 0.
class LabelOutput {
public:
    /// Makes an output that is not wanted.
    LabelOutput() = default;
    /// Not wanted if `path` is empty. `one` is true if the source has a single frame. Throws Error{usage} if the ending
    /// is not supported, and as NpyFile does.
    LabelOutput(const std::string& path, const Shape& frame, bool one, const OutputFileOptions& options);

    /// Returns true if there is an output.
    bool wanted() const { return !path_.empty(); }
    /// Size of the files so far.
    std::int64_t bytes() const { return array_ ? array_->bytes() : image_bytes_; }

    /// Writes the labels of the next frame. `labels` has height x width elements; labels of `objects`, which are
    /// ordered by number, are kept, all others are set to 0 in place. Throws Error{usage} if a number does not fit into
    /// 16 bits, or for a second frame if the output is a single image, and Error{io}.
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

/// Returns true if the path is that of a label image or of a sequence of them.
bool is_label_image(const std::string& path);

}  // namespace framewire::session
