// Fuzzes the texts and colours of the text filter: malformed ones must be refused, or expanded within the available
// space.

#include "framewire/core/error.hpp"
#include "framewire/filters/text.hpp"

#include <cstdlib>
#include <limits>
#include <optional>

namespace {

using namespace framewire;

void check_color(std::string_view text) {
    try {
        const auto color = parse_color(text, "color");
        if (color.alpha < 0 || color.alpha > 255) std::abort();
    } catch (const Error&) {
    }
}

void check_template(std::string_view text) {
    std::optional<TextTemplate> wanted;
    try {
        wanted.emplace(text);
    } catch (const Error&) {
        return;
    }
    constexpr auto most = std::numeric_limits<double>::max();
    const FrameValues none, largest{.fps = most,
                                    .process_ms = most,
                                    .read_ms = most,
                                    .send_ms = most,
                                    .bandwidth_bits_per_s = most,
                                    .changed = most,
                                    .frame = std::numeric_limits<std::int64_t>::max(),
                                    .time_s = most,
                                    .clock_s = std::numeric_limits<std::int64_t>::max()};
    FrameValues named;
    named.source = text;
    if (wanted->fill(named).size() > max_text_characters) std::abort();
    // All characters except those of a source's name are known in advance, and their glyphs are rendered at that time.
    const auto known = wanted->characters();
    for (const auto& values : {none, largest}) {
        const auto filled = wanted->fill(values);
        if (filled.size() > max_text_characters) std::abort();
        for (const auto character : filled)
            if (character != U'\n' && known.find(character) == known.npos) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check_color(text);
    check_template(text);
    return 0;
}
