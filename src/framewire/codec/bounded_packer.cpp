#include "framewire/codec/bounded_packer.hpp"
#include "framewire/codec/blocks.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/codec/prediction.hpp"
#include "framewire/codec/quick_prediction.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

// Mode `bounded` on the CPU. pack_step() runs in three passes over the blocks, each in parallel:
//
//     1. block_distance()       finds the blocks in which some byte is off by more than the threshold
//     2. PredictionEncoder      codes these blocks and reconstructs them in `after`;
//                               at effort 0, QuickPredictionEncoder
//     3. copy to R              and measurement of the errors that remain
//
// R is updated only after all blocks are coded, because they are predicted from the complete previous R.

namespace framewire::codec {
struct BoundedPacker::State {
    Shape shape;
    BlockGrid grid;
    const ThreadPool* pool;
    HostImage after;  // reconstruction of the coded blocks
    std::vector<Summary> found;
    std::vector<int> coded;
    Effort effort;
    std::vector<PredictionEncoder> encoders;             // one per worker; empty before a frame is searched
    std::vector<QuickPredictionEncoder> quick_encoders;  // one per worker; empty before a frame is not searched
    PicturePacker pictures;
    BlockWriter writer;
    std::vector<std::uint8_t> whole;  // the current keyframe in lossless form

    State(const Shape& of, int level, const ThreadPool* pool_)
        : shape(of),
          grid(of),
          pool(pool_),
          after(of),
          found(static_cast<std::size_t>(grid.count())),
          pictures(of, pool) {
        set_effort(Effort::of(level));
        coded.reserve(found.size());
    }

    void set_effort(Effort of) {
        effort = of;
        if (effort.searches())
            encoders.resize(block_workers(pool));
        else
            quick_encoders.resize(block_workers(pool));
        for (auto& encoder : encoders) encoder.set_effort(effort);
    }

    // Codes the blocks listed in `coded`, appends the frame to `out`, copies the reconstruction to `reference`, and
    // stores the remaining errors in `found`.
    void pack(PackedHead::Kind kind, int within, HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference,
              std::vector<std::uint8_t>& out) {
        const HostView<const std::uint8_t> before = reference;
        const bool fresh = kind == PackedHead::Kind::first_picture;
        if (effort.searches())
            writer.write({kind, within}, coded, grid.count(), pool, out,
                         [&](std::size_t worker, int block, std::vector<std::uint8_t>& bytes) {
                             encoders[worker].encode(camera, before, grid.place(block), within, fresh, after.view(),
                                                     bytes);
                         });
        else
            pack_quickly({kind, within}, camera, before, out);
        for_blocks(pool, coded.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
            for (auto i = begin; i < end; ++i) {
                const int block = coded[i];
                const auto place = grid.place(block);
                copy_block(std::as_const(after).view(), reference, place);
                // Measure the errors that remain, but keep the count of bytes that were off before coding.
                const auto count = found[static_cast<std::size_t>(block)].count;
                found[static_cast<std::size_t>(block)] = block_distance(camera, before, place, within);
                found[static_cast<std::size_t>(block)].count = count;
            }
        });
    }

    // Codes the blocks listed in `coded` with the quick encoders, several at a time.
    void pack_quickly(const PackedHead& head, HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before,
                      std::vector<std::uint8_t>& out) {
        constexpr auto most = QuickPredictionEncoder::at_once;
        writer.write_found(
            head, (coded.size() + most - 1) / most, grid.count(), pool, out,
            [&](std::size_t worker, std::size_t group, std::vector<std::uint8_t>& bytes, auto&& took) {
                const auto of =
                    std::span(coded).subspan(group * most).first(std::min(most, coded.size() - group * most));
                std::array<BlockPlace, most> places;
                std::array<std::size_t, most> sizes;
                for (std::size_t i = 0; i < of.size(); ++i) places[i] = grid.place(of[i]);
                quick_encoders[worker].encode(camera, before, std::span(places).first(of.size()), head.threshold,
                                              after.view(), bytes, sizes);
                for (std::size_t i = 0; i < of.size(); ++i) took(of[i], sizes[i]);
            });
    }

    Summary sum() const {
        Summary all;
        for (const auto& block : found) add(all, block);
        return all;
    }
};

Effort Effort::of(int level) {
    if (level < 0 || level > most) fail(ErrorCode::usage, "the effort is {}; allowed: 0 to {}", level, most);
    constexpr int ranges[] = {0, 6, 12}, counts[] = {0, 3, 4};
    return {ranges[level], counts[level]};
}

BoundedPacker::BoundedPacker(const Shape& shape, int effort, const ThreadPool* pool) {
    validate_one_frame(shape, "the bounded packer's frame");
    state_ = std::make_unique<State>(shape, effort, pool);
}
BoundedPacker::~BoundedPacker() = default;
BoundedPacker::BoundedPacker(BoundedPacker&&) noexcept = default;
BoundedPacker& BoundedPacker::operator=(BoundedPacker&&) noexcept = default;

void BoundedPacker::set_effort(int effort) { state_->set_effort(Effort::of(effort)); }

Summary BoundedPacker::pack_first(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int threshold,
                                  std::vector<std::uint8_t>& out) {
    auto& state = *state_;
    validate_packed_threshold(threshold);
    validate(camera, state.shape, "the bounded packer's frame");
    validate(reference, state.shape, "the bounded packer's reference");
    state.coded.resize(state.found.size());
    std::iota(state.coded.begin(), state.coded.end(), 0);
    std::fill(state.found.begin(), state.found.end(), Summary{});
    state.whole.clear();
    // The lossless keyframe is always needed, either as the result or to compare its size. At effort 0, it is the
    // result.
    state.pictures.pack(camera, threshold, state.whole);
    // The near keyframe is used only if it is more than an eighth smaller.
    const int within = state.effort.searches() ? first_threshold(threshold) : 0;
    const auto before = out.size();
    if (within > 0) {
        state.pack(PackedHead::Kind::first_picture, within, camera, reference, out);
        if (takes_near_picture(out.size() - before, state.whole.size())) return state.sum();
    }
    out.resize(before);
    out.insert(out.end(), state.whole.begin(), state.whole.end());
    copy(camera, reference);
    return {};
}

Summary BoundedPacker::pack_step(HostView<const std::uint8_t> camera, HostView<std::uint8_t> reference, int threshold,
                                 std::vector<std::uint8_t>& out) {
    auto& state = *state_;
    validate_packed_threshold(threshold);
    validate(camera, state.shape, "the bounded packer's frame");
    validate(reference, state.shape, "the bounded packer's reference");
    const HostView<const std::uint8_t> before = reference;
    for_blocks(state.pool, state.found.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
        for (auto block = begin; block < end; ++block)
            state.found[block] = block_distance(camera, before, state.grid.place(static_cast<int>(block)), threshold);
    });
    state.coded.clear();
    for (int block = 0; block < state.grid.count(); ++block)
        if (state.found[static_cast<std::size_t>(block)].count > 0) state.coded.push_back(block);
    state.pack(PackedHead::Kind::prediction, threshold, camera, reference, out);
    return state.sum();
}

std::span<const Summary> BoundedPacker::blocks() const { return state_->found; }

}  // namespace framewire::codec
