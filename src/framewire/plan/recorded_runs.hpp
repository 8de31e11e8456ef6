#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/cuda/stream.hpp"
#include "framewire/plan/work_picture.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace framewire {

/// Addresses and strides of the pictures with which work was queued.
class PictureAddresses {
public:
    /// Adds an image.
    template <class T, MemorySpace space>
    void add(const View<T, space>& image) {
        add(image.data(), image.row_stride_bytes());
        words_[count_++] = image.frame_stride_bytes();
    }
    /// Adds an image or planes. `picture` has one frame.
    template <class T, MemorySpace space>
    void add(const PictureView<T, space>& picture) {
        if (!picture.has_planes()) return add(picture.image);
        for (int plane = 0; plane < picture.planes.info.planes(); ++plane) {
            const auto& own = picture.planes.planes[static_cast<std::size_t>(plane)];
            add(own.data, own.row_stride_bytes);
        }
    }

    friend bool operator==(const PictureAddresses&, const PictureAddresses&) = default;

private:
    static constexpr std::size_t most_pictures = 3, most_planes = 3;

    void add(const std::uint8_t* data, std::int64_t row_stride_bytes) {
        words_[count_++] = reinterpret_cast<std::intptr_t>(data);
        words_[count_++] = row_stride_bytes;
    }

    std::array<std::int64_t, 2 * most_pictures * most_planes> words_{};
    std::size_t count_ = 0;
};

/// CUDA graphs of work that is the same for every frame of a run, except for the memory of its pictures: one graph for
/// each set of pictures, as the slots of a frame ring have. Replaying a graph is one launch. A graph is recorded when
/// its pictures are used for the second time, so that there are none for pictures that are used only once.
class RecordedRuns {
public:
    /// Maximum number of graphs. The oldest one is replaced.
    static constexpr std::size_t most = 16;

    /// Queues `work` on the executor's stream, as itself or as its graph. `addresses` must name all memory of the
    /// pictures; other memory that `work` uses must stay the same until clear().
    template <class Work>
    void run(const Executor& executor, const PictureAddresses& addresses, Work&& work) {
        auto* known = find(addresses);
        if (!known) return work();
        if (!known->graph) known->graph = executor.record(work);
        known->graph->launch(executor.stream());
    }
    /// Forgets all graphs, because the work has changed.
    void clear() { runs_.clear(); }

private:
    struct Run {
        PictureAddresses addresses;
        std::optional<cuda::Graph> graph{};
    };

    // Returns the run with these pictures. If they are used for the first time, notes them and returns null.
    Run* find(const PictureAddresses& addresses) {
        const auto known = std::ranges::find(runs_, addresses, &Run::addresses);
        if (known != runs_.end()) return &*known;
        if (runs_.empty()) oldest_ = 0;
        if (runs_.size() < most) {
            runs_.push_back({addresses});
        } else {
            runs_[oldest_] = {addresses};
            oldest_ = (oldest_ + 1) % most;
        }
        return nullptr;
    }

    std::vector<Run> runs_;
    std::size_t oldest_ = 0;
};

}  // namespace framewire
