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

/// Returns true if the extension is that of an image: .png .jpg .jpeg .bmp .tif .tiff .webp .pgm .ppm or .pnm, in
/// either case.
bool is_image_name(const std::string& path);

/// Returns true if the path is a folder. Returns false if that cannot be determined; opening the path then reports the
/// reason.
bool is_folder(const std::string& path);

/// Returns the paths of the images in a folder: files with image extensions, sorted by the bytes of their names (like
/// Python's sorted() and `LC_ALL=C ls`). Other entries are skipped with one warning, hidden files silently; subfolders
/// are not searched. No image is opened. Throws Error{no_input} if there are no images or the folder cannot be read.
std::vector<std::string> images_in(const std::string& folder);

/// Returns the same paths as images_in(), without warnings; empty if there are no images or the folder cannot be read.
std::vector<std::string> image_paths(const std::string& folder);

/// File name pattern of a numbered image sequence, for example `shots/img%04d.png`: one `%d` or `%0Nd` in the file
/// name; `%%` means a percent sign.
class SequencePattern {
public:
    /// Returns nullopt if the file name in `text` has no number. Throws Error{usage} if it has several.
    static std::optional<SequencePattern> parse(std::string_view text);

    /// Returns the path of the image with this number.
    std::string path(std::int64_t number) const;

    /// Returns the numbers whose files exist, ascending. Throws Error{no_input} if the folder cannot be read.
    std::vector<std::int64_t> existing() const;

private:
    std::string folder_;  // folder with the trailing slash
    std::string before_;
    int digits_ = 0;
    std::string after_;
};

/// Function that opens one image as a Source of one frame.
using OpenImage = std::function<std::unique_ptr<Source>(const std::string& path, const SourceOptions& options)>;

/// Opens images as one Source, one frame per image; `images` must not be empty, and `text` names them in messages.
/// Images whose size or channel count differs from the first are converted to match it, with a warning; with
/// options.one_size, read() throws Error{source_lost} at such an image.
std::unique_ptr<Source> open_images_source(const std::string& text, std::vector<std::string> images, OpenImage open,
                                           const SourceOptions& options);

/// Opens all images of a numbered sequence as open_images_source() does, in ascending order and across gaps (with a
/// warning). Throws Error{no_input} if there are none.
std::unique_ptr<Source> open_sequence_source(const std::string& text, const SequencePattern& pattern, OpenImage open,
                                             const SourceOptions& options);

/// Function that encodes an image as the bytes of an image file.
using EncodeImage = std::function<std::vector<std::uint8_t>(HostView<const std::uint8_t> image)>;

/// Opens a sink that writes images numbered from 0 to the paths of `pattern`. Without a pattern, it writes a single
/// image to `path`, and write() throws Error{usage} on the second frame.
std::unique_ptr<Sink> open_image_sink(const std::string& path, const std::optional<SequencePattern>& pattern,
                                      const Shape& frame, EncodeImage encode, const SinkOptions& options);

}  // namespace framewire
