// Fuzzes addresses and certificate fingerprints: malformed ones must be refused, or parsed so that their printed form
// can be parsed again.

#include "framewire/core/error.hpp"
#include "framewire/net/address.hpp"
#include "framewire/net/http_client.hpp"
#include "framewire/net/tls.hpp"

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace framewire;

template <class Parse>
void check(Parse&& parse, std::string_view text) {
    std::optional<decltype(parse(text))> address;
    try {
        address = parse(text);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::usage) std::abort();
        return;
    }
    parse(to_string(*address));
}

// Printed form of a parsed fingerprint, which must be parsed again.
struct Fingerprint {
    std::string text;
};
std::string to_string(const Fingerprint& fingerprint) { return fingerprint.text; }
Fingerprint read_fingerprint(std::string_view text) { return {net::parse_fingerprint(text)}; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check(net::parse_address, text);
    check(net::parse_stream_address, text);
    check(net::http::parse_server_address, text);
    check(read_fingerprint, text);
    return 0;
}
