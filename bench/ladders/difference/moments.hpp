#pragma once

#include "framewire/delta/delta_ref.hpp"
#include "ladders/difference/difference_kernels.hpp"
#include "ladders/ladder.hpp"

namespace framewire::bench {

/// Two moments of a scene. One after the other, over and over, each finds the same changes in what the other left.
struct LadderMoments {
    HostImage images[2];
    HostImage held[2];  ///< what the viewer holds after each
    delta::HostChanges changes[2];

    explicit LadderMoments(const Shape& shape)
        : images{HostImage(shape), HostImage(shape)},
          held{HostImage(shape), HostImage(shape)},
          changes{delta::HostChanges(shape), delta::HostChanges(shape)} {
        fill_scene(images[0].view(), 3);
        fill_later(images[0].view(), images[1].view(), ladder_share, false, 11);
        copy(images[0].view(), held[0].view());
        for (int round = 0; round < 2; ++round)  // the first round leaves the start behind
            for (const int moment : {1, 0}) {
                copy(held[moment ^ 1].view(), held[moment].view());
                delta::encode_reference(ladder_threshold, images[moment].view(), held[moment].view(),
                                        changes[moment].view());
            }
    }
};

}  // namespace framewire::bench
