#include "kit/filter_check.hpp"

#include <fmt/format.h>

namespace framewire::kit {
namespace {

// Inputs of a filter and its expected output, which do not depend on the layout or the instruction set.
struct Expected {
    Shape shape;
    Fill fill_with;
    HostImage in, previous, want;

    Expected(const FilterCheck& check, const ParameterValues& values, const Shape& of_shape, Fill of_fill)
        : shape(of_shape),
          fill_with(of_fill),
          in(of_shape),
          previous(of_shape),
          want(check.info.output_shape(values, of_shape)) {
        fill(in.view(), fill_with, 1);
        fill(previous.view(), fill_with, 2);
        check.reference({in.view(), previous.view(), want.view(), previous.view()});
    }
};

// Images of one case, with copies on the GPU if the backend is CUDA.
struct CaseImages {
    GuardedImage in, previous, out;
    std::optional<DeviceMirror> device_in, device_previous, device_out;

    CaseImages(Backend backend, const Expected& expected, Layout layout)
        : in(expected.shape, layout), previous(expected.shape, layout), out(expected.want.view().shape(), layout) {
        copy(expected.in.view(), in.view());
        copy(expected.previous.view(), previous.view());
        if (backend == Backend::cuda) {
            device_in.emplace(in);
            device_previous.emplace(previous);
            device_out.emplace(out);
        }
    }

    // Returns the filter's images. `second` is the previous image or the original, if the filter needs either.
    template <MemorySpace space>
    static FilterImages<space> images_for(const FilterInfo& info, View<const std::uint8_t, space> in,
                                          View<const std::uint8_t, space> second, View<std::uint8_t, space> out) {
        FilterImages<space> images{in, {}, out};
        if (info.needs_previous) images.previous = second;
        if (info.original) images.original = second;
        return images;
    }

    void run(Filter& filter, Executor& executor, const FilterInfo& info, std::uint8_t poison) {
        out.reset(poison);
        if (executor.backend() == Backend::cpu) {
            filter.run(images_for<MemorySpace::host>(info, in.view(), previous.view(), out.view()));
            return;
        }
        for (auto* mirror : {&*device_in, &*device_previous, &*device_out}) mirror->upload(executor.stream());
        filter.run(
            images_for<MemorySpace::device>(info, device_in->view(), device_previous->view(), device_out->view()));
        for (auto* mirror : {&*device_in, &*device_previous, &*device_out}) mirror->download(executor.stream());
    }
};

void check_case(Backend backend, const FilterCheck& check, const ParameterValues& values, const Expected& expected,
                Layout layout) {
    const auto& shape = expected.shape;
    SCOPED_TRACE(fmt::format("{} on {}, {}, {}, fill {}, seed {}", check.info.name, to_string(backend),
                             to_string(shape), to_string(layout), to_string(expected.fill_with), seed()));
    auto& on = executor(backend);
    const auto filter = check.info.make(values, shape, on);
    const auto out_shape = expected.want.view().shape();
    ASSERT_EQ(filter->output_shape(), out_shape);

    CaseImages images(backend, expected, layout);
    images.run(*filter, on, check.info, 0x5A);
    if (const auto difference = first_difference(images.out.view(), expected.want.view(), check.tolerance))
        FAIL() << *difference;
    if (const auto broken = images.out.broken_guard())
        FAIL() << "the filter wrote outside the output, at byte " << *broken;
    if (const auto difference = first_difference(images.in.view(), expected.in.view()))
        FAIL() << "input changed: " << *difference;
    if (const auto difference = first_difference(images.previous.view(), expected.previous.view()))
        FAIL() << "the previous frame was modified: " << *difference;

    HostImage first(out_shape);
    copy(images.out.view(), first.view());
    images.run(*filter, on, check.info, 0xC3);
    if (const auto difference = first_difference(images.out.view(), first.view()))
        FAIL() << "a second run gave a different result: " << *difference;
}

}  // namespace

void check_filter(Backend backend, const FilterCheck& check) {
    const auto values = with_defaults(check.info, check.values);
    // The reference is the slowest part, so it runs once for all results that must equal it.
    const auto check_all = [&](const Shape& shape, Fill fill_with, const std::vector<Layout>& in_layouts) {
        if (testing::Test::HasFailure()) return;  // one failure is enough
        const Expected expected(check, values, shape, fill_with);
        for_each_instruction_set(backend, [&](const std::string& instruction_set) {
            SCOPED_TRACE(instruction_set);
            for (const auto& layout : in_layouts)
                if (!testing::Test::HasFailure()) check_case(backend, check, values, expected, layout);
        });
    };
    auto shapes = check.shapes;
    if (shapes.empty())
        for (const int frames : {1, 3})
            for (const auto& shape : small_shapes(check.channels, frames)) shapes.push_back(shape);
    for (const auto& shape : shapes)
        for (const auto fill_with : fills()) check_all(shape, fill_with, layouts());
    if (check.shapes.empty()) check_all(hd_shape(check.channels, 2), Fill::noise, {Layout{}});
}

}  // namespace framewire::kit
