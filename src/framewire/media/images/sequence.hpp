#pragma once

#include "framewire/media/media.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// File name pattern of a numbered image sequence: `shots/img%04d.png`, one `%d` or `%0Nd` in the file name; `%%` is a
/// `%`.
class SequencePattern {
public:
    /// Returns nullopt if the file name in `text` has no number. Throws Error{usage} if it has several.
    static std::optional<SequencePattern> parse(std::string_view text);

    /// Path of the image with this number.
    std::string path(std::int64_t number) const;

    /// Numbers whose files exist, ascending. Throws Error{no_input} if the folder cannot be read.
    std::vector<std::int64_t> existing() const;

private:
    std::string folder_;  // with the trailing slash
    std::string before_;
    int digits_ = 0;
    std::string after_;
};

/// Opens one image as a Source of one frame.
using OpenImage = std::function<std::unique_ptr<Source>(const std::string& path, const SourceOptions& options)>;

/// Opens images as one Source, a frame per image; `images` is not empty and `text` names them in messages. Images
/// whose size or channel count differs from the first are converted to match it, with a warning; with
/// options.one_size, read() throws Error{source_lost} at such an image.
std::unique_ptr<Source> open_images_source(const std::string& text, std::vector<std::string> images, OpenImage open,
                                           const SourceOptions& options);

/// Opens all images of a numbered sequence as open_images_source() does, in ascending order and across gaps (with a
/// warning). Throws Error{no_input} if there are none.
std::unique_ptr<Source> open_sequence_source(const std::string& text, const SequencePattern& pattern, OpenImage open,
                                             const SourceOptions& options);

/// Encodes an image as the bytes of an image file.
using EncodeImage = std::function<std::vector<std::uint8_t>(HostView<const std::uint8_t> image)>;

/// Opens a sink that writes images numbered from 0 with `pattern`, or without one a single image at `path`; then
/// write() throws Error{usage} on the second frame.
std::unique_ptr<Sink> open_image_sink(const std::string& path, const std::optional<SequencePattern>& pattern,
                                      const Shape& frame, EncodeImage encode, const SinkOptions& options);

}  // namespace framewire
