#pragma once

#include "jobs/filtered_input.hpp"
#include "options/common.hpp"

#include "framewire/pipeline/chain/chain.hpp"
#include "framewire/pipeline/chain/chain_plan.hpp"
#include "framewire/pipeline/circle/circle.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::app {

/// Whether an option's text names a folder to write into: one that is there, or a name that ends in a slash.
bool is_output_folder(const std::string& output);

/// Whether two paths lead to one folder.
bool is_same_folder(const std::string& one, const std::string& other);

/// Where something of each image goes: of an image NAME.png into NAME and `ending` in `folder`. Throws Error{usage}
/// when two images have one name but for their endings.
std::vector<std::string> outputs_of(const std::vector<std::string>& images, const std::string& folder,
                                    std::string_view ending);

/// One image of a folder on its way.
struct FolderImage {
    std::size_t number = 0;  ///< in the folder's order, from 0
    InputFrame frame;        ///< of the image's own size
};

/// What is done with the image in a slot of the circle, as CircleStages say.
struct FolderStages {
    std::function<void(int slot, FolderImage& image)> process;  ///< the filtered one; what it throws gets its name
    std::function<void(int slot)> wait{};                       ///< besides, until the filtered one is there
    std::function<void(int slot, FolderImage& image, const FrameTime& time)> send;
};

/// The images of a folder, each of its own size, one after the other through filters that begin anew where the size
/// changes. An image that cannot be read ends the walk after those before it were sent.
class FolderWalk {
public:
    /// Throws as StatisticsFile, parse_chain(), images_in() and Executor do, in this order.
    FolderWalk(const InputOptions& input, const CommonOptions& common, const std::stop_source& stop);

    /// Their paths, in order.
    const std::vector<std::string>& images() const { return images_; }
    Executor& executor() { return executor_; }
    Statistics& statistics() { return statistics_; }
    /// For run(), as it is or with room for more images under way.
    CircleOptions circle() const;

    /// To be called once; what comes of the filters is where it is `wanted`. Throws what the stages fail with,
    /// Error{source_lost} on an image that cannot be read, and Error{usage} on one that the filters do not take; all
    /// but what comes of send with the image's name.
    void run(const FolderStages& stages, const CircleOptions& circle, Wanted wanted);

    /// For the statistics; the size is that of the last image sent.
    RunDescription description() const;
    /// Into the file of `--stats`, where one is wanted.
    void write_statistics(const StatisticsSnapshot& figures, const RunDescription& run) {
        statistics_file_.write(figures, run);
    }

private:
    bool capture(FolderImage& image, FrameTime& time);
    void filter(FolderImage& image, const FrameTime& time, Wanted wanted);

    std::string folder_;
    const CommonOptions& common_;
    std::stop_source stop_;
    // In this order, so that what is cheap to refuse is refused first.
    StatisticsFile statistics_file_;
    Chain chain_;
    std::vector<std::string> images_;
    SourceInfo info_;
    Executor executor_;

    std::vector<FolderImage> slots_;
    std::optional<ChainPlan> plan_;
    std::size_t next_ = 0;
    Statistics statistics_;
    Shape last_sent_{};
};

}  // namespace framewire::app
