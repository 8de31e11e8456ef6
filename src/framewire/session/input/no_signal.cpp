#include "framewire/session/input/no_signal.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/filters/text/text.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace framewire::session {
namespace {

constexpr std::uint8_t dark = 24;

void fill_dark(HostView<std::uint8_t> image) {
    const auto& shape = image.shape();
    for (int y = 0; y < shape.height; ++y)
        std::memset(image.row(0, y), dark, static_cast<std::size_t>(shape.width) * shape.channels);
}

void write_words(HostView<std::uint8_t> image) {
    const auto& shape = image.shape();
    HostImage below(shape);
    fill_dark(below.view());
    Executor executor(BackendChoice::cpu, 1);
    // About two thirds of the width.
    TextParameters words{.text = "no signal", .x = 0, .y = 0};
    words.size_px = std::clamp(std::min(shape.width / 8, shape.height / 2), 4, 512);
    const auto covered = Text(words, shape, executor).layout().place().covered;
    words.x = (shape.width - covered.x_end) / 2;
    words.y = (shape.height - covered.y_end) / 2;
    Text(words, shape, executor).run({std::as_const(below).view(), {}, image});
}

}  // namespace

bool NoSignal::take_drawn() { return std::exchange(drawn_, false); }

void NoSignal::draw(HostView<std::uint8_t> image) {
    const auto& shape = image.shape();
    if (picture_.shape() != shape) {
        picture_ = HostImage(shape);
        fill_dark(picture_.view());
        try {
            write_words(picture_.view());
        } catch (const Error& error) {
            if (error.code() != ErrorCode::config) throw;
            log_warning("'no signal' is not written: {}", error.what());
        }
    }
    for (int y = 0; y < shape.height; ++y)
        std::memcpy(image.row(0, y), std::as_const(picture_).view().row(0, y),
                    static_cast<std::size_t>(shape.width) * shape.channels);
    drawn_ = true;
}

}  // namespace framewire::session
