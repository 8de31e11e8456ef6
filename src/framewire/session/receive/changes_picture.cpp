#include "framewire/session/receive/changes_picture.hpp"

#include "framewire/core/error.hpp"
#include "framewire/pipeline/frames/changed_bytes.hpp"

#include <cstring>
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

// Lists the changed bytes row by row; equal rows are skipped with memcmp().
void ChangesPicture::find_changes(HostView<const std::uint8_t> now) {
    const auto changes = changes_.view();
    auto& found = changes.summaries[0] = {};
    const auto row_bytes = now.shape().row_bytes();
    if (before_.shape() != now.shape())
        before_ = HostImage(now.shape());
    else
        for (int y = 0; y < now.shape().height; ++y) {
            const auto *const row = now.row(0, y), *const old = std::as_const(before_).view().row(0, y);
            if (std::memcmp(row, old, static_cast<std::size_t>(row_bytes)) == 0) continue;
            for (std::int64_t byte = 0; byte < row_bytes; ++byte) {
                if (row[byte] == old[byte]) continue;
                changes.positions[found.count] = static_cast<std::uint32_t>(y * row_bytes + byte);
                changes.differences[found.count++] = static_cast<std::uint8_t>(row[byte] - old[byte]);
            }
        }
    copy(now, before_.view());
}

HostView<const std::uint8_t> ChangesPicture::draw(const net::Client& client) {
    find_changes(client.picture());
    const auto changes = changed_bytes(changes_.view());
    if (heat_)
        heat_->run(changes, client.picture(), picture_.view());
    else
        noise_->run(changes, client.picture(), picture_.view());
    return std::as_const(picture_).view();
}

}  // namespace framewire::session
