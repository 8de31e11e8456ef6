#include "framewire/session/outputs/label_output.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/text/excerpt.hpp"
#include "framewire/media/images/png.hpp"
#include "framewire/media/names.hpp"

#include <algorithm>
#include <limits>

namespace framewire::session {
namespace {

constexpr auto most_in_png = std::numeric_limits<std::uint16_t>::max();

}  // namespace

bool is_label_image(const std::string& path) { return lower_case(path).ends_with(".png"); }

LabelOutput::LabelOutput(const std::string& path, const Shape& frame, bool one, const OutputFileOptions& options)
    : path_(path), frame_(frame.with_channels(1)), options_(options) {
    if (path.empty()) return;
    if (is_label_image(path)) {
        images_ = SequencePattern::parse(path);
        values_.resize(static_cast<std::size_t>(frame_.bytes()));
    } else if (lower_case(path).ends_with(".npy")) {
        array_.emplace(path, std::vector<std::int64_t>{frame.height, frame.width}, !one, options, NpyValues::int32);
    } else {
        fail(ErrorCode::usage, "labels to {}; allowed are .npy and .png, of many frames as labels%04d.png",
             in_quotes(path));
    }
}

void LabelOutput::write(std::span<std::int32_t> labels, std::span<const Component> objects) {
    // objects are ordered by number, so the last one has the largest
    is_object_.assign(objects.empty() ? 0 : static_cast<std::size_t>(objects.back().id) + 1, false);
    for (const auto& object : objects) is_object_[static_cast<std::size_t>(object.id)] = true;
    for (auto& label : labels)
        if (static_cast<std::size_t>(label) >= is_object_.size() || !is_object_[static_cast<std::size_t>(label)])
            label = 0;
    written_.attempt([&] {
        if (array_)
            array_->write(labels.data(), labels.size());
        else
            write_image(labels);
    });
    ++frames_;
}

void LabelOutput::write_image(std::span<const std::int32_t> labels) {
    if (!images_ && frames_ > 0)
        fail(ErrorCode::usage, "{} holds the labels of one frame; of many they go to .npy or labels%04d.png", path_);
    if (const auto largest = *std::ranges::max_element(labels); largest > most_in_png)
        fail(ErrorCode::usage, "object {} of frame {} does not fit the 16 bits of {}; .npy takes it", largest, frames_,
             path_);
    std::ranges::transform(labels, values_.begin(), [](auto label) { return static_cast<std::uint16_t>(label); });
    const auto bytes = encode_gray_png_16(values_.data(), frame_.width, frame_.height);
    OutputFile file(images_ ? images_->path(frames_) : path_, options_);
    file.write(bytes.data(), bytes.size());
    file.finish();
    image_bytes_ += file.bytes();
}

void LabelOutput::finish(Ending ending) {
    if (array_ && written_.whole()) array_->finish(ending);
}

}  // namespace framewire::session
