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

/// The name of a numbered image sequence: `shots/img%04d.png`, one `%d` or `%0Nd` in the file's name; `%%` is a `%`.
class SequencePattern {
public:
    /// Empty when `text` has no number in its file's name. Throws Error{usage} when it has several.
    static std::optional<SequencePattern> parse(std::string_view text);

    std::string path(std::int64_t number) const;

    /// The numbers there are files for, ascending. Throws Error{no_input} when their folder cannot be read.
    std::vector<std::int64_t> existing() const;

private:
    std::string folder_;  // with its slash
    std::string before_;
    int digits_ = 0;
    std::string after_;
};

/// Opens one image as a Source of one frame.
using OpenImage = std::function<std::unique_ptr<Source>(const std::string& path, const SourceOptions& options)>;

/// One image after the other, at least one; `text` names them all. Images of another size or channel count than the
/// first are made like it, with a warning; with options.one_size another size is Error{source_lost} when it comes.
std::unique_ptr<Source> open_images_source(const std::string& text, std::vector<std::string> images, OpenImage open,
                                           const SourceOptions& options);

/// All images of a numbered sequence as open_images_source() takes them, from the lowest number on, over gaps too (with
/// a warning). Throws Error{no_input} when there is none.
std::unique_ptr<Source> open_sequence_source(const std::string& text, const SequencePattern& pattern, OpenImage open,
                                             const SourceOptions& options);

/// The bytes of an image file.
using EncodeImage = std::function<std::vector<std::uint8_t>(HostView<const std::uint8_t> image)>;

/// Images numbered from 0 by `pattern`, or without one a single image at `path`: a second frame is then Error{usage}.
std::unique_ptr<Sink> open_image_sink(const std::string& path, const std::optional<SequencePattern>& pattern,
                                      const Shape& frame, EncodeImage encode, const SinkOptions& options);

}  // namespace framewire
