// Fuzzes SOAP requests of ONVIF clients and WS-Discovery messages: malformed ones must be refused, and every response
// must be well-formed, whatever texts the request contained.

#include "framewire/core/error.hpp"
#include "framewire/service/onvif/device.hpp"
#include "framewire/service/onvif/discovery.hpp"
#include "framewire/service/onvif/soap.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    namespace onvif = service::onvif;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto must_be_well_formed = [](const std::string& response) {
        try {
            onvif::read_soap(response);
        } catch (const Error&) {
            std::abort();
        }
    };
    try {
        const auto reply = onvif::probe_matches(text, {.http = {"127.0.0.1", 7878}, .uuid = "x", .name = "x"}, "::1");
        if (reply) must_be_well_formed(*reply);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::usage) std::abort();
    }
    for (const auto* token : {"", "correct-horse-battery-staple"}) {
        onvif::Device device({.token = token, .rtsp_port = 8554, .uuid = "x"});
        for (const bool is_media : {false, true}) {
            const auto response = device.answer(
                {.method = net::http::Method::post, .path = "/", .body = std::string(text), .peer = "10.0.0.1:5"},
                is_media);
            must_be_well_formed(*response.body);
        }
    }
    return 0;
}
