#pragma once

#include <string>
#include <string_view>

namespace framewire {

/// `text`, a URL or words with URLs in them, without what lets others in: of each URL what stands before `@HOST`
/// becomes
/// `***`, and so do the values of query keys that name a secret (`?token=`, `&password=`, `&api_key=`, `&sig=` ...).
/// A password that is no valid part of a URL is found too, as far as it has no blanks. Doing it again changes nothing.
/// What a path holds, such as the key of an RTMP stream, is taken for a name and stays.
std::string without_credentials(std::string_view text);

}  // namespace framewire
