#include "framewire/media/image_sequence.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/media/conversion.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/output_file.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

// Sorts the images of a folder by the bytes of their names, so that the order does not depend on the locale or on the
// file system.

namespace framewire {
namespace {

constexpr std::array<std::string_view, 10> endings{".png",  ".jpg",  ".jpeg", ".bmp", ".tif",
                                                   ".tiff", ".webp", ".pgm",  ".ppm", ".pnm"};

// Returns true for regular files with an image extension.
bool is_image(const std::filesystem::directory_entry& entry) {
    std::error_code ignored;
    return is_image_name(entry.path().native()) && entry.is_regular_file(ignored);
}

// Images of a folder, and what was skipped.
struct Listing {
    std::vector<std::string> images;
    int others = 0;
    std::string other;  // the first of the skipped names
    std::error_code error;
};

// Lists a folder without hidden files.
Listing list(const std::string& folder) {
    Listing listing;
    auto& error = listing.error;
    std::filesystem::directory_iterator entry(folder, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        const auto name = entry->path().filename().native();
        if (name.starts_with('.')) continue;
        if (is_image(*entry)) {
            listing.images.push_back(entry->path());
        } else if (++listing.others == 1 || name < listing.other) {
            listing.other = name;
        }
    }
    std::ranges::sort(listing.images);
    return listing;
}

}  // namespace

bool is_image_name(const std::string& path) {
    const auto ending = lower_case(std::filesystem::path(path).extension().native());
    return std::ranges::find(endings, ending) != endings.end();
}

bool is_folder(const std::string& path) {
    std::error_code unknown;
    return std::filesystem::is_directory(path, unknown);
}

std::vector<std::string> images_in(const std::string& folder) {
    const auto [images, others, other, error] = list(folder);
    if (error) fail(ErrorCode::no_input, "cannot read the folder {}: {}", folder, error.message());
    if (images.empty())
        fail(ErrorCode::no_input, "{} contains no images; known extensions: {}", folder, fmt::join(endings, " "));
    if (others > 0)
        log_warning("{}: {} of {} entries are not images and are ignored, for example {}", folder, others,
                    others + static_cast<int>(images.size()), other);
    return images;
}

std::vector<std::string> image_paths(const std::string& folder) { return list(folder).images; }

}  // namespace framewire

// Image sequences: many files as one source, and one sink for many files. Each image is opened when its turn comes, so
// a sequence of any length needs the memory of one image.

namespace framewire {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Source with one frame per image file.
class ImagesSource final : public Source {
public:
    ImagesSource(const std::string& text, std::vector<std::string> images, OpenImage open, const SourceOptions& options)
        : images_(std::move(images)), open_(std::move(open)), options_(options) {
        if (!is_image_name(images_.front())) refuse_video();
        image_ = open_(images_.front(), options_);
        info_.name = text;
        info_.shape = image_->info().shape;
        info_.rate = options.rate.value_or(Rational{30, 1});
        info_.frames = static_cast<std::int64_t>(images_.size());
    }

    const SourceInfo& info() const override { return info_; }

    bool read(HostView<std::uint8_t> image, FrameTime& time) override {
        validate(image, info_.shape, "the image to read into");
        if (index_ == images_.size() || options_.stop.stop_requested()) return false;
        if (!image_) open_next();
        if (image_->info().frames.value_or(1) > 1)
            log_warning("{}: it has {} pages; only the first is read", images_[index_], *image_->info().frames);
        if (!read_like_first(image)) {
            if (options_.stop.stop_requested()) return false;
            fail(ErrorCode::source_lost, "{} contains no image", images_[index_]);
        }
        image_.reset();
        time = {static_cast<std::int64_t>(index_), static_cast<double>(index_) / info_.rate.value(), Clock::now()};
        ++index_;
        return true;
    }

private:
    // Rejects a list whose first entry is a video: silently reading only the first frame of each file would surprise
    // the user.
    void refuse_video() const {
        const auto source = open_(images_.front(), options_);
        HostImage image(source->info().shape);
        FrameTime ignored;
        if (source->read(image.view(), ignored) && source->read(image.view(), ignored))
            fail(ErrorCode::usage, "{} is a video; a numbered sequence needs images", images_.front());
    }

    void open_next() {
        try {
            image_ = open_(images_[index_], options_);
        } catch (const Error& error) {
            // Earlier images could be read, so report this as a lost source.
            throw Error(ErrorCode::source_lost, error.what());
        }
    }

    // Reads the open image into `image`; converts it if its shape differs from the first.
    bool read_like_first(HostView<std::uint8_t> image) {
        FrameTime ignored;
        const auto& shape = image_->info().shape;
        if (shape == info_.shape) return image_->read(image, ignored);

        if (options_.one_size && (shape.width != info_.shape.width || shape.height != info_.shape.height))
            fail(ErrorCode::source_lost,
                 "{} is {}x{} pixels, but {}, the first image, is {}x{}; all must have the same size", images_[index_],
                 shape.width, shape.height, images_.front(), info_.shape.width, info_.shape.height);
        if (!std::exchange(warned_, true))
            log_warning("{} is {}; converted to {}, like the first", images_[index_], to_string(shape),
                        to_string(info_.shape));
        // PictureConverter scales and converts between gray and BGR.
        HostImage other(shape);
        if (!image_->read(other.view(), ignored)) return false;
        auto frame = make_frame(shape.channels == 1 ? AV_PIX_FMT_GRAY8 : AV_PIX_FMT_BGR24, shape.width, shape.height);
        for (int y = 0; y < shape.height; ++y)
            std::memcpy(frame->data[0] + std::ptrdiff_t{y} * frame->linesize[0], other.view().row(0, y),
                        static_cast<std::size_t>(shape.row_bytes()));
        converter_.to_image(*frame, {YuvMatrix::bt601, true}, image);
        return true;
    }

    std::vector<std::string> images_;
    OpenImage open_;
    SourceOptions options_;
    SourceInfo info_;
    std::unique_ptr<Source> image_;  // next image, if it is already open
    std::size_t index_ = 0;
    PictureConverter converter_;
    bool warned_ = false;
};

// Sink for one image or a numbered sequence.
class ImageSink final : public Sink {
public:
    ImageSink(const std::string& path, const std::optional<SequencePattern>& pattern, const Shape& frame,
              EncodeImage encode, const SinkOptions& options)
        : text_(path), pattern_(pattern), shape_(frame), encode_(std::move(encode)), options_(options.file_options()) {
        // Fail early if the destination cannot be written.
        if (pattern_)
            OutputFile can_be_written(pattern_->path(0), options_);
        else
            file_ = std::make_unique<OutputFile>(path, options_);
    }

    void write(HostView<const std::uint8_t> image, const FrameTime&) override {
        validate(image, shape_, "the frame to write");
        if (!pattern_ && frames_ > 0)
            fail(ErrorCode::usage, "{} can hold only one frame; for more, use a numbered name such as {}", text_,
                 numbered_name());
        if (pattern_) file_ = std::make_unique<OutputFile>(pattern_->path(frames_), options_);
        const auto bytes = encode_(image);
        file_->write(bytes.data(), bytes.size());
        bytes_ += static_cast<std::int64_t>(bytes.size());
        // Complete each image of a sequence at once; a single image is completed by finish().
        if (pattern_) file_->finish();
        ++frames_;
    }

    void finish(Ending ending) override {
        if (frames_ == 0) log_warning("{}: no frame arrived, so no image was written", text_);
        if (!pattern_ && frames_ > 0) file_->finish(ending);
    }
    std::int64_t bytes() const override { return bytes_; }

private:
    // Suggests a numbered file name for the error message.
    std::string numbered_name() const {
        const auto dot = text_.rfind('.');
        return text_.substr(0, dot) + "%04d" + text_.substr(dot);
    }

    std::string text_;
    std::optional<SequencePattern> pattern_;
    Shape shape_;
    EncodeImage encode_;
    OutputFileOptions options_;
    std::unique_ptr<OutputFile> file_;
    std::int64_t frames_ = 0;
    std::int64_t bytes_ = 0;
};

}  // namespace

// Parses only the file name; percent signs in folders are literal.
std::optional<SequencePattern> SequencePattern::parse(std::string_view text) {
    SequencePattern pattern;
    const auto slash = text.rfind('/');
    const auto name_begin = slash == std::string_view::npos ? 0 : slash + 1;
    pattern.folder_ = text.substr(0, name_begin);
    const auto name = text.substr(name_begin);
    bool found = false;
    for (std::size_t at = 0; at < name.size(); ++at) {
        auto& part = found ? pattern.after_ : pattern.before_;
        if (name[at] != '%') {
            part += name[at];
            continue;
        }
        if (at + 1 < name.size() && name[at + 1] == '%') {
            part += '%';
            ++at;
            continue;
        }
        auto end = at + 1;
        while (end < name.size() && is_digit(name[end])) ++end;
        if (end == name.size() || name[end] != 'd' || end - at > 3) {  // a literal percent sign
            part += '%';
            continue;
        }
        if (found) fail(ErrorCode::usage, "{}: a numbered sequence needs exactly one number in its name", text);
        found = true;
        if (end > at + 1) read_number(std::string_view(name).substr(at + 1, end - at - 1), pattern.digits_);
        at = end;
    }
    if (!found) return std::nullopt;
    return pattern;
}

// Formats the number: `%04d` pads with zeros to four digits; longer numbers are written in full.
std::string SequencePattern::path(std::int64_t number) const {
    return fmt::format("{}{}{:0{}}{}", folder_, before_, number, digits_, after_);
}

// Lists the folder once instead of testing each number.
std::vector<std::int64_t> SequencePattern::existing() const {
    std::vector<std::int64_t> numbers;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder_.empty() ? "." : folder_, error), end; !error && entry != end;
         entry.increment(error)) {
        const auto name = entry->path().filename().string();
        if (name.size() <= before_.size() + after_.size() || !name.starts_with(before_) || !name.ends_with(after_))
            continue;
        const auto digits = std::string_view(name).substr(before_.size(), name.size() - before_.size() - after_.size());
        const auto number = number_in<std::int64_t>(digits);
        // Accept only names that path() produces: "img1.png" does not match "img%04d.png".
        if (number && *number >= 0 && fmt::format("{:0{}}", *number, digits_) == digits) numbers.push_back(*number);
    }
    if (error) fail(ErrorCode::no_input, "cannot read the folder {}: {}", folder_, error.message());
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

std::unique_ptr<Source> open_images_source(const std::string& text, std::vector<std::string> images, OpenImage open,
                                           const SourceOptions& options) {
    return std::make_unique<ImagesSource>(text, std::move(images), std::move(open), options);
}

std::unique_ptr<Source> open_sequence_source(const std::string& text, const SequencePattern& pattern, OpenImage open,
                                             const SourceOptions& options) {
    const auto numbers = pattern.existing();
    if (numbers.empty())
        fail(ErrorCode::no_input, "{}: no file name matches this pattern (for example {})", text, pattern.path(0));
    // This cannot overflow, even if the largest possible number exists.
    const auto missing = (numbers.back() - numbers.front()) - (static_cast<std::int64_t>(numbers.size()) - 1);
    if (missing > 0)
        log_warning("{}: {} numbers between {} and {} are missing; skipped", text, missing, numbers.front(),
                    numbers.back());
    std::vector<std::string> images;
    for (const auto number : numbers) images.push_back(pattern.path(number));
    return open_images_source(text, std::move(images), std::move(open), options);
}

std::unique_ptr<Sink> open_image_sink(const std::string& path, const std::optional<SequencePattern>& pattern,
                                      const Shape& frame, EncodeImage encode, const SinkOptions& options) {
    return std::make_unique<ImageSink>(path, pattern, frame, std::move(encode), options);
}

}  // namespace framewire
