// fw_viewer.

#include "framewire/c/boundary.hpp"
#include "framewire/c/boxes.hpp"
#include "framewire/c/image.hpp"
#include "framewire/net/address.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/tls.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stop_token>

using namespace framewire;

namespace {

net::ClientOptions options_from(const fw_viewer_options& given) {
    constexpr double day_s = 86'400;
    c::check_range(given.timeout_seconds, 0.0, day_s, "options->timeout_seconds");
    c::check_range(given.reconnect_seconds, 0.0, day_s, "options->reconnect_seconds");
    const auto milliseconds = [](double seconds) {
        return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1e3)));
    };
    net::ClientOptions options;
    if (given.timeout_seconds > 0)
        options.connect_deadline = options.silence_deadline = milliseconds(given.timeout_seconds);
    options.reconnect = milliseconds(given.reconnect_seconds);
    options.token = c::text_or_empty(given.token);
    if (given.fingerprint) options.fingerprint = net::parse_fingerprint(given.fingerprint);
    return options;
}

}  // namespace

struct fw_viewer {
    fw_viewer(const char* url, const fw_viewer_options& options)
        : client(net::parse_stream_address(url), options_from(options), stop.get_token()) {}

    std::stop_source stop;
    net::Client client;
    c::Boxes boxes;
};

fw_status fw_viewer_connect(fw_viewer** viewer, const char* url, const fw_viewer_options* options) {
    return c::create(__func__, viewer, "viewer", [&] {
        c::at(url, "url");
        return std::make_unique<fw_viewer>(url, c::take_optional(options, "options"));
    });
}

void fw_viewer_close(fw_viewer* viewer) { delete viewer; }

fw_status fw_viewer_info(const fw_viewer* viewer, fw_image* image, fw_info* info) {
    return c::guard(__func__, [&] {
        const auto& stream = c::at(viewer, "viewer").client.info();
        if (image) c::put_format(FrameFormat(stream.shape), *image);
        if (!info) return;
        c::put(*info,
               {.size = 0,
                .rate_numerator = stream.rate.numerator,
                .rate_denominator = stream.rate.denominator,
                .frames = -1,
                .live = 1,
                .threshold = stream.threshold},
               "info");
    });
}

fw_status fw_viewer_next(fw_viewer* viewer, const fw_image* image, fw_view* view) {
    return c::guard(__func__, [&] {
        auto& client = c::at(viewer, "viewer").client;
        std::optional<c::CallerImage> to;
        if (image) to.emplace(image, FrameFormat(client.info().shape), "image");
        if (to) to->require_host();
        if (view) c::take(*view, "view");
        if (!client.next()) return FW_END;
        if (to) copy(client.picture(), to->view<std::uint8_t, MemorySpace::host>().image);
        if (view) {
            const auto& state = client.state();
            const auto age = client.age();
            const double age_s = age ? std::chrono::duration<double>(*age).count() : -1;
            c::put(*view, {0, state.version, state.frame, state.seconds, age_s, client.threshold(), 0}, "view");
        }
        return FW_OK;
    });
}

fw_status fw_viewer_boxes(fw_viewer* viewer, const fw_box** boxes, size_t* count) {
    return c::guard(__func__, [&] {
        auto& seen = c::at(viewer, "viewer");
        c::at(boxes, "boxes") = nullptr;
        c::at(count, "count") = 0;
        seen.boxes.take(seen.client.objects());
        seen.boxes.store(boxes, count);
    });
}

fw_status fw_viewer_stop(fw_viewer* viewer) {
    return c::guard(__func__, [&] { c::at(viewer, "viewer").stop.request_stop(); });
}
