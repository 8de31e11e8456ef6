#include "framewire/service/onvif/device.hpp"
#include "framewire/core/error.hpp"
#include "framewire/net/http_request.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <optional>
#include <utility>

namespace framewire::service::onvif {
namespace {

using net::http::Request;
using net::http::Response;

constexpr std::string_view device_namespace = "http://www.onvif.org/ver10/device/wsdl",
                           media_namespace = "http://www.onvif.org/ver10/media/wsdl";
// Nonces remembered at most. Beyond that, the oldest could be sent again.
constexpr std::size_t most_nonces = 4096;

// A request that is refused with a fault.
struct Fault {
    std::string_view code, subcode;
    std::string reason;
};

// Returns the time of "2026-11-29T17:00:00Z", with or without a fraction; nullopt for other texts.
std::optional<std::time_t> time_of(const std::string& text) {
    std::tm parts{};
    const char* rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
    if (!rest) return std::nullopt;
    if (*rest == '.')
        for (++rest; std::isdigit(static_cast<unsigned char>(*rest));) ++rest;
    if (std::string_view(rest) != "Z") return std::nullopt;
    return ::timegm(&parts);
}

// Returns the response element of an operation with its content.
std::string element(const SoapRequest& soap, std::string_view space, const std::string& content) {
    return fmt::format(R"(<{0}Response xmlns="{1}" xmlns:tt="http://www.onvif.org/ver10/schema">{2}</{0}Response>)",
                       soap.operation, space, content);
}

std::string date_and_time() {
    const auto now = fmt::gmtime(std::time(nullptr));
    return fmt::format(
        "<SystemDateAndTime><tt:DateTimeType>NTP</tt:DateTimeType>"
        "<tt:DaylightSavings>false</tt:DaylightSavings><tt:TimeZone><tt:TZ>UTC0</tt:TZ></tt:TimeZone>"
        "<tt:UTCDateTime><tt:Time><tt:Hour>{}</tt:Hour><tt:Minute>{}</tt:Minute><tt:Second>{}</tt:Second>"
        "</tt:Time><tt:Date><tt:Year>{}</tt:Year><tt:Month>{}</tt:Month><tt:Day>{}</tt:Day></tt:Date>"
        "</tt:UTCDateTime></SystemDateAndTime>",
        now.tm_hour, now.tm_min, now.tm_sec, now.tm_year + 1900, now.tm_mon + 1, now.tm_mday);
}

std::string resolution(const Shape& shape) {
    return fmt::format("<tt:Resolution><tt:Width>{}</tt:Width><tt:Height>{}</tt:Height></tt:Resolution>", shape.width,
                       shape.height);
}

// Returns a camera as a media profile.
std::string profile(std::string_view tag, const LiveCamera& camera) {
    const auto state = camera.state();
    const auto name = xml_text(camera.name());
    return fmt::format(
        R"(<{0} token="{1}" fixed="true"><tt:Name>{1}</tt:Name><tt:VideoSourceConfiguration token="{1}"><tt:Name>{1}</tt:Name>)"
        R"(<tt:UseCount>1</tt:UseCount><tt:SourceToken>{1}</tt:SourceToken><tt:Bounds x="0" y="0" width="{2}" height="{3}"/>)"
        R"(</tt:VideoSourceConfiguration><tt:VideoEncoderConfiguration token="{1}"><tt:Name>{1}</tt:Name><tt:UseCount>1</tt:UseCount>)"
        "<tt:Encoding>H264</tt:Encoding>{4}<tt:Quality>1</tt:Quality><tt:RateControl><tt:FrameRateLimit>{5}</"
        "tt:FrameRateLimit>"
        "<tt:EncodingInterval>1</tt:EncodingInterval><tt:BitrateLimit>0</tt:BitrateLimit></tt:RateControl>"
        "<tt:H264><tt:GovLength>{6}</tt:GovLength><tt:H264Profile>High</tt:H264Profile></tt:H264>"
        "<tt:Multicast><tt:Address><tt:Type>IPv4</tt:Type><tt:IPv4Address>0.0.0.0</tt:IPv4Address></tt:Address>"
        "<tt:Port>0</tt:Port><tt:TTL>0</tt:TTL><tt:AutoStart>false</tt:AutoStart></tt:Multicast>"
        "<tt:SessionTimeout>PT60S</tt:SessionTimeout></tt:VideoEncoderConfiguration></{0}>",
        tag, name, state.shape.width, state.shape.height, resolution(state.shape),
        std::max(1L, std::lround(state.rate)), std::max(1L, std::lround(2 * state.rate)));
}

std::string media_uri(const std::string& uri) {
    return fmt::format(
        "<MediaUri><tt:Uri>{}</tt:Uri><tt:InvalidAfterConnect>false</tt:InvalidAfterConnect>"
        "<tt:InvalidAfterReboot>false</tt:InvalidAfterReboot><tt:Timeout>PT0S</tt:Timeout></MediaUri>",
        xml_text(uri));
}

// Returns the host of a Host field without its port, in brackets if it is an IPv6 address.
std::string host_without_port(const std::string& host) {
    const auto colon = host.rfind(':');
    return colon == host.npos || host.find(']', colon) != host.npos ? host : host.substr(0, colon);
}

Response soap_response(std::string text, int status) {
    return {.status = status,
            .content_type = "application/soap+xml; charset=utf-8",
            .body = std::make_shared<const std::string>(std::move(text))};
}

}  // namespace

Device::Device(DeviceParts parts) : parts_(std::move(parts)), gate_(parts_.token) {}

// A digest is refused after its validity, and a second time within it.
bool Device::is_right(const UsernameToken& token) {
    if (!token.digest) return net::TokenCheck(parts_.token).matches(token.password);
    const auto created = time_of(token.created);
    const auto nonce = net::http::from_base64(token.nonce);
    if (!created || !nonce || std::abs(std::difftime(std::time(nullptr), *created)) > digest_validity.count())
        return false;
    const auto now = Clock::now();
    nonces_.erase(nonces_.begin(), nonces_.lower_bound(now));
    if (std::ranges::any_of(nonces_, [&](const auto& known) { return known.second == token.nonce; })) return false;
    if (!net::TokenCheck(password_digest(*nonce, token.created, parts_.token)).matches(token.password)) return false;
    if (nonces_.size() >= most_nonces) nonces_.erase(nonces_.begin());
    nonces_.emplace(now + 2 * digest_validity, token.nonce);
    return true;
}

bool Device::let_in(const SoapRequest& soap, const Request& request) {
    if (parts_.token.empty() || request.let_in) return true;
    // The Core Specification allows these without a password, so that a client can set its clock.
    for (const auto* open : {"GetSystemDateAndTime", "GetCapabilities", "GetServices"})
        if (soap.operation == open) return true;
    if (!soap.token) return false;
    const auto peer = request.peer.substr(0, request.peer.rfind(':'));
    const std::lock_guard lock(mutex_);
    if (const auto why = gate_.closed_to(peer, Clock::now())) throw Fault{"Sender", "ter:NotAuthorized", why->text};
    const bool right = is_right(*soap.token);
    // A blank makes it differ from every token.
    return !gate_.check(peer, right ? parts_.token : ' ' + soap.token->password, Clock::now());
}

const LiveCamera& Device::camera_of(const SoapRequest& soap, std::string_view parameter) const {
    const auto given = soap.parameters.find(parameter);
    for (const auto& camera : parts_.cameras)
        if (given != soap.parameters.end() && camera->name() == given->second) return *camera;
    throw Fault{"Sender", "ter:InvalidArgVal", "there is no such profile"};
}

std::string Device::device_body(const SoapRequest& soap, const std::string& base) const {
    const auto device = xml_text(fmt::format("{}{}", base, device_path)),
               media = xml_text(fmt::format("{}{}", base, media_path));
    if (soap.operation == "GetSystemDateAndTime") return date_and_time();
    if (soap.operation == "GetDeviceInformation")
        return fmt::format(
            "<Manufacturer>framewire</Manufacturer><Model>framewire</Model><FirmwareVersion>{}"
            "</FirmwareVersion><SerialNumber>{}</SerialNumber><HardwareId>framewire</HardwareId>",
            FRAMEWIRE_VERSION, xml_text(parts_.uuid));
    if (soap.operation == "GetCapabilities")
        return fmt::format(
            "<Capabilities><tt:Device><tt:XAddr>{}</tt:XAddr></tt:Device><tt:Media><tt:XAddr>{}</tt:XAddr>"
            "<tt:StreamingCapabilities><tt:RTPMulticast>false</tt:RTPMulticast><tt:RTP_TCP>true</tt:RTP_TCP>"
            "<tt:RTP_RTSP_TCP>true</tt:RTP_RTSP_TCP></tt:StreamingCapabilities></tt:Media></Capabilities>",
            device, media);
    if (soap.operation == "GetServices") {
        const auto service = [](std::string_view space, const std::string& address) {
            return fmt::format(
                "<Service><Namespace>{}</Namespace><XAddr>{}</XAddr><Version><tt:Major>2</tt:Major>"
                "<tt:Minor>60</tt:Minor></Version></Service>",
                space, address);
        };
        return service(device_namespace, device) + service(media_namespace, media);
    }
    throw Fault{"Receiver", "ter:ActionNotSupported", "the device service has no " + soap.operation};
}

std::string Device::media_body(const SoapRequest& soap, const Request& request, const std::string& base) const {
    std::string all;
    if (soap.operation == "GetProfiles") {
        for (const auto& camera : parts_.cameras) all += profile("Profiles", *camera);
        return all;
    }
    if (soap.operation == "GetProfile") return profile("Profile", camera_of(soap, "ProfileToken"));
    if (soap.operation == "GetVideoSources") {
        for (const auto& camera : parts_.cameras) {
            const auto state = camera->state();
            all += fmt::format(R"(<VideoSources token="{}"><tt:Framerate>{}</tt:Framerate>{}</VideoSources>)",
                               xml_text(camera->name()), state.rate, resolution(state.shape));
        }
        return all;
    }
    if (soap.operation == "GetStreamUri")
        return media_uri(fmt::format("{}://{}:{}/{}", parts_.tls ? "rtsps" : "rtsp", host_without_port(request.host),
                                     parts_.rtsp_port, camera_of(soap, "ProfileToken").name()));
    if (soap.operation == "GetSnapshotUri")
        return media_uri(fmt::format("{}/{}/snapshot.jpg", base, camera_of(soap, "ProfileToken").name()));
    throw Fault{"Receiver", "ter:ActionNotSupported", "the media service has no " + soap.operation};
}

// Faults have the status that SOAP 1.2 (Part 2, table 20) prescribes, and 401 without a password.
Response Device::answer(const Request& request, bool is_media) {
    constexpr int bad_request = 400, unauthorized = 401, internal = 500;
    try {
        const auto soap = read_soap(request.body);
        const auto space = is_media ? media_namespace : device_namespace;
        if (soap.operation_namespace != space)
            throw Fault{"Sender", "ter:UnknownAction", "the operation belongs to another service"};
        if (!let_in(soap, request))
            return soap_response(soap_fault("Sender", "ter:NotAuthorized", "a user with the token is required"),
                                 unauthorized);
        const auto base = fmt::format("{}://{}{}", parts_.tls ? "https" : "http", request.host, parts_.base_path);
        const auto body = is_media ? media_body(soap, request, base) : device_body(soap, base);
        return soap_response(soap_envelope(element(soap, space, body)), 200);
    } catch (const Fault& fault) {
        return soap_response(soap_fault(fault.code, fault.subcode, fault.reason),
                             fault.code == "Sender" ? bad_request : internal);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::usage) throw;
        return soap_response(soap_fault("Sender", "ter:WellFormed", error.what()), bad_request);
    }
}

void add_routes(net::http::Site& site, const std::shared_ptr<Device>& device) {
    for (const bool is_media : {false, true})
        site.add({.method = net::http::Method::post,
                  .pattern = std::string(is_media ? media_path : device_path),
                  .access = net::http::Access::everybody,
                  .handler = [device, is_media](const Request& request) { return device->answer(request, is_media); }});
}

std::string uuid_of(std::string_view name) {
    auto digest = net::TokenCheck::digest_of(name);
    digest[6] = static_cast<std::uint8_t>((digest[6] & 0x0f) | 0x80);
    digest[8] = static_cast<std::uint8_t>((digest[8] & 0x3f) | 0x80);
    std::string text;
    for (std::size_t at = 0; at < 16; ++at) {
        if (at == 4 || at == 6 || at == 8 || at == 10) text += '-';
        text += fmt::format("{:02x}", digest[at]);
    }
    return text;
}

}  // namespace framewire::service::onvif
