#include "framewire/jobs/outputs.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/text.hpp"
#include "framewire/media/image_formats.hpp"
#include "framewire/media/image_sequence.hpp"
#include "framewire/media/media.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <limits>
#include <map>
#include <system_error>
#include <utility>

namespace framewire::jobs {

bool is_output_folder(const std::string& output) { return output.ends_with('/') || is_folder(output); }

bool is_same_folder(const std::string& one, const std::string& other) {
    std::error_code not_there;
    return std::filesystem::equivalent(one, other, not_there);
}

void make_folder(const std::string& folder) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) fail(ErrorCode::io, "cannot create the folder {}: {}", folder, failed.message());
}

// Detects images such as a.png and a.jpg that would have the same output.
std::vector<std::string> outputs_of(const std::vector<std::string>& images, const std::string& folder,
                                    std::string_view ending) {
    std::vector<std::string> outputs;
    std::map<std::string, std::string> image_of;
    for (const auto& image : images) {
        outputs.push_back(std::filesystem::path(folder) / std::filesystem::path(image).stem().concat(ending));
        const auto [other, is_new] = image_of.emplace(outputs.back(), image);
        if (!is_new)
            fail(ErrorCode::usage, "{} and {} would both be written to {}", other->second, image, outputs.back());
    }
    return outputs;
}

std::int64_t write_png(const std::string& path, HostView<const std::uint8_t> image, OutputFileOptions options) {
    const auto png = encode_png(image);
    OutputFile file(path, std::move(options));
    file.write(png.data(), png.size());
    file.finish();
    return file.bytes();
}

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
        fail(ErrorCode::usage,
             "cannot write labels to {}; allowed: .npy and .png, with a pattern such as labels%04d.png for several "
             "frames",
             in_quotes(path));
    }
}

void LabelOutput::write(std::span<std::int32_t> labels, std::span<const Component> objects) {
    // objects are ordered by number, so the last one has the largest number
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
        fail(ErrorCode::usage, "{} can hold the labels of only one frame; for several, use .npy or labels%04d.png",
             path_);
    if (const auto largest = *std::ranges::max_element(labels); largest > most_in_png)
        fail(ErrorCode::usage, "object number {} of frame {} does not fit into the 16 bits of {}; use .npy", largest,
             frames_, path_);
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

std::string new_file_name(const std::string& folder, std::string_view name, std::string_view ending, std::time_t at) {
    std::tm local{};
    localtime_r(&at, &local);
    return free_file_name(folder, fmt::format("{}-{:%Y%m%d-%H%M%S}", name, local), ending);
}

std::string free_file_name(const std::string& folder, std::string_view begin, std::string_view ending) {
    for (int number = 1;; ++number) {
        const auto file =
            number == 1 ? fmt::format("{}.{}", begin, ending) : fmt::format("{}-{}.{}", begin, number, ending);
        const auto path = std::filesystem::path(folder) / file;
        if (!std::filesystem::exists(path) && !std::filesystem::exists(path.string() + ".part")) return path.string();
    }
}

StatisticsFile::StatisticsFile(const std::string& path, bool replace) {
    if (!path.empty()) file_.emplace(path, OutputFileOptions{.replace = replace});
}

void StatisticsFile::write(const StatisticsSnapshot& figures, const RunDescription& run) {
    if (file_) write(to_json(figures, run));
}

void StatisticsFile::write(const std::string& json) {
    if (!file_) return;
    file_->write(json.data(), json.size());
    file_->finish();
}

}  // namespace framewire::jobs
