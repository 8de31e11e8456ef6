#include "framewire/detect/components.hpp"
#include "framewire/core/error.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/detect/detector_ref.hpp"
#include "kit/filter_check.hpp"
#include "kit/masks.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

namespace framewire {
namespace {

// Result of a run on the host.
struct Labelled {
    HostComponents components;
    std::vector<std::int32_t> labels;  // labels of all pixels, followed by a guard
};
constexpr std::int32_t guard = 0x5A5A5A5A;

// Runs the plan on lists filled with garbage; on CUDA uploads the mask and downloads all results.
Labelled run(ComponentLabelling& labelling, Executor& executor, const HostBitMask& mask) {
    const auto& parameters = labelling.parameters();
    const auto frames = labelling.shape().frames;
    const auto pixels = static_cast<std::size_t>(labelling.shape().bytes());
    const auto list_bytes =
        static_cast<std::size_t>(frames) * static_cast<std::size_t>(parameters.capacity) * sizeof(Component);
    Labelled result{HostComponents(frames, parameters.capacity), std::vector<std::int32_t>(pixels + 1, guard)};
    const auto lists = result.components.lists();
    std::memset(static_cast<void*>(lists.components), 0xEE, list_bytes);
    if (executor.backend() == Backend::cpu) {
        labelling.run(mask.view(), lists, {parameters.label_images ? result.labels.data() : nullptr});
    } else if constexpr (cuda::compiled) {
        const auto& stream = executor.stream();
        DeviceBitMask device_mask(labelling.shape());
        DeviceComponents device(frames, parameters.capacity);
        cuda::DeviceBuffer device_labels(result.labels.size() * sizeof(std::int32_t));
        cuda::upload(mask.view().data(), device_mask.view().data(), bit_mask_bytes(labelling.shape()), stream);
        cuda::upload(lists.components, device.lists().components, list_bytes, stream);
        cuda::upload(result.labels.data(), device_labels.data(), device_labels.bytes(), stream);
        labelling.run(device_mask.view(), device.lists(),
                      {parameters.label_images ? device_labels.as<std::int32_t>() : nullptr});
        download(device, result.components, parameters.capacity, stream);
        cuda::download(device_labels.data(), result.labels.data(), device_labels.bytes(), stream);
        stream.synchronize();
    }
    return result;
}

// Compares the result for one frame with the reference.
void expect_frame(const Labelled& got, const ComponentLabellingParameters& parameters, const HostBitMask& mask,
                  int frame) {
    SCOPED_TRACE(fmt::format("frame {}", frame));
    std::vector<std::int32_t> want_labels;
    const auto all = components_reference(mask.view(), frame, parameters.connectivity, want_labels);
    std::vector<Component> want;
    for (const auto& component : all)
        if (component.area >= parameters.min_area && component.area <= parameters.max_area) want.push_back(component);
    const auto lists = got.components.lists();
    ASSERT_EQ(lists.total[frame], static_cast<int>(all.size()));
    ASSERT_EQ(lists.found[frame], static_cast<int>(want.size()));
    const auto listed = std::min(static_cast<int>(want.size()), parameters.capacity);
    for (int place = 0; place < listed; ++place) {
        const auto& a = lists.of_frame(frame)[place];
        const auto& b = want[static_cast<std::size_t>(place)];
        ASSERT_EQ(a, b) << fmt::format(
            "place {}: id {} at {}, {} of {}x{}, area {}, sums {} {}; want id {} at {}, {} of {}x{}, area {}, sums {} "
            "{}",
            place, a.id, a.x, a.y, a.width, a.height, a.area, a.sum_x, a.sum_y, b.id, b.x, b.y, b.width, b.height,
            b.area, b.sum_x, b.sum_y);
    }
    if (listed < parameters.capacity) {
        const auto* behind = reinterpret_cast<const unsigned char*>(lists.of_frame(frame) + listed);
        ASSERT_TRUE(std::all_of(behind, behind + sizeof(Component), [](auto byte) { return byte == 0xEE; }))
            << "wrote past the end of the list";
    }
    if (!parameters.label_images) return;
    const auto* labels = got.labels.data() + frame * mask.shape().frame_bytes();
    for (std::size_t pixel = 0; pixel < want_labels.size(); ++pixel)
        ASSERT_EQ(labels[pixel], want_labels[pixel]) << "at pixel " << pixel;
}

using FillMask = std::function<void(HostView<std::uint8_t>)>;

void check_mask(Backend backend, const Shape& shape, const ComponentLabellingParameters& parameters,
                const std::string& name, const FillMask& fill_mask) {
    SCOPED_TRACE(fmt::format("{} neighbours on {}, {}, {}, seed {}", parameters.connectivity, to_string(backend),
                             to_string(shape), name, kit::seed()));
    auto& executor = kit::executor(backend);
    HostImage image(shape);
    fill_mask(image.view());
    HostBitMask mask(shape);
    pack_mask(image.view(), mask.view());
    ComponentLabelling labelling(parameters, shape, executor);
    run(labelling, executor, mask);  // the second run finds the memory that the first one used
    const auto got = run(labelling, executor, mask);
    for (int frame = 0; frame < shape.frames; ++frame) expect_frame(got, parameters, mask, frame);
    ASSERT_EQ(got.labels.back(), guard) << "wrote past the end of the label image";
    if (!parameters.label_images) {
        ASSERT_EQ(got.labels.front(), guard) << "wrote a label image that was not requested";
    }
}

using ComponentsTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(ComponentsTest);

// Returns the usual shapes and some that end within, at and after the end of words, tiles and bands.
std::vector<Shape> shapes_to_label(int frames) {
    auto shapes = kit::small_shapes(1, frames);
    for (const auto& [height, width] : {std::pair{32, 128}, {33, 129}, {31, 127}, {64, 256}, {100, 390}})
        shapes.push_back({frames, height, width, 1});
    return shapes;
}

TEST_P(ComponentsTest, MatchFloodFillOnEveryShapeAndPattern) {
    for (const int frames : {1, 3})
        for (const auto& shape : shapes_to_label(frames))
            for (const int connectivity : {4, 8})
                for (const auto pattern : kit::all_patterns) {
                    if (HasFailure()) return;  // one failure is enough
                    check_mask(GetParam(), shape,
                               {.connectivity = connectivity, .capacity = 50'000, .label_images = true},
                               kit::to_string(pattern), [&](auto image) { kit::fill(image, pattern); });
                }
}

TEST_P(ComponentsTest, MatchFloodFillOnNoiseOfEveryDensity) {
    for (const auto& shape : shapes_to_label(2))
        for (const int connectivity : {4, 8})
            for (const int grain : {1, 3})
                for (const double density : {0.02, 0.1, 0.3, 0.41, 0.5, 0.59, 0.7, 0.9, 0.98}) {
                    if (HasFailure()) return;
                    check_mask(GetParam(), shape,
                               {.connectivity = connectivity, .capacity = 50'000, .label_images = grain == 1},
                               fmt::format("density {}, grains of {}", density, grain),
                               [&](auto image) { kit::fill_grains(image, density, grain, kit::seed()); });
                }
}

TEST_P(ComponentsTest, MatchFloodFillOnLargeMasks) {
    for (const int connectivity : {4, 8}) {
        const ComponentLabellingParameters parameters{
            .connectivity = connectivity, .capacity = 200'000, .label_images = true};
        check_mask(GetParam(), {2, 1080, 1920, 1}, parameters, "discs",
                   [](auto image) { kit::fill_discs(image, 600, kit::seed()); });
        check_mask(GetParam(), {1, 1080, 1920, 1}, parameters, "noise",
                   [](auto image) { kit::fill_grains(image, 0.5, 1, kit::seed()); });
        check_mask(GetParam(), {1, 720, 1280, 1}, parameters, "full",
                   [](auto image) { kit::fill(image, kit::Pattern::full); });
        check_mask(GetParam(), {1, 720, 1280, 1}, parameters, "spiral",
                   [](auto image) { kit::fill(image, kit::Pattern::spiral); });
        // One mask is so wide that several bands number a row of tiles, the other so high that it has many bands.
        check_mask(GetParam(), {1, 70, 16384, 1}, parameters, "wide noise",
                   [](auto image) { kit::fill_grains(image, 0.3, 1, kit::seed()); });
        check_mask(GetParam(), {1, 16384, 33, 1}, parameters, "high noise",
                   [](auto image) { kit::fill_grains(image, 0.3, 1, kit::seed()); });
    }
}

TEST_P(ComponentsTest, MatchFloodFillOnRandomSquares) {
    for (const int count : {0, 1, 500, 3600})
        check_mask(GetParam(), {1, 2048, 2048, 1}, {}, fmt::format("{} squares", count),
                   [&](auto image) { EXPECT_EQ(kit::fill_squares(image, count, kit::seed()), count); });
}

TEST_P(ComponentsTest, AreaLimitsApplyToTheListNotTheTotal) {
    const auto noise = [](auto image) { kit::fill_grains(image, 0.3, 1, kit::seed()); };
    for (const int connectivity : {4, 8})
        for (const auto& [min_area, max_area] :
             {std::pair{0, 1}, {2, 2}, {3, 10}, {5, 1 << 30}, {1'000'000, 1'000'000}})
            for (const bool label_images : {false, true})
                check_mask(GetParam(), {3, 123, 321, 1},
                           {.connectivity = connectivity,
                            .min_area = min_area,
                            .max_area = max_area,
                            .label_images = label_images},
                           fmt::format("areas {} to {}", min_area, max_area), noise);
}

TEST_P(ComponentsTest, AreCountedBeyondTheCapacity) {
    for (const int capacity : {1, 2, 7, 100})
        check_mask(GetParam(), {3, 123, 321, 1}, {.min_area = 2, .capacity = capacity, .label_images = true},
                   fmt::format("room for {}", capacity),
                   [](auto image) { kit::fill_grains(image, 0.3, 1, kit::seed()); });
}

TEST_P(ComponentsTest, AreDeterministic) {
    auto& executor = kit::executor(GetParam());
    const Shape shape{2, 360, 640, 1};
    const ComponentLabellingParameters parameters{.capacity = 100'000, .label_images = true};
    HostImage image(shape);
    HostBitMask mask(shape);
    kit::fill_grains(image.view(), 0.42, 1, kit::seed());
    pack_mask(image.view(), mask.view());
    ComponentLabelling labelling(parameters, shape, executor);
    const auto first = run(labelling, executor, mask);
    for (int frame = 0; frame < shape.frames; ++frame) expect_frame(first, parameters, mask, frame);
    for (int again = 1; again < (kit::brief() ? 5 : 100); ++again) {
        const auto got = run(labelling, executor, mask);
        ASSERT_EQ(got.labels, first.labels) << "run " << again;
        const auto a = got.components.lists(), b = first.components.lists();
        for (int frame = 0; frame < shape.frames; ++frame) {
            ASSERT_EQ(a.found[frame], b.found[frame]);
            ASSERT_TRUE(std::equal(a.of_frame(frame), a.of_frame(frame) + a.found[frame], b.of_frame(frame)))
                << "run " << again;
        }
    }
}

TEST(Components, DownloadsTheStartOfEachList) {
    // Only lists on the GPU are downloaded. With FRAMEWIRE_REQUIRE_GPU the test is never skipped.
    if (const auto reason = kit::why_not(Backend::cuda)) GTEST_SKIP() << *reason;
    auto& executor = kit::executor(Backend::cuda);
    constexpr int frames = 3, capacity = 10, first = 4;
    DeviceComponents device(frames, capacity);
    HostComponents from(frames, capacity), to(frames, capacity);
    std::memset(static_cast<void*>(from.lists().components), 0x11, frames * capacity * sizeof(Component));
    std::memset(static_cast<void*>(to.lists().components), 0x22, frames * capacity * sizeof(Component));
    cuda::upload(from.lists().components, device.lists().components, frames * capacity * sizeof(Component),
                 executor.stream());
    cuda::fill(device.lists().found, 0x33, 2 * frames * sizeof(std::int32_t), executor.stream());
    download(device, to, first, executor.stream());
    executor.stream().synchronize();
    for (int frame = 0; frame < frames; ++frame) {
        EXPECT_EQ(to.lists().found[frame], 0x33333333);
        EXPECT_EQ(to.lists().total[frame], 0x33333333);
        for (int place = 0; place < capacity; ++place)
            EXPECT_EQ(to.lists().of_frame(frame)[place].area, place < first ? 0x11111111 : 0x22222222);
    }
    EXPECT_THROW(download(device, to, capacity + 1, executor.stream()), Error);
    HostComponents smaller(frames, capacity - 1);
    EXPECT_THROW(download(device, smaller, first, executor.stream()), Error);
}

TEST(Components, RejectsInvalidArguments) {
    auto& executor = kit::executor(Backend::cpu);
    const Shape shape{2, 10, 20, 1};
    EXPECT_THROW(ComponentLabelling({.connectivity = 6}, shape, executor), Error);
    EXPECT_THROW(ComponentLabelling({.min_area = -1}, shape, executor), Error);
    EXPECT_THROW(ComponentLabelling({.min_area = 10, .max_area = 9}, shape, executor), Error);
    EXPECT_THROW(ComponentLabelling({.capacity = 0}, shape, executor), Error);
    EXPECT_THROW(ComponentLabelling({}, {1, 0, 20, 1}, executor), Error);

    ComponentLabelling boxes({.capacity = 5}, shape, executor),
        labels({.capacity = 5, .label_images = true}, shape, executor);
    const HostBitMask mask(shape), other({2, 10, 21, 1});
    HostComponents lists(2, 5), short_lists(2, 4);
    std::vector<std::int32_t> image(static_cast<std::size_t>(shape.bytes()));
    EXPECT_THROW(boxes.run(other.view(), lists.lists()), Error);
    EXPECT_THROW(boxes.run({nullptr, shape}, lists.lists()), Error);
    EXPECT_THROW(boxes.run(mask.view(), short_lists.lists()), Error);
    EXPECT_THROW(boxes.run(mask.view(), lists.lists(), {image.data()}), Error);
    EXPECT_THROW(labels.run(mask.view(), lists.lists()), Error);
}

}  // namespace
}  // namespace framewire
