// Fuzzes offers of WebRTC clients: malformed ones must be refused, and what is passed on of others must be an offer
// again, with the same values.

#include "framewire/core/error.hpp"
#include "framewire/service/webrtc/webrtc_offer.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    using service::WebrtcOffer;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const auto offer = WebrtcOffer::parse(text);
        for (const auto& format : offer.formats) {
            const auto again = WebrtcOffer::parse(offer.for_video(format));
            if (again.media.size() != 1 || again.formats.size() != 1 ||
                again.formats[0].payload_type != format.payload_type || again.ice_ufrag != offer.ice_ufrag ||
                again.ice_pwd != offer.ice_pwd || again.fingerprint != offer.fingerprint ||
                again.setup != offer.setup || again.has_pli != offer.has_pli || again.has_fir != offer.has_fir)
                std::abort();
        }
        offer.answer(offer.format_for(text), text);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::usage) std::abort();
    }
    return 0;
}
