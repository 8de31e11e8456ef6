#include "ladders/difference/moments.hpp"

#include "framewire/codec/encoder_ref.hpp"
#include "framewire/core/error.hpp"
#include "ladders/difference/difference_kernels.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace framewire::bench {

LadderMoments::LadderMoments(const Shape& shape)
    : images{HostImage(shape), HostImage(shape)},
      held{HostImage(shape), HostImage(shape)},
      changes{codec::HostChanges(shape), codec::HostChanges(shape)} {
    fill_scene(images[0].view(), 3);
    fill_later(images[0].view(), images[1].view(), ladder_share, false, 11);
    copy(images[0].view(), held[0].view());
    for (int round = 0; round < 2; ++round)  // the first round removes the influence of the start
        for (const int moment : {1, 0}) {
            copy(held[moment ^ 1].view(), held[moment].view());
            codec::encode_reference(ladder_threshold, images[moment].view(), held[moment].view(),
                                    changes[moment].view());
        }
}

double LadderMoments::fewest_bytes() const {
    const double both = changes[0].view().summaries[0].count + changes[1].view().summaries[0].count;
    return 2.0 * static_cast<double>(images[0].shape().bytes()) + 6 * both / 2;
}

void LadderMoments::require(int moment, std::uint32_t count, const std::uint32_t* positions,
                            const std::uint8_t* differences, HostView<const std::uint8_t> held_after,
                            const std::string& what) const {
    const auto want = changes[moment].view();
    if (count != want.summaries[0].count)
        fail(ErrorCode::internal, "{}: found {} changes instead of {}; not timed", what, count,
             want.summaries[0].count);
    std::vector<std::pair<std::uint32_t, std::uint8_t>> found;
    for (std::uint32_t i = 0; i < count; ++i) found.emplace_back(positions[i], differences[i]);
    std::ranges::sort(found);
    for (std::uint32_t i = 0; i < count; ++i)
        if (found[i] != std::pair(want.positions[i], want.differences[i]))
            fail(ErrorCode::internal, "{}: change {} differs from the reference; not timed", what, i);
    Session::require_equal(held_after, held[moment].view(), what);
}

}  // namespace framewire::bench
