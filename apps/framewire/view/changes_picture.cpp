#include "view/changes_picture.hpp"

#include "framewire/pipeline/frames/changed_bytes.hpp"

#include <utility>

namespace framewire::app {

ChangesPicture::ChangesPicture(const std::string& kind, const Shape& shape, int threads)
    : executor_(BackendChoice::cpu, threads), changes_(shape), picture_(shape.with_channels(3)) {
    if (kind == "heat")
        heat_ = std::make_unique<HeatmapFromChanges>(shape, executor_);
    else
        noise_ = std::make_unique<NoiseFromChanges>(kind == "overlay" ? NoiseMode::overlay : NoiseMode::mask, shape,
                                                    executor_);
}

HostView<const std::uint8_t> ChangesPicture::draw(const net::Client& client) {
    client.last_changes(changes_.view());
    const auto changes = changed_bytes(changes_.view());
    if (heat_)
        heat_->run(changes, client.picture(), picture_.view());
    else
        noise_->run(changes, client.picture(), picture_.view());
    return std::as_const(picture_).view();
}

}  // namespace framewire::app
