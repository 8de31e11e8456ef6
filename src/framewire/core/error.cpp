#include "framewire/core/error.hpp"

namespace framewire {

void fail_formatted(ErrorCode code, fmt::string_view text, fmt::format_args values) {
    throw Error(code, fmt::vformat(text, values));
}

}  // namespace framewire
