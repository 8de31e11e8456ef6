#include "ladders/windows/windows_pictures.hpp"

#include "framewire/filters/noise.hpp"
#include "ladders/pictures/write_picture.hpp"

#include <cstdlib>

namespace framewire::bench {
namespace windows_pictures {

constexpr int threshold = 20;

}  // namespace windows_pictures

HostImage filtered_on_cpu(const FilterInfo& info, const ParameterValues& values, HostView<const std::uint8_t> image,
                          Session& session) {
    HostImage result(image.shape());
    info.make(values, image.shape(), session.cpu())->run(FilterImages<MemorySpace::host>{image, {}, result.view()});
    return result;
}

double changed_percent(HostView<const std::uint8_t> first, HostView<const std::uint8_t> second) {
    std::int64_t changed = 0;
    for (std::int64_t i = 0; i < first.shape().bytes(); ++i)
        changed += std::abs(first.data()[i] - second.data()[i]) > windows_pictures::threshold;
    return 100 * static_cast<double>(changed) / static_cast<double>(first.shape().bytes());
}

void write_noise_picture(Session& session, const std::string& name, HostView<const std::uint8_t> first,
                         HostView<const std::uint8_t> second) {
    if (session.pictures().empty()) return;
    const auto& shape = first.shape();
    HostImage noise(shape), picture({1, shape.height, 3 * shape.width, 3});
    const auto info = noise_info();
    info.make(with_defaults(info, {{"threshold", std::to_string(windows_pictures::threshold)}}), shape, session.cpu())
        ->run(FilterImages<MemorySpace::host>{second, first, noise.view()});
    const HostView<const std::uint8_t> panels[] = {first, second, noise.view()};
    for (int panel = 0; panel < 3; ++panel)
        copy(panels[panel], {picture.view().data() + panel * shape.row_bytes(), shape, 3 * shape.row_bytes(),
                             3 * shape.frame_bytes()});
    write_picture(session, "windows-" + name, picture.view());
}

}  // namespace framewire::bench
