#include "framewire/session/receive/changes_picture.hpp"

#include "framewire/core/error.hpp"
#include "framewire/pipeline/frames/changed_bytes.hpp"

#include <utility>

namespace framewire::session {

ChangesKind parse_changes(std::string_view text) {
    if (text == "mask") return ChangesKind::mask;
    if (text == "overlay") return ChangesKind::overlay;
    if (text == "heat") return ChangesKind::heat;
    fail(ErrorCode::usage, "changes shown as '{}'; allowed are mask, overlay and heat", text);
}

ChangesPicture::ChangesPicture(ChangesKind kind, const Shape& shape, int threads)
    : executor_(BackendChoice::cpu, threads), changes_(shape), picture_(shape.with_channels(3)) {
    if (kind == ChangesKind::heat)
        heat_ = std::make_unique<HeatmapFromChanges>(shape, executor_);
    else
        noise_ = std::make_unique<NoiseFromChanges>(kind == ChangesKind::overlay ? NoiseMode::overlay : NoiseMode::mask,
                                                    shape, executor_);
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

}  // namespace framewire::session
