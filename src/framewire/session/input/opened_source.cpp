#include "framewire/session/input/opened_source.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/named_value.hpp"
#include "framewire/media/media.hpp"
#include "framewire/session/input/rate/asked_rate.hpp"
#include "framewire/session/input/stream_source.hpp"
#include "framewire/session/relay/relay.hpp"

#include <optional>
#include <string>

namespace framewire::session {
namespace {

// Parses InputOptions::matrix; empty if it is not set.
std::optional<YuvMatrix> asked_matrix(const std::string& name) {
    static constexpr NamedValue<YuvMatrix> matrices[] = {
        {"bt601", YuvMatrix::bt601}, {"bt709", YuvMatrix::bt709}, {"bt2020", YuvMatrix::bt2020}};
    if (name.empty()) return std::nullopt;
    if (const auto* matrix = value_named(matrices, name)) return *matrix;
    fail(ErrorCode::usage, "matrix '{}' is not known; allowed are bt601, bt709 and bt2020", name);
}

// Parses InputOptions::range; true for full range, empty if it is not set.
std::optional<bool> asked_range(const std::string& name) {
    if (name.empty()) return std::nullopt;
    if (name != "limited" && name != "full")
        fail(ErrorCode::usage, "range '{}' is not known; allowed are limited and full", name);
    return name == "full";
}

// Translates the options of a job into those of a source.
SourceOptions source_options(const InputOptions& input, bool replace_truth, std::stop_token stop) {
    SourceOptions options{.stop = std::move(stop),
                          .reconnect = input.reconnect,
                          // A trimmed or looped source keeps its first size.
                          .follows_size = input.follows_size && !input.loop && !input.duration_seconds,
                          .rate = asked_rate(input.fps),
                          .loop = input.loop,
                          .start_seconds = input.start_seconds,
                          .duration_seconds = input.duration_seconds,
                          .seekable = input.seekable || input.stretch,
                          .one_size = input.one_size,
                          .decoder_threads = input.decoder_threads,
                          .matrix = asked_matrix(input.matrix),
                          .full_range = asked_range(input.range),
                          .every_frame = !input.may_skip,
                          .replace_truth = replace_truth};
    if (input.max_pixels) options.max_pixels = *input.max_pixels;
    if (input.shows_loss) {
        options.retry_pause = first_retry_pause;
        options.longest_retry_pause = framewire::session::longest_retry_pause;
    }
    return options;
}

}  // namespace

OpenedSource::OpenedSource(const InputOptions& input, bool replace_truth, const std::stop_token& stop) {
    const std::stop_callback on_stop(stop, [this] { this->stop(); });
    auto options = source_options(input, replace_truth, stop_.get_token());
    if (input.shows_loss) options.draw_loss = no_signal_.drawing();
    if (const auto stream = relayed_stream(input.source))
        source_ = open_source([stream = *stream, access = input.access](
                                  const SourceOptions& each) { return open_stream_source(stream, access, each); },
                              options);
    else
        source_ = open_source(input.source, options);
}

}  // namespace framewire::session
