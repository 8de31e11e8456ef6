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

/// Label images as files: `.npy` of int32, height x width, with frames first where there may be several; or `.png` of
/// 16 bits, one image, or one for each frame as `labels%04d.png`, from 0.
class LabelOutput {
public:
    /// No output at all.
    LabelOutput() = default;
    /// None where `path` is empty. `one`: the source has one frame. Throws Error{usage} on another ending, and as
    /// NpyFile does.
    LabelOutput(const std::string& path, const Shape& frame, bool one, const OutputFileOptions& options);

    bool wanted() const { return !path_.empty(); }
    /// Of the files so far.
    std::int64_t bytes() const { return array_ ? array_->bytes() : image_bytes_; }

    /// The next frame's: of `labels`, frame height x width, those of the objects stay, others become 0. Throws
    /// Error{usage} where a number does not fit 16 bits, and on a second frame for a single image; Error{io}.
    void write(std::span<std::int32_t> labels, std::span<const Component> objects);
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

/// Whether a path is one of a single image of labels, or of a sequence of them.
bool is_label_image(const std::string& path);

}  // namespace framewire::session
