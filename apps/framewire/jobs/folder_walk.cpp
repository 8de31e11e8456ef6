#include "jobs/folder_walk.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/images/image_folder.hpp"
#include "framewire/media/media.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <utility>

namespace framewire::app {
namespace {

// An image of the shape, the one that is there where it has it.
void ensure_shape(Frame& image, const Shape& shape, Executor& executor) {
    if (image.shape() != shape) image = Frame(shape, executor);
}

}  // namespace

bool is_output_folder(const std::string& output) { return output.ends_with('/') || is_folder(output); }

bool is_same_folder(const std::string& one, const std::string& other) {
    std::error_code not_there;
    return std::filesystem::equivalent(one, other, not_there);
}

std::vector<std::string> outputs_of(const std::vector<std::string>& images, const std::string& folder,
                                    std::string_view ending) {
    std::vector<std::string> outputs;
    std::map<std::string, std::string> image_of;
    for (const auto& image : images) {
        outputs.push_back(std::filesystem::path(folder) / std::filesystem::path(image).stem().concat(ending));
        const auto [other, is_new] = image_of.emplace(outputs.back(), image);
        if (!is_new) fail(ErrorCode::usage, "{} and {} would both be {}", other->second, image, outputs.back());
    }
    return outputs;
}

FolderWalk::FolderWalk(const InputOptions& input, const CommonOptions& common, const std::stop_source& stop)
    : folder_(input.source),
      common_(common),
      stop_(stop),
      statistics_file_(common),
      chain_(parse_chain(input.filters)),
      images_(images_in(folder_)),
      info_{.name = folder_, .frames = static_cast<std::int64_t>(images_.size())},
      executor_(common.backend_choice(), common.threads) {}

CircleOptions FolderWalk::circle() const { return circle_options(common_, info_, {}, stop_, executor_.backend()); }

void FolderWalk::run(const FolderStages& stages, const CircleOptions& circle, Wanted wanted) {
    const Progress progress(common_.progress_mode(), statistics_, expected_frames(info_, common_.frames));
    slots_.resize(static_cast<std::size_t>(circle.slots));
    const auto at = [&](int slot) -> FolderImage& { return slots_[static_cast<std::size_t>(slot)]; };
    run_circle({.capture = [&](int slot, FrameTime& time) { return capture(at(slot), time); },
                .process =
                    [&](int slot, const FrameTime& time) {
                        auto& image = at(slot);
                        try {
                            filter(image, time, wanted);
                            stages.process(slot, image);
                        } catch (const Error& error) {
                            throw Error(error.code(), fmt::format("{}: {}", images_[image.number], error.what()));
                        }
                    },
                .wait =
                    [&](int slot) {
                        at(slot).frame.wait();
                        if (stages.wait) stages.wait(slot);
                    },
                .send =
                    [&](int slot, const FrameTime& time) {
                        stages.send(slot, at(slot), time);
                        last_sent_ = at(slot).frame.result().shape();
                        statistics_.add_raw_bytes(last_sent_.bytes());
                    }},
               circle, statistics_);
}

RunDescription FolderWalk::description() const {
    return {folder_, std::string(to_string(executor_.backend())), last_sent_};
}

bool FolderWalk::capture(FolderImage& image, FrameTime& time) {
    if (next_ == images_.size() || stop_.stop_requested()) return false;
    const auto& path = images_[next_];
    const auto source = [&] {
        try {
            return open_source(path, {.stop = stop_.get_token()});
        } catch (const Error& error) {
            // The folder was there: it breaks here.
            throw Error(ErrorCode::source_lost, error.what());
        }
    }();
    ensure_shape(image.frame.captured, source->info().shape, executor_);
    if (!source->read(image.frame.captured.host(), time)) {
        if (stop_.stop_requested()) return false;
        fail(ErrorCode::source_lost, "{} holds no picture", path);
    }
    time.index = static_cast<std::int64_t>(next_);
    time.seconds = static_cast<double>(next_) / info_.rate.value();  // as the folder's video has it
    image.number = next_++;
    return true;
}

void FolderWalk::filter(FolderImage& image, const FrameTime& time, Wanted wanted) {
    const auto& shape = image.frame.captured.shape();
    if (!plan_ || plan_->input_shape() != shape) plan_.emplace(chain_, shape, executor_);
    if (!plan_->empty()) ensure_shape(image.frame.filtered, plan_->output_shape(), executor_);
    filter_frame(*plan_, image.frame, time, statistics_, images_[image.number], wanted);
}

}  // namespace framewire::app
