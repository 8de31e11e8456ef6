#include "framewire/session/input/no_signal.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/filters/text/text.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace framewire::session {
namespace {

// Divisor that keeps white text readable on a white frame.
constexpr int darkening = 3;

void fill_black(HostView<std::uint8_t> image) {
    const auto& shape = image.shape();
    for (int y = 0; y < shape.height; ++y)
        std::memset(image.row(0, y), 0, static_cast<std::size_t>(std::int64_t{1} * shape.width * shape.channels));
}

void write_words(HostView<std::uint8_t> image) {
    const auto& shape = image.shape();
    HostImage below(shape);
    fill_black(below.view());
    Executor executor(BackendChoice::cpu, 1);
    // The text takes about two thirds of the width.
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
    if (words_.shape() != shape) {
        words_ = HostImage(shape);
        fill_black(words_.view());
        try {
            write_words(words_.view());
        } catch (const Error& error) {
            if (error.code() != ErrorCode::config) throw;
            log_warning("'no signal' is not written: {}", error.what());
        }
    }
    const auto words = std::as_const(words_).view();
    for (int y = 0; y < shape.height; ++y)
        std::transform(image.row(0, y), image.row(0, y) + std::int64_t{1} * shape.width * shape.channels,
                       words.row(0, y), image.row(0, y), [](std::uint8_t picture, std::uint8_t word) {
                           return std::max<std::uint8_t>(picture / darkening, word);
                       });
    drawn_ = true;
}

}  // namespace framewire::session
