#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// Returns `text`, a URL or a sentence that contains URLs, with secrets hidden: in each URL the part before `@HOST`
/// becomes `***`, and so do the values of query keys that name a secret (`?token=`, `&password=`, `&api_key=`, `&sig=`
/// ...). Passwords that are not valid in a URL are found too, with blanks as far as a sentence allows. The function is
/// idempotent. Path components, such as the key of an RTMP stream, count as names and stay.
std::string without_credentials(std::string_view text);

/// Like without_credentials(), for a text that is exactly one address, a source's or a destination's as the user wrote
/// it: blanks are part of it. Every name that is derived from such a text passes through this function.
std::string address_without_credentials(std::string_view address);

/// Half-open range of bytes of a text.
struct TextRange {
    std::size_t begin = 0, end = 0;
};

/// Returns the parts of an address that address_without_credentials() hides, in order.
std::vector<TextRange> credentials_in_address(std::string_view address);

}  // namespace framewire
