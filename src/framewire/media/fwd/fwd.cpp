// `.fwd` files as a Source. Damage is confined: a damaged block keeps its previous content until the next keyframe,
// and so does each block that is predicted from a damaged one.

#include "framewire/media/fwd/fwd.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/delta/packing/packing.hpp"
#include "framewire/media/fwd/file/reader.hpp"
#include "framewire/media/sources/source_kind.hpp"
#include "framewire/media/threads.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

namespace framewire {
namespace {

// Frame times are sums of fractions: two this close are equal.
constexpr double same_fwd_time_s = 1e-6;

// Reads frames and keeps the decoder's picture, to which delta frames are applied.
class FwdSource final : public Source {
public:
    FwdSource(const std::string& path, const SourceOptions& options) : reader_(path, options) {
        const auto& header = reader_.header();
        info_.name = path;
        info_.shape = header.shape;
        info_.rate = header.rate.value_or(options.rate.value_or(Rational{30, 1}));
        info_.frames = reader_.frames();
        info_.threshold = header.threshold;
        info_.facts.pixel_aspect = header.pixel_aspect;
    }

    const SourceInfo& info() const override { return info_; }

    bool read(HostView<std::uint8_t> image, FrameTime& time) override {
        validate(image, info_.shape, "the image to read into");
        while (reader_.next(frame_)) {
            const auto seconds = reader_.seconds(frame_.place.ticks);
            // After a seek, frames between the keyframe and the target are decoded but not delivered.
            if (!decode() || seconds < wanted_seconds_ - same_fwd_time_s) continue;
            copy(std::as_const(picture_).view(), image);
            time = {frame_.number, seconds, Clock::now()};
            return true;
        }
        return false;
    }

    bool seek(double seconds) override {
        if (!reader_.go_to(seconds)) return false;
        spread_.reset();
        wanted_seconds_ = seconds;
        return true;
    }

    std::int64_t damaged() const override { return reader_.damage().frames(); }
    void require_whole() const override { reader_.damage().require_none(); }

private:
    // Decodes the frame that was read into picture_. Returns false if no keyframe came before it.
    bool decode() {
        if (!unpacker_) {
            if (!frame_.place.whole) return skip_before_picture();
            begin();
        }
        if (frame_.place.whole) {
            say_spread();
            // A keyframe replaces every block.
            std::ranges::fill(damaged_, std::uint8_t{0});
        } else if (frame_.lost > 0) {
            std::ranges::fill(damaged_, std::uint8_t{1});  // it is unknown which blocks the lost frames changed
        }
        // The decoder extends this set by the blocks that are predicted from blocks in it.
        auto left_out = damaged_;
        for (std::size_t i = 0; i < frame_.blocks.size(); ++i)
            if (frame_.broken[i]) left_out[static_cast<std::size_t>(frame_.blocks[i].block)] = 1;
        try {
            if (frame_.place.whole)
                unpacker_->apply_picture(frame_.packed, picture_.view(), left_out);
            else
                unpacker_->apply_changes(frame_.packed, picture_.view(), left_out);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::source_lost) throw;
            reader_.damage().say(frame_.place.offset, "frame {} at {:.3f} s, at byte {}, makes no sense", frame_.number,
                                 reader_.seconds(frame_.place.ticks), frame_.place.offset);
            std::ranges::fill(left_out, std::uint8_t{1});
        }
        say_damage(left_out);
        damaged_ = std::move(left_out);
        if (std::ranges::any_of(damaged_, [](auto block) { return block != 0; }))
            reader_.damage().count_frames(frame_.place.offset, 1);
        return true;
    }

    // Reports a delta frame without a keyframe before it.
    bool skip_before_picture() {
        reader_.damage().say(frame_.place.offset, "frame {} at {:.3f} s, at byte {}, has no picture before it",
                             frame_.number, reader_.seconds(frame_.place.ticks), frame_.place.offset);
        reader_.damage().count_frames(frame_.place.offset, 1);
        return false;
    }

    // Allocates decoder and picture at the first keyframe: a file cannot request memory without the bytes of a
    // keyframe.
    void begin() {
        unpacker_.emplace(info_.shape, &media_threads());
        picture_ = HostImage(info_.shape);
        std::fill_n(picture_.view().data(), info_.shape.bytes(), std::uint8_t{0});
        damaged_.assign(static_cast<std::size_t>(delta::BlockGrid(info_.shape).count()), 0);
    }

    // Reports blocks that this frame damaged, each with its position in the file.
    void say_damage(const delta::BlockSet& left_out) {
        const delta::BlockGrid grid(info_.shape);
        const auto seconds = reader_.seconds(frame_.place.ticks);
        int first_spread = grid.count();
        for (std::size_t i = 0; i < frame_.blocks.size(); ++i) {
            const auto& [block, bytes] = frame_.blocks[i];
            const auto number = static_cast<std::size_t>(block);
            if (!left_out[number] || damaged_[number]) continue;
            const auto place = grid.place(block);
            const auto offset = frame_.place.offset + static_cast<std::int64_t>(fwd::frame_head_bytes) +
                                (bytes.data() - frame_.packed.data());
            if (!frame_.broken[i]) {
                first_spread = std::min(first_spread, block);
                continue;
            }
            reader_.damage().say(
                offset,
                "frame {} at {:.3f} s: block {}, {}x{} pixels at {},{}, is damaged, at bytes {} to {}; "
                "it stays as it was until the next picture",
                frame_.number, seconds, block, place.width, place.height, place.x, place.y, offset,
                offset + std::ssize(bytes) - 1);
        }
        if (first_spread < grid.count() && !spread_) {
            const auto place = grid.place(first_spread);
            spread_ = Spread{frame_.number, frame_.place.offset};
            reader_.damage().say(frame_.place.offset,
                                 "frame {} at {:.3f} s: block {}, at {},{}, is made of damaged ones or makes no sense; "
                                 "such blocks stay as they were, too",
                                 frame_.number, seconds, first_spread, place.x, place.y);
        }
        if (spread_) spread_->blocks = std::ranges::count_if(left_out, [](auto left) { return left != 0; });
    }

    // At a keyframe: reports how far damage had spread.
    void say_spread() {
        if (!spread_) return;
        reader_.damage().say(spread_->offset + 1,
                             "frames {} to {}: {} of {} blocks stayed as they were at last, until the next picture",
                             spread_->first, frame_.number - 1, spread_->blocks, damaged_.size());
        spread_.reset();
    }

    // Blocks that damage reached through prediction since the last keyframe.
    struct Spread {
        std::uint32_t first;    // first affected frame
        std::int64_t offset;    // its position in the file
        std::int64_t blocks{};  // total number of blocks with old content
    };

    fwd::Reader reader_;
    SourceInfo info_;
    fwd::Reader::Frame frame_;
    std::optional<delta::Unpacker> unpacker_;
    HostImage picture_;
    std::optional<Spread> spread_;
    delta::BlockSet damaged_;  // blocks whose content is wrong
    double wanted_seconds_ = -1;
};

// True for regular files with the magic, whatever their name.
bool is_fwd(const std::string& path) {
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(path, unknown)) return false;
    std::array<char, 8> begin{};
    std::ifstream file(path, std::ios::binary);
    file.read(begin.data(), begin.size());
    return fwd::has_magic(
        {reinterpret_cast<const std::uint8_t*>(begin.data()), static_cast<std::size_t>(file.gcount())});
}

}  // namespace

// The table entry for recordings. Unfinished files have another extension, so the content decides, too.
SourceKind fwd_source() {
    return {.name = "fwd",
            .form = "PATH",
            .summary = "a recording of the difference stream, .fwd; unfinished ones too, whatever their name",
            .endings = {".fwd"},
            .examples = {"camera.fwd"},
            .has_path = true,
            .named_by_path = true,
            .must_exist = true,
            .matches = is_fwd,
            .open = [](const SourceCall& call,
                       const SourceOptions& options) { return open_fwd_source(call.path, options); },
            .reads = reads_path};
}

std::unique_ptr<Source> open_fwd_source(const std::string& path, const SourceOptions& options) {
    return std::make_unique<FwdSource>(path, options);
}

FrameTimes fwd_frame_times(const std::string& path, const SourceOptions& options) {
    fwd::Reader reader(path, options);
    FrameTimes times;
    reader.for_each_place([&](const fwd::IndexEntry& place) {
        if (times.seconds.size() >= static_cast<std::size_t>(most_frames_of_times)) {
            times.unknown = "it has too many frames";
            return;
        }
        if (place.whole) times.entries.push_back(times.seconds.size());
        times.seconds.push_back(reader.seconds(place.ticks));
    });
    return times.unknown.empty() ? times : FrameTimes{.unknown = times.unknown};
}

}  // namespace framewire
