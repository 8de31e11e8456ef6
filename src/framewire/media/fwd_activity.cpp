#include "framewire/media/fwd_activity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace framewire::fwd {
namespace {

// Least excess over the usual size, the first of these with which the median block has a blip in at most one of 200
// frames. A blip is activity in no more than one of five frames: noise makes blips, objects longer activity. In mode
// bounded, an object that a motion vector predicts takes 6 bytes and more; with 24, events began up to 3 s late. In
// mode exact a noisy pixel takes 8 to 12.
constexpr std::array<std::uint32_t, 4> least_excesses{6, 12, 24, 48};
constexpr std::size_t frames_per_blip = 200;
constexpr std::size_t blip_distance = 3;  // frames to the next activity of the block
// Excess in multiples of the distance between the 5 % and the 25 % quantile, which is 0.97 standard deviations of a
// normal distribution: the limit is 4 standard deviations above its mean.
constexpr std::uint32_t excess_factor = 5;
// Distance between the 5 % and the 25 % quantile of a normal distribution, and of the latter and the mean, in standard
// deviations.
constexpr float quantile_distance = 0.970f, mean_distance = 0.674f;
// CUSUM: a deviation counts as far as it exceeds the slack, in standard deviations, and the block is active while the
// sum exceeds the limit. Deviations by three are found after 5 frames. Normally distributed noise exceeds the limit
// once in 4e7 sizes (Siegmund's approximation); an hour of 1080p has 5.5e7.
constexpr float drift_slack = 1, drift_limit = 8;
// Largest sum, so that the activity ends about 4 frames after the object.
constexpr float most_drift = 12;
// Windows with fewer delta frames keep the limits of the window before.
constexpr std::size_t least_frames = 100;
// Heat: an active block gains 1, or 2 if it exceeds twice its limit by this many bytes, and keeps this share per frame.
constexpr std::uint32_t very_active_bytes = 24;
constexpr float heat_kept = 0.8f;
// Sum of the heat of a block and its neighbours at which a frame counts: one very active block, or three frames.
constexpr float least_heat = 2;

// Returns a quantile of `zeros` zeros and the values, which are reordered.
std::uint32_t quantile(std::span<std::uint32_t> values, std::size_t zeros, double share) {
    const auto all = values.size() + zeros;
    const auto rank = static_cast<std::size_t>(share * static_cast<double>(all - 1));
    if (rank < zeros) return 0;
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank - zeros);
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

// Returns the smallest rectangle around both; a width of 0 means none.
Zone united(const Zone& one, const Zone& other) {
    if (one.width == 0) return other;
    if (other.width == 0) return one;
    const int x = std::min(one.x, other.x), y = std::min(one.y, other.y);
    return {x, y, std::max(one.x + one.width, other.x + other.width) - x,
            std::max(one.y + one.height, other.y + other.height) - y};
}

}  // namespace

BlockActivity::BlockActivity(const Shape& shape, codec::BlockSet looked_at)
    : grid_(shape),
      looked_at_(std::move(looked_at)),
      limits_(static_cast<std::size_t>(grid_.count())),
      least_(static_cast<std::size_t>(grid_.count())),
      noisy_(static_cast<std::size_t>(grid_.count())),
      drifts_(static_cast<std::size_t>(grid_.count())),
      heats_(static_cast<std::size_t>(grid_.count())) {}

void BlockActivity::add(std::int64_t frame, double seconds, bool keyframe, std::span<const codec::BlockSize> sizes) {
    if (keyframe) return;
    if (!frames_.empty() && (seconds > frames_.front().seconds + window_seconds ||
                             frames_.size() + sizes_.size() + sizes.size() > most_window_blocks))
        end_window();
    frames_.push_back({frame, seconds, sizes_.size()});
    sizes_.insert(sizes_.end(), sizes.begin(), sizes.end());
}

void BlockActivity::end_window() {
    if (!has_limits_ || frames_.size() >= least_frames) learn_limits();
    for (std::size_t frame = 0; frame < frames_.size(); ++frame)
        if (const auto active = active_in(frame); active.box.width > 0) extend_ranges(frames_[frame], active);
    frames_.clear();
    sizes_.clear();
}

// Sorts the sizes by block, then takes quantiles of each block's sizes; frames that do not code a block count as 0.
void BlockActivity::learn_limits() {
    if (frames_.empty()) return;
    struct Change {
        std::size_t frame;
        std::uint32_t bytes;
    };
    const auto blocks = limits_.size();
    std::vector<std::size_t> ends(blocks + 1);
    for (const auto& size : sizes_) ++ends[static_cast<std::size_t>(size.block) + 1];
    for (std::size_t block = 0; block < blocks; ++block) ends[block + 1] += ends[block];
    auto next = ends;
    std::vector<Change> changes(sizes_.size());
    for (std::size_t frame = 0, at = 0; frame < frames_.size(); ++frame) {
        const auto end = frame + 1 < frames_.size() ? frames_[frame + 1].begin : sizes_.size();
        for (; at < end; ++at) changes[next[static_cast<std::size_t>(sizes_[at].block)]++] = {frame, sizes_[at].bytes};
    }
    const auto changes_of = [&](std::size_t block) {
        return std::span<const Change>(changes).subspan(ends[block], ends[block + 1] - ends[block]);
    };
    std::vector<std::uint32_t> usual(blocks), excess(blocks), values;
    for (std::size_t block = 0; block < blocks; ++block) {
        values.clear();
        for (const auto& change : changes_of(block)) values.push_back(change.bytes);
        const auto zeros = frames_.size() - values.size();
        usual[block] = quantile(values, zeros, 0.25);
        const auto low = quantile(values, zeros, 0.05), distance = usual[block] - low;
        excess[block] = excess_factor * distance;
        noisy_[block] = {};
        if (low == 0 || distance == 0) continue;
        const float deviation = static_cast<float>(distance) / quantile_distance;
        noisy_[block] = {static_cast<float>(usual[block]) + mean_distance * deviation, deviation};
    }
    // Returns the number of frames in which a block is active, but not in the frames next to it.
    const auto blips = [&](std::size_t block) {
        std::size_t count = 0, last = 0;
        bool any = false, alone = false;
        for (const auto& change : changes_of(block)) {
            if (change.bytes <= limits_[block]) continue;
            const bool apart = !any || change.frame - last >= blip_distance;
            if (apart && alone) ++count;
            alone = apart;
            last = change.frame;
            any = true;
        }
        return count + (alone ? 1 : 0);
    };
    std::vector<std::size_t> counts(blocks);
    for (const auto least : least_excesses) {
        for (std::size_t block = 0; block < blocks; ++block) {
            const auto margin = std::max(least, excess[block]);
            limits_[block] = usual[block] + margin;
            least_[block] = usual[block] > margin ? usual[block] - margin : 0;
            counts[block] = blips(block);
        }
        std::ranges::nth_element(counts, counts.begin() + std::ssize(counts) / 2);
        if (counts[counts.size() / 2] * frames_per_blip <= frames_.size()) break;
    }
    has_limits_ = true;
}

bool BlockActivity::drifts(const codec::BlockSize& size, const FrameEntry& frame) {
    const auto& usual = noisy_[static_cast<std::size_t>(size.block)];
    if (usual.deviation == 0) return false;
    auto& drift = drifts_[static_cast<std::size_t>(size.block)];
    const float deviation = (static_cast<float>(size.bytes) - usual.mean) / usual.deviation;
    bool any = false;
    for (std::size_t side = 0; side < 2; ++side) {
        auto& sum = drift.sums[side];
        if (sum == 0) drift.since[side] = frame;
        sum = std::clamp(sum + (side == 0 ? deviation : -deviation) - drift_slack, 0.0f, most_drift);
        any |= sum > drift_limit;
    }
    return any;
}

BlockActivity::ActiveFrame BlockActivity::active_in(std::size_t frame) {
    ++delta_frames_;
    const auto begin = frames_[frame].begin;
    const auto end = frame + 1 < frames_.size() ? frames_[frame + 1].begin : sizes_.size();
    const auto sizes = std::span(sizes_).subspan(begin, end - begin);
    const auto heat = [&](int block) {
        const auto& one = heats_[static_cast<std::size_t>(block)];
        return one.heat * std::pow(heat_kept, static_cast<float>(delta_frames_ - one.at));
    };
    const auto is_active = [&](const codec::BlockSize& size) {
        const auto block = static_cast<std::size_t>(size.block);
        return looked_at_[block] && (size.bytes > limits_[block] || size.bytes < least_[block]);
    };
    ActiveFrame active{.since = frames_[frame]};
    const auto add = [&](int block) {
        const auto place = grid_.place(block);
        active.box = united(active.box, {place.x, place.y, place.width, place.height});
    };
    for (const auto& size : sizes) {
        if (!looked_at_[static_cast<std::size_t>(size.block)] || !drifts(size, frames_[frame])) continue;
        add(size.block);
        const auto& drift = drifts_[static_cast<std::size_t>(size.block)];
        for (std::size_t side = 0; side < 2; ++side)
            if (drift.sums[side] > drift_limit && drift.since[side].frame < active.since.frame)
                active.since = drift.since[side];
    }
    for (const auto& size : sizes) {
        if (!is_active(size)) continue;
        const auto limit = limits_[static_cast<std::size_t>(size.block)];
        const float gain = size.bytes > 2 * limit + very_active_bytes ? 2 : 1;
        heats_[static_cast<std::size_t>(size.block)] = {heat(size.block) + gain, delta_frames_};
    }
    for (const auto& size : sizes) {
        if (!is_active(size)) continue;
        const int column = size.block % grid_.columns(), row = size.block / grid_.columns();
        float sum = 0;
        for (int y = std::max(row - 1, 0); y <= std::min(row + 1, grid_.rows() - 1); ++y)
            for (int x = std::max(column - 1, 0); x <= std::min(column + 1, grid_.columns() - 1); ++x)
                sum += heat(y * grid_.columns() + x);
        if (sum >= least_heat) add(size.block);
    }
    return active;
}

void BlockActivity::extend_ranges(const FrameEntry& frame, const ActiveFrame& active) {
    const auto& since = active.since;
    const auto begin = std::max(0.0, since.seconds - margin_seconds), end = frame.seconds + margin_seconds;
    if (!ranges_.empty() && since.seconds - (ranges_.back().end_seconds - margin_seconds) <= gap_seconds) {
        ranges_.back().end_seconds = end;
        ranges_.back().box = united(ranges_.back().box, active.box);
    } else {
        ranges_.push_back({begin, end, since.frame, active.box});
    }
}

std::vector<ActiveRange> BlockActivity::finish() {
    end_window();
    return std::move(ranges_);
}

Activity read_activity(Reader& reader, const codec::BlockSet& looked_at,
                       const std::function<void(double seconds)>& each) {
    Activity activity;
    BlockActivity blocks(reader.header().shape, looked_at);
    std::vector<codec::BlockSize> sizes;
    for (Reader::Frame frame; reader.next_sizes(frame, sizes); ++activity.frames) {
        const auto seconds = reader.seconds(frame.place.ticks);
        if (activity.frames == 0) activity.begin_seconds = seconds;
        activity.end_seconds = seconds;
        blocks.add(frame.number, seconds, frame.place.whole, sizes);
        if (each) each(seconds);
    }
    activity.ranges = blocks.finish();
    return activity;
}

}  // namespace framewire::fwd
