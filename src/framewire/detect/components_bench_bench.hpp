#pragma once

#include "framewire/core/error.hpp"
#include "framewire/detect/components.hpp"
#include "framewire/detect/detector_ref.hpp"
#include "kit/session.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// Timing of component labelling, for the suite of operations and for the lab's count of components.

namespace framewire::bench::components_bench {

inline constexpr int capacity = 8192;
inline constexpr int scenes = 4;  // different masks; batches repeat them

/// One case of the benchmark.
struct Case {
    const char* suite;
    std::string name;
    Shape shape;  ///< shape of one mask
    std::function<void(HostView<std::uint8_t> masks)> fill;
};

/// The masks of a case, as images and packed, and the expected components.
struct Masks {
    HostImage images;
    HostBitMask packed;
    std::vector<std::vector<Component>> components;
    std::vector<std::vector<std::int32_t>> labels;

    explicit Masks(const Case& bench)
        : images(bench.shape.with_frames(scenes)), packed(images.shape()), components(scenes), labels(scenes) {
        bench.fill(images.view());
        pack_mask(images.view(), packed.view());
        for (std::size_t scene = 0; scene < scenes; ++scene)
            components[scene] = components_reference(packed.view(), static_cast<int>(scene), 8, labels[scene]);
    }
    HostBitMaskView<const std::uint32_t> mask(int scene) const { return packed.view().frames(scene, 1); }

    // Throws unless frame f of `lists`, and of `images` if given, equals scene f modulo the number of scenes.
    void require_found(const std::string& operation, int frames, const ComponentLists<MemorySpace::host>& lists,
                       const std::int32_t* label_images) const {
        for (int frame = 0; frame < frames; ++frame) {
            const auto scene = static_cast<std::size_t>(frame % scenes);
            const auto& want = components[scene];
            const auto listed = static_cast<std::ptrdiff_t>(std::min<std::size_t>(want.size(), capacity));
            const auto& want_labels = labels[scene];
            if (lists.found[frame] != static_cast<int>(want.size()) ||
                !std::equal(want.begin(), want.begin() + listed, lists.of_frame(frame)) ||
                (label_images && !std::equal(want_labels.begin(), want_labels.end(),
                                             label_images + static_cast<std::size_t>(frame) * want_labels.size())))
                fail(ErrorCode::internal, "{}: frame {} differs from the reference; not timed", operation, frame);
        }
    }
};

/// Adds the rows for the CPU and for OpenCV.
void bench_cpu(Session& session, const Case& bench, const Masks& masks);
/// Adds a row for the GPU, with `frames` frames per launch.
void bench_gpu(Session& session, const Case& bench, const Masks& masks, int frames, bool label_images);

}  // namespace framewire::bench::components_bench
