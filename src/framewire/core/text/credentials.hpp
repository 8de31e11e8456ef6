#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// `text`, a URL or words with URLs in them, without what lets others in: of each URL what stands before `@HOST`
/// becomes
/// `***`, and so do the values of query keys that name a secret (`?token=`, `&password=`, `&api_key=`, `&sig=` ...).
/// A password that is not valid in a URL is found too, with blanks as far as a sentence lets tell. Doing it again
/// changes nothing. What a path holds, such as the key of an RTMP stream, is taken for a name and stays.
std::string without_credentials(std::string_view text);

/// The same for a text that is one address, a source's or a destination's as the user wrote it: blanks in it belong to
/// it. Every name that is made from such a text goes through this.
std::string address_without_credentials(std::string_view address);

struct TextRange {
    std::size_t begin = 0, end = 0;
};

/// The parts of an address that address_without_credentials() hides, in order.
std::vector<TextRange> credentials_in_address(std::string_view address);

}  // namespace framewire
