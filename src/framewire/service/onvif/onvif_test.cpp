#include "framewire/core/error.hpp"
#include "framewire/net/http_request.hpp"
#include "framewire/service/onvif/device.hpp"
#include "framewire/service/onvif/discovery.hpp"
#include "framewire/service/onvif/soap.hpp"
#include "framewire/service/web/site_testing.hpp"

#include <arpa/inet.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ctime>
#include <memory>
#include <string>

namespace framewire::service::onvif {
namespace {

const std::string token = "correct-horse-battery-staple", nonce = "LKqI6G/AikKCQrN0zqZFlg==";
const std::string device_space = "http://www.onvif.org/ver10/device/wsdl",
                  media_space = "http://www.onvif.org/ver10/media/wsdl";

std::string utc(std::time_t time) { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time)); }

// Returns a WS-Security header as ONVIF clients send it.
std::string security(const std::string& password, const std::string& coded_nonce = nonce,
                     const std::string& created = utc(std::time(nullptr))) {
    const auto digest = password_digest(*net::http::from_base64(coded_nonce), created, password);
    return fmt::format(
        R"(<Security xmlns="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd">)"
        "<UsernameToken><Username>any</Username><Password Type=\"http://docs.oasis-open.org/wss/2004/01/"
        "oasis-200401-wss-username-token-profile-1.0#PasswordDigest\">{}</Password><Nonce>{}</Nonce>"
        R"(<Created xmlns="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd">{}</Created>)"
        "</UsernameToken></Security>",
        digest, coded_nonce, created);
}

std::string request(const std::string& space, const std::string& operation, const std::string& content = "",
                    const std::string& header = "") {
    return soap_envelope(fmt::format(R"(<{0} xmlns="{1}">{2}</{0}>)", operation, space, content), header);
}

// A device with the cameras `door` and `a&b`, which cannot be the name of a stream but must not break the XML.
struct Fixture {
    explicit Fixture(const std::string& password = "")
        : device({.cameras = {std::make_shared<web::FakeCamera>("door", Shape{1, 480, 640, 3}),
                              std::make_shared<web::FakeCamera>("a&b", Shape{1, 48, 64, 3})},
                  .token = password,
                  .rtsp_port = 8554,
                  .base_path = "/cams",
                  .uuid = uuid_of("test")}) {}

    net::http::Response answer(const std::string& body, bool is_media = true, const std::string& peer = "10.0.0.1:5") {
        return device.answer(
            {.method = net::http::Method::post, .path = "/", .body = body, .peer = peer, .host = "camera.local:7878"},
            is_media);
    }

    Device device;
};

bool says(const net::http::Response& response, const std::string& text) {
    return response.body->find(text) != std::string::npos;
}

// The example of the ONVIF Application Programmer's Guide, section 6.1.1.3.
TEST(PasswordDigest, MatchesTheExampleOfTheGuide) {
    const auto plain = net::http::from_base64(nonce);
    ASSERT_TRUE(plain);
    EXPECT_EQ(password_digest(*plain, "2010-09-16T07:50:45Z", "userpassword"), "tuOSpGlFlIXsozq4HFNeeGeFLEI=");
}

TEST(Soap, ReadsARequest) {
    const auto soap =
        read_soap(request(media_space, "GetStreamUri",
                          R"(<StreamSetup><Stream xmlns="http://www.onvif.org/ver10/schema">RTP-Unicast</Stream>)"
                          R"(</StreamSetup><ProfileToken>door</ProfileToken>)",
                          security(token)));
    EXPECT_EQ(soap.operation, "GetStreamUri");
    EXPECT_EQ(soap.operation_namespace, media_space);
    EXPECT_EQ(soap.parameters.at("ProfileToken"), "door");
    EXPECT_EQ(soap.parameters.at("Stream"), "RTP-Unicast");
    ASSERT_TRUE(soap.token);
    EXPECT_EQ(soap.token->user, "any");
    EXPECT_EQ(soap.token->nonce, nonce);
    EXPECT_TRUE(soap.token->digest);
}

TEST(Soap, RefusesHostileTexts) {
    const auto good = request(media_space, "GetProfiles");
    for (std::size_t size = 0; size < good.size(); ++size) EXPECT_THROW(read_soap(good.substr(0, size)), Error) << size;
    std::string deep, laughs = R"(<!DOCTYPE lolz [<!ENTITY lol "lol">)";
    for (int level = 0; level < 1000; ++level) deep += "<a>";
    for (int level = 1; level < 10; ++level)
        laughs += fmt::format(R"(<!ENTITY lol{} "&lol{};&lol{};&lol{};">)", level, level - 1, level - 1, level - 1);
    for (const auto& text :
         {deep, request("x", "y", deep), laughs + "]><lolz>&lol9;</lolz>",
          R"(<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>)" + good, good + good, soap_envelope(""),
          soap_envelope("<a/><b/>"), std::string("<Envelope/>"), request("x", "y", "&undefined;"),
          std::string(max_soap_bytes + 1, ' '), std::string("\xff\xfe\0<", 4), std::string(1000, '\0')})
        EXPECT_THROW(read_soap(text), Error) << text.substr(0, 80);
    std::string many;
    for (int number = 0; number <= max_soap_parameters; ++number) many += fmt::format("<p{0}>{0}</p{0}>", number);
    EXPECT_THROW(read_soap(request("x", "y", many)), Error);
}

TEST(Device, DescribesItself) {
    Fixture on;
    const auto now = on.answer(request(device_space, "GetSystemDateAndTime"), false);
    EXPECT_EQ(now.status, 200);
    EXPECT_TRUE(says(now, "<GetSystemDateAndTimeResponse")) << *now.body;
    EXPECT_TRUE(says(on.answer(request(device_space, "GetDeviceInformation"), false), uuid_of("test")));
    for (const auto* operation : {"GetCapabilities", "GetServices"}) {
        const auto response = on.answer(request(device_space, operation), false);
        EXPECT_TRUE(says(response, "XAddr>http://camera.local:7878/cams/onvif/media_service</")) << *response.body;
    }
    // Each response is well-formed.
    EXPECT_EQ(read_soap(*now.body).operation, "GetSystemDateAndTimeResponse");
}

TEST(Device, DescribesItsCameras) {
    Fixture on;
    const auto profiles = on.answer(request(media_space, "GetProfiles"));
    EXPECT_TRUE(says(profiles, R"(<Profiles token="door" fixed="true">)")) << *profiles.body;
    EXPECT_TRUE(says(profiles, R"(token="a&amp;b")")) << *profiles.body;
    EXPECT_TRUE(says(profiles, "<tt:Width>640</tt:Width><tt:Height>480</tt:Height>"));
    EXPECT_EQ(read_soap(*on.answer(request(media_space, "GetVideoSources")).body).operation, "GetVideoSourcesResponse");
    const std::string door = "<ProfileToken>door</ProfileToken>";
    EXPECT_TRUE(says(on.answer(request(media_space, "GetStreamUri", door)), "<tt:Uri>rtsp://camera.local:8554/door</"));
    EXPECT_TRUE(says(on.answer(request(media_space, "GetSnapshotUri", door)),
                     "<tt:Uri>http://camera.local:7878/cams/door/snapshot.jpg</"));
    EXPECT_TRUE(says(on.answer(request(media_space, "GetProfile", door)), "<Profile token=\"door\""));
}

TEST(Device, AnswersOtherRequestsWithFaults) {
    Fixture on;
    EXPECT_EQ(on.answer("<nothing").status, 400);
    EXPECT_EQ(on.answer(request(media_space, "GetStreamUri", "<ProfileToken>attic</ProfileToken>")).status, 400);
    EXPECT_EQ(on.answer(request(media_space, "GetStreamUri")).status, 400);
    EXPECT_EQ(on.answer(request(device_space, "GetDeviceInformation")).status, 400);
    const auto missing = on.answer(request(media_space, "SetVideoEncoderConfiguration"));
    EXPECT_EQ(missing.status, 500);
    EXPECT_TRUE(says(missing, "ter:ActionNotSupported")) << *missing.body;
}

TEST(Device, RequiresTheToken) {
    Fixture on(token);
    EXPECT_EQ(on.answer(request(device_space, "GetSystemDateAndTime"), false).status, 200);
    EXPECT_EQ(on.answer(request(media_space, "GetProfiles")).status, 401);
    const auto signed_request = request(media_space, "GetProfiles", "", security(token));
    EXPECT_EQ(on.answer(signed_request).status, 200);
    EXPECT_EQ(on.answer(signed_request).status, 401) << "a digest is accepted once";
    const std::string other = "AAECAwQFBgcICQoLDA0ODw==";
    EXPECT_EQ(on.answer(request(media_space, "GetProfiles", "", security("wrong-" + token, other))).status, 401);
    const auto old = utc(std::time(nullptr) - 2 * Device::digest_validity.count());
    EXPECT_EQ(on.answer(request(media_space, "GetProfiles", "", security(token, other, old))).status, 401);
    EXPECT_EQ(on.answer(request(media_space, "GetProfiles", "", security(token, other, "yesterday"))).status, 401);
    EXPECT_EQ(on.answer(request(media_space, "GetProfiles", "", security(token, other))).status, 200);
}

TEST(Device, LocksOutAPeerThatGuesses) {
    Fixture on(token);
    for (int guess = 0; guess < net::Gate::failures_allowed; ++guess)
        EXPECT_EQ(on.answer(request(media_space, "GetProfiles", "", security("guess" + std::to_string(guess)))).status,
                  401);
    const auto right = request(media_space, "GetProfiles", "", security(token));
    EXPECT_EQ(on.answer(right).status, 400);
    EXPECT_EQ(on.answer(right, true, "10.0.0.2:5").status, 200);
}

// ---- discovery ----

const std::string discovery_space = "http://schemas.xmlsoap.org/ws/2005/04/discovery";

std::string probe(const std::string& types) {
    return soap_envelope(
        fmt::format(R"(<Probe xmlns="{}"><Types>{}</Types></Probe>)", discovery_space, types),
        R"(<a:MessageID xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing">urn:uuid:1&lt;2</a:MessageID>)");
}

TEST(Discovery, AnswersProbesForCameras) {
    const DiscoveryOptions options{.http = {"0.0.0.0", 7878}, .base_path = "/cams", .uuid = uuid_of("x"), .name = "x"};
    for (const auto* types : {"", "dn:NetworkVideoTransmitter", "tds:Device dn:Other"}) {
        const auto reply = probe_matches(probe(types), options, "192.168.1.5");
        ASSERT_TRUE(reply) << types;
        EXPECT_NE(reply->find("<d:XAddrs>http://192.168.1.5:7878/cams/onvif/device_service</"), reply->npos) << *reply;
        EXPECT_NE(
            reply->find("RelatesTo xmlns:a=\"http://schemas.xmlsoap.org/ws/2004/08/addressing\">urn:uuid:1&lt;2</"),
            reply->npos)
            << *reply;
        EXPECT_EQ(read_soap(*reply).operation, "ProbeMatches");
    }
    EXPECT_FALSE(probe_matches(probe("wsdp:Printer"), options, "192.168.1.5"));
    EXPECT_FALSE(probe_matches(request(discovery_space, "Bye"), options, "192.168.1.5"));
    EXPECT_THROW(probe_matches("hello", options, "192.168.1.5"), Error);
}

// Sends probes to the multicast group on the loopback interface and counts the replies.
TEST(Discovery, AnswersOverMulticastAndLimitsTheRate) {
    const net::Address group{"239.255.255.250", 37020};
    const Discovery discovery({.http = {"127.0.0.1", 7878}, .uuid = uuid_of("x"), .name = "x", .group = group});
    const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
    in_addr loopback{};
    loopback.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::setsockopt(socket, IPPROTO_IP, IP_MULTICAST_IF, &loopback, sizeof loopback), 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(group.port);
    ::inet_pton(AF_INET, group.host.c_str(), &to.sin_addr);
    const auto send = [&](const std::string& text) {
        ::sendto(socket, text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    };
    for (const auto& hostile : {std::string(), std::string("hello"), std::string(8000, 'A'), std::string(60000, '<')})
        send(hostile);
    for (int number = 0; number < 100; ++number) send(probe("dn:NetworkVideoTransmitter"));
    int replies = 0;
    std::string last(8192, '\0');
    for (pollfd waiting{socket, POLLIN, 0}; ::poll(&waiting, 1, replies == 0 ? 5000 : 500) > 0; ++replies)
        last.resize(static_cast<std::size_t>(::recv(socket, last.data(), last.size(), 0))), last.resize(8192);
    ::close(socket);
    EXPECT_GE(replies, 1);
    EXPECT_LE(replies, 40);
    EXPECT_NE(last.find("http://127.0.0.1:7878/onvif/device_service"), last.npos) << last;
}

}  // namespace
}  // namespace framewire::service::onvif
