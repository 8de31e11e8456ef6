#include "framewire/jobs/find.hpp"
#include "framewire/codec/blocks.hpp"
#include "framewire/core/error.hpp"
#include "framewire/detect/detector.hpp"
#include "framewire/detect/masks.hpp"
#include "framewire/filters/gray.hpp"
#include "framewire/jobs/input/filtered_input.hpp"
#include "framewire/media/fwd.hpp"
#include "framewire/media/fwd_activity.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>
#include <utility>
#include <variant>

namespace framewire::jobs {

struct FindJob::Search {
    virtual ~Search() = default;
    virtual void run() = 0;
    virtual const Statistics& statistics() const = 0;

    FindResult result;
};

namespace {

// Decodes every frame and runs the detector on it.
class DetectorSearch final : public FindJob::Search {
public:
    explicit DetectorSearch(const FindOptions& options)
        : job_(options.job, options.input, files_of(options)),
          detector_(make_detector(options.detector, job_.input().shape(), job_.input().rate(), job_.input().executor(),
                                  job_.stop())),
          ranges_(options.rules) {
        if (detector_->takes_planes()) job_.input().give_unfiltered_pictures();
    }

    void run() override {
        job_.run<FrameObjects>({.wanted = {.by_stages = true},
                                .make = [this] { return detector_->make_objects(); },
                                .start = [this](InputFrame& frame, const FrameTime&,
                                                FrameObjects& found) { start_on(frame, *detector_, found); },
                                .send =
                                    [this](InputFrame&, const FrameTime& time, FrameObjects& found) {
                                        ranges_.add(time.index, time.seconds, found.objects());
                                        result.end_seconds = time.seconds;
                                        ++result.decoded_frames;
                                    },
                                .finish = [this](FirstFailure&, Ending) { result.ranges = ranges_.finish(); },
                                .describe =
                                    [this](RunDescription& run) {
                                        run.plan.push_back(detector_->planned_step(job_.input().result_format()));
                                    }},
                               result);
    }

    const Statistics& statistics() const override { return job_.statistics(); }

private:
    FrameJob<FilteredInput> job_;
    std::unique_ptr<FrameDetector> detector_;
    MotionRanges ranges_;
};

// The thresholds of an adaptive background follow the pixels with a time constant of 64 frames.
constexpr std::int64_t adaptive_warm_up_frames = 200;

// Returns the frames from which a background must learn before its masks are reliable.
std::int64_t warm_up_frames(const BackgroundModel& model) {
    constexpr std::int64_t most = 3000;
    auto frames = frames_before_background(model);
    // The learning rate of a mixture falls until 2 n reaches its history. With that many frames only, an object of
    // 19x16 pixels was found in a recording of a road that is not there with all frames before.
    if (const auto* mixture = std::get_if<MixtureParameters>(&model)) frames = mixture->history;
    if (std::holds_alternative<AdaptiveParameters>(model)) frames = adaptive_warm_up_frames;
    // After three time constants, 5 % of a mean stem from its start.
    if (const auto* mean = std::get_if<RunningMean>(&model))
        frames = static_cast<std::int64_t>(std::min(3 / mean->rate, double{most}));
    return std::clamp<std::int64_t>(frames, 1, most);
}

// Returns the part of an image.
HostView<const std::uint8_t> part_of(HostView<const std::uint8_t> image, const Zone& part) {
    const auto& shape = image.shape();
    return {image.row(0, part.y) + std::int64_t{part.x} * shape.channels,
            {1, part.height, part.width, shape.channels},
            image.row_stride_bytes(),
            image.frame_stride_bytes()};
}

// Searches a recording: its changes first, then the pictures where more changes than usual.
class RecordingSearch final : public FindJob::Search {
public:
    explicit RecordingSearch(const FindOptions& options)
        : options_(options),
          job_(options.job, files_of(options)),
          source_{.stop = job_.stop(), .max_pixels = options.input.max_pixels.value_or(SourceOptions{}.max_pixels)},
          reader_(options.input.source, source_),
          shape_(reader_.header().shape) {
        load_pictures();
        // checks the parameters before anything is read
        Executor executor(BackendChoice::cpu, 1);
        static_cast<void>(MotionDetector(options.detector.parameters, {1, 1, 1, shape_.channels}, executor));
        static_cast<void>(MotionRanges(options.rules));
        result.from_changes = true;
        result.began_us = reader_.header().began_us;
    }

    const Statistics& statistics() const override { return job_.statistics(); }

    void run() override {
        job_.begin_run();
        job_.statistics().start();
        FirstFailure failure;
        failure.attempt([&] { search(); });
        failure.attempt([&] { reader_.damage().require_none(); });
        result.ending = ending_of(failure, job_.stopped(), false);
        result.figures = job_.statistics().snapshot();
        result.description = {.source = options_.input.source,
                              .backend = std::string(to_string(Backend::cpu)),
                              .size = shape_,
                              .damaged = reader_.damage().frames()};
        failure.attempt([&] { job_.statistics_file().write(result.figures, result.description); });
        failure.rethrow();
        if (result.figures.frames == 0 && !job_.stopped())
            fail(ErrorCode::no_input, "{} has no frames", options_.input.source);
    }

private:
    // A frame with objects.
    struct Seen {
        std::int64_t frame;
        double seconds;
        std::vector<Component> objects;
    };

    // A time range to decode, and the times in it when more changes than usual.
    struct DecodedRange : fwd::ActiveRange {
        std::vector<fwd::ActiveRange> active{};
    };

    void search() {
        const Progress progress(job_.options().progress, job_.statistics(), reader_.frames());
        const auto activity = fwd::read_activity(reader_, blocks_in_region(),
                                                 [&](double) { job_.statistics().count_frame(shape_.bytes()); });
        result.end_seconds = activity.end_seconds;
        if (job_.stopped()) return;
        if (activity.frames > 1)
            frame_seconds_ = std::max(
                (activity.end_seconds - activity.begin_seconds) / static_cast<double>(activity.frames - 1), 1e-3);
        collect(look_at(joined(activity.ranges)));
    }

    // Returns the time for which the detector learns before a range.
    double warm_up_seconds() const {
        return static_cast<double>(warm_up_frames(options_.detector.parameters.background)) * frame_seconds_;
    }

    // Joins ranges if the second one's background would be learnt during the first one, so that no frame is decoded
    // twice.
    std::vector<DecodedRange> joined(const std::vector<fwd::ActiveRange>& ranges) const {
        std::vector<DecodedRange> all;
        for (const auto& range : ranges) {
            if (all.empty() || range.begin_seconds - warm_up_seconds() > all.back().end_seconds) {
                all.push_back({range, {range}});
                continue;
            }
            auto& last = all.back();
            last.active.push_back(range);
            const int right = std::max(last.box.x + last.box.width, range.box.x + range.box.width);
            const int bottom = std::max(last.box.y + last.box.height, range.box.y + range.box.height);
            last.box.x = std::min(last.box.x, range.box.x);
            last.box.y = std::min(last.box.y, range.box.y);
            last.box.width = right - last.box.x;
            last.box.height = bottom - last.box.y;
            last.end_seconds = range.end_seconds;
        }
        return all;
    }

    // Joins the frames of all ranges, which may overlap, to motion ranges.
    void collect(std::vector<std::vector<Seen>> seen) {
        std::vector<Seen> all;
        for (auto& part : seen) std::ranges::move(part, std::back_inserter(all));
        std::ranges::stable_sort(all, {}, &Seen::frame);
        MotionRanges ranges(options_.rules);
        for (std::size_t i = 0; i < all.size(); ++i) {
            auto& one = all[i];
            // the same frame, seen in the pictures of two ranges
            while (i + 1 < all.size() && all[i + 1].frame == one.frame)
                std::ranges::copy(all[++i].objects, std::back_inserter(one.objects));
            if (&one != all.data() && (&one)[-1].frame < one.frame - 1) ranges.skip();
            ranges.add(one.frame, one.seconds, one.objects);
        }
        result.ranges = ranges.finish();
    }

    // Runs the detector in all ranges, on several threads with a decoder each.
    std::vector<std::vector<Seen>> look_at(const std::vector<DecodedRange>& ranges) {
        std::vector<std::vector<Seen>> seen(ranges.size());
        std::atomic<std::size_t> next = 0;
        FirstFailure failure;
        std::mutex mutex;
        const auto work = [&] {
            try {
                fwd::PictureReader pictures(options_.input.source, source_, nullptr, fwd::DamageLog::off);
                for (std::size_t i = next++; i < ranges.size() && !job_.stopped(); i = next++)
                    seen[i] = look_at(ranges[i], pictures);
            } catch (...) {
                next = ranges.size();
                const std::lock_guard lock(mutex);
                failure.attempt([] { throw; });
            }
        };
        {
            std::vector<std::jthread> threads;
            for (int thread = 1; thread < thread_count(ranges.size()); ++thread) threads.emplace_back(work);
            work();
        }
        result.decoded_frames = decoded_;
        failure.rethrow();
        return seen;
    }

    // Returns the number of threads: each has a picture and a background model, which together may take 1 GB.
    int thread_count(std::size_t ranges) const {
        constexpr std::int64_t most_bytes = std::int64_t{1} << 30, bytes_per_pixel = 64;
        const auto wanted = ThreadPool(job_.options().threads).threads();
        const auto pixels = std::int64_t{shape_.width} * shape_.height;
        const auto room = std::max<std::int64_t>(1, most_bytes / (pixels * bytes_per_pixel));
        return static_cast<int>(
            std::min<std::int64_t>({wanted, room, std::max<std::int64_t>(1, static_cast<std::int64_t>(ranges))}));
    }

    // Runs the detector in one range, on the part of the picture that changes there. After the range it continues
    // until nothing moves any more, because an object that stops is still seen for a while.
    std::vector<Seen> look_at(const DecodedRange& range, fwd::PictureReader& pictures) {
        std::vector<Seen> seen;
        const auto part = part_for(range);
        Executor executor(BackendChoice::cpu, 1);
        const auto region = region_for(part, executor);
        if (region.outside) return seen;
        MotionDetector detector(at_rate(options_.detector.parameters, 1 / frame_seconds_),
                                {1, part.height, part.width, shape_.channels}, executor,
                                region.mask ? &*region.mask : nullptr);
        auto objects = detector.make_objects();
        const auto lists = objects.lists<MemorySpace::host>();
        if (background_) detector.set_background(part_of(background_->view(), part));
        FrameTime time;
        // The first frame of the recording is the background that FirstFrame compares with.
        if (std::holds_alternative<FirstFrame>(options_.detector.parameters.background) && pictures.seek(0) &&
            pictures.next(time))
            detector.run(part_of(pictures.picture(), part), lists);
        if (!pictures.seek(std::max(0.0, range.begin_seconds - warm_up_seconds()))) return seen;
        double last_seen = range.end_seconds;
        HostImage before({1, part.height, part.width, shape_.channels});
        std::size_t begun = 0;  // active ranges up to this frame
        std::int64_t decoded = 0;
        while (!job_.stopped() && pictures.next(time)) {
            if (time.seconds >
                std::min(last_seen + fwd::BlockActivity::margin_seconds, range.end_seconds + longest_after_seconds()))
                break;
            const auto picture = part_of(pictures.picture(), part);
            detector.run(picture, lists);
            ++decoded;
            for (; begun < range.active.size() && time.seconds >= range.active[begun].begin_seconds; ++begun)
                copy(picture, before.view());
            const auto found = objects.of_frame();
            if (begun == 0 || found.empty()) continue;
            Seen one{time.index, time.seconds, {found.begin(), found.end()}};
            if (time.seconds > range.active[begun - 1].end_seconds)
                std::erase_if(one.objects, [&](const Component& object) {
                    return may_be_trace(object, std::as_const(before).view(), picture);
                });
            if (one.objects.empty()) continue;
            last_seen = std::max(last_seen, time.seconds);
            for (auto& object : one.objects) {
                object.x += part.x;
                object.y += part.y;
            }
            seen.push_back(std::move(one));
        }
        decoded_ += decoded;
        return seen;
    }

    // Returns true if an object may be a trace of one that has left. A recorded pixel differs from the camera's by at
    // most the threshold, before and after the object, so a trace differs from the picture before by at most twice
    // that.
    bool may_be_trace(const Component& object, HostView<const std::uint8_t> before,
                      HostView<const std::uint8_t> now) const {
        const int most = 2 * reader_.header().threshold;
        const int channels = shape_.channels, least = options_.detector.parameters.min_area;
        int different = 0;
        for (int y = object.y; y < object.y + object.height; ++y) {
            const auto *old_row = before.row(0, y), *row = now.row(0, y);
            for (int x = object.x; x < object.x + object.width; ++x) {
                bool differs = false;
                for (int i = channels * x; i < channels * (x + 1); ++i) differs |= std::abs(row[i] - old_row[i]) > most;
                if (differs && ++different >= least) return false;
            }
        }
        return true;
    }

    // Returns the part of the picture for a range: the blocks that change and those around them.
    Zone part_for(const fwd::ActiveRange& range) const {
        constexpr int margin = codec::block_side;
        const int left = std::max(0, range.box.x - margin), top = std::max(0, range.box.y - margin);
        return {left, top, std::min(shape_.width, range.box.x + range.box.width + margin) - left,
                std::min(shape_.height, range.box.y + range.box.height + margin) - top};
    }

    // The region of a part of the picture.
    struct PartRegion {
        bool outside = false;  // the part has no pixel of the region
        std::optional<MaskRegion> mask{};
    };

    PartRegion region_for(const Zone& part, Executor& executor) const {
        if (region_) return {.mask = MaskRegion(part_of(region_->view(), part), executor)};
        const auto* zones = std::get_if<std::vector<Zone>>(&options_.detector.region);
        if (!zones) return {};
        std::vector<Zone> inside;
        for (const auto& zone : *zones) {
            const int left = std::max(zone.x, part.x), top = std::max(zone.y, part.y);
            const int right =
                static_cast<int>(std::min(std::int64_t{zone.x} + zone.width, std::int64_t{part.x} + part.width));
            const int bottom =
                static_cast<int>(std::min(std::int64_t{zone.y} + zone.height, std::int64_t{part.y} + part.height));
            if (left < right && top < bottom)
                inside.push_back({left - part.x, top - part.y, right - left, bottom - top});
        }
        if (inside.empty()) return {.outside = true};
        return {.mask = MaskRegion(inside, {1, part.height, part.width, 1}, executor)};
    }

    // Reads the pictures of the region and the background, if they are files, and checks the zones.
    void load_pictures() {
        background_ = load_background(options_.detector, shape_, job_.stop());
        Executor executor(BackendChoice::cpu, 1);
        if (const auto* path = std::get_if<std::string>(&options_.detector.region))
            region_ = load_region(*path, shape_, job_.stop());
        else
            static_cast<void>(make_region(options_.detector.region, shape_, executor, job_.stop()));
    }

    // Returns the blocks that contain a pixel of the region.
    codec::BlockSet blocks_in_region() const {
        const codec::BlockGrid grid(shape_);
        codec::BlockSet blocks(static_cast<std::size_t>(grid.count()), 1);
        const auto* zones = std::get_if<std::vector<Zone>>(&options_.detector.region);
        for (int block = 0; block < grid.count(); ++block) {
            const auto place = grid.place(block);
            auto& looked_at = blocks[static_cast<std::size_t>(block)];
            if (zones) {
                looked_at = std::ranges::any_of(*zones, [&](const Zone& zone) {
                    return zone.x < place.x + place.width && place.x < std::int64_t{zone.x} + zone.width &&
                           zone.y < place.y + place.height && place.y < std::int64_t{zone.y} + zone.height;
                });
            } else if (region_) {
                looked_at = 0;
                for (int y = place.y; y < place.y + place.height && !looked_at; ++y) {
                    const auto* row = region_->view().row(0, y) + place.x;
                    looked_at = std::any_of(row, row + place.width, [](std::uint8_t pixel) { return pixel != 0; });
                }
            }
        }
        return blocks;
    }

    // Returns for how long an object that stands still is watched: for 60 s, or for as long as the background keeps it.
    double longest_after_seconds() const {
        constexpr double usual = 60, margin = 10;
        const auto* adaptive = std::get_if<AdaptiveParameters>(&options_.detector.parameters.background);
        if (!adaptive) return usual;
        if (adaptive->keep_seconds == 0) return std::numeric_limits<double>::infinity();
        return std::max(usual, adaptive->keep_seconds + margin);
    }

    FindOptions options_;
    Job job_;
    SourceOptions source_;
    fwd::Reader reader_;
    Shape shape_;
    std::optional<HostImage> background_, region_;  // if they are files
    double frame_seconds_ = 1.0 / 30;
    std::atomic<std::int64_t> decoded_ = 0;
};

// Returns true if the changes of the source can be searched instead of its pictures.
bool reads_changes(const FindOptions& options) {
    const auto& input = options.input;
    return parse_source(input.source).kind->name == "fwd" && input.filters.empty() && !input.loop &&
           input.start_seconds == 0 && !input.duration_seconds && input.fps == 0 && !options.job.frames &&
           options.job.backend != BackendChoice::cuda;
}

}  // namespace

JobFiles files_of(const FindOptions& options) {
    auto files = JobFiles().source(options.input.source).statistics(options.job.statistics_path);
    add_input_files(files, options.detector);
    return files;
}

FindJob::FindJob(const FindOptions& options) {
    if (reads_changes(options))
        search_ = std::make_unique<RecordingSearch>(options);
    else
        search_ = std::make_unique<DetectorSearch>(options);
}

FindJob::~FindJob() = default;

const FindResult& FindJob::run() { return search_->run(), search_->result; }
const FindResult& FindJob::result() const { return search_->result; }
const Statistics& FindJob::statistics() const { return search_->statistics(); }

RunOptions clip_of(const FindOptions& options, const FindResult& result, const MotionRange& range,
                   const ClipOptions& clips) {
    const auto begin = std::max(0.0, range.begin_seconds - clips.before_seconds);
    const auto ending = !clips.ending.empty() ? clips.ending : result.from_changes ? "fwd" : usual_clip_ending();
    const auto name = clip_name(options.input.source, result.began_us, begin);
    return cut_of(options.job, options.input, {begin, range.end_seconds + clips.after_seconds},
                  std::filesystem::path(clips.folder) / fmt::format("{}.{}", name, ending), clips.audio);
}

}  // namespace framewire::jobs
