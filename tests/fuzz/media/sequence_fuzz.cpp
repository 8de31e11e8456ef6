// Fuzzes names of numbered sequences: malformed ones must be refused, not be a sequence, or give a name for each
// number.

#include "framewire/core/error.hpp"
#include "framewire/media/image_sequence.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const auto pattern = SequencePattern::parse(text);
        if (!pattern) return 0;
        if (pattern->path(0) == pattern->path(1)) std::abort();
        pattern->path(std::numeric_limits<std::int64_t>::max());
        // List only the current folder, whose file names do not depend on the text.
        if (text.find('/') == text.npos) pattern->existing();
    } catch (const Error&) {
    }
    return 0;
}
