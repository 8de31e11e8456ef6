// The library's own threads are not used: turn() drives one connection from the publisher's thread.
#include "framewire/session/events/mqtt/mqtt_client.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/net/access/secret_file.hpp"
#include "framewire/net/address.hpp"
#include "framewire/session/events/mqtt/mosquitto_library.hpp"

#include <fmt/format.h>

#include <poll.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace framewire::session {
namespace {

constexpr int quality_of_service = 1;
constexpr int keepalive_seconds = 15;

// Returns the password from the file or the address. A file has one line without zero bytes.
std::string password_of(const MqttOptions& options) {
    if (options.password_file.empty()) return options.broker.password;
    auto text = net::read_secret_file(options.password_file);
    while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
    if (text.empty() || text.find_first_of(std::string_view("\n\r\0", 3)) != text.npos)
        fail(ErrorCode::usage, "{} is no file of an MQTT password: one line is needed", options.password_file);
    return text;
}

// Return codes of CONNACK (MQTT 3.1.1, section 3.2.2.3).
std::string_view refusal_in_words(int code) {
    switch (code) {
        case 1: return "it does not speak MQTT 3.1.1";
        case 2: return "it does not allow the client's name";
        case 3: return "its service is not available";
        case 4: return "the user or the password is wrong";
        case 5: return "the user or the password is wrong, or may not connect";
        default: return "it gives no known reason";
    }
}

}  // namespace

// Owns the library's client.
struct MqttClient::Handle {
    explicit Handle(mosquitto* made) : pointer(made) {}
    ~Handle() { mosquitto_library().destroy(pointer); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    mosquitto* pointer;
};

MqttClient::MqttClient(const MqttOptions& options, const std::string& id, const MqttMessage& will)
    : broker_(options.broker) {
    const auto& library = mosquitto_library();
    auto* const made = library.create(id.c_str(), false, this);
    if (!made) fail(ErrorCode::config, "libmosquitto makes no client: {}", std::strerror(errno));
    handle_ = std::make_unique<Handle>(made);
    const auto check = [&](int status, std::string_view what) {
        if (status != MOSQ_ERR_SUCCESS)
            fail(ErrorCode::config, "MQTT: {} cannot be used: {}", what, library.words(status));
    };
    check(library.set_will(made, will.topic.c_str(), static_cast<int>(will.payload.size()), will.payload.data(),
                           quality_of_service, will.retained),
          "the last will");
    if (!broker_.user.empty()) {
        const auto password = password_of(options);
        if (!broker_.tls && !password.empty() && !net::is_loopback({broker_.host, broker_.port}))
            log_warning("the MQTT password can be read on its way to {}: there is no TLS", to_string(broker_));
        check(library.set_user(made, broker_.user.c_str(), password.empty() ? nullptr : password.c_str()), "the user");
    }
    if (broker_.tls && options.authority_file.empty())
        check(library.set_option(made, MOSQ_OPT_TLS_USE_OS_CERTS, 1), "the system's roots");
    else if (broker_.tls)
        check(library.set_tls(made, options.authority_file.c_str(), nullptr, nullptr, nullptr, nullptr),
              options.authority_file);
    // The library calls these from within connect(), turn() and publish(), on the thread that called them.
    library.on_answer(made, [](mosquitto*, void* self, int code) {
        auto& client = *static_cast<MqttClient*>(self);
        client.accepted_ = code == 0;
        client.refusal_ = code;
    });
    library.on_acknowledged(made, [](mosquitto*, void* self, int number) {
        static_cast<MqttClient*>(self)->acknowledged_.push_back(number);
    });
    library.on_log(made, [](mosquitto*, void* self, int level, const char* text) {
        if ((level & (MOSQ_LOG_ERR | MOSQ_LOG_WARNING)) != 0) static_cast<MqttClient*>(self)->complaint_ = text;
    });
}

MqttClient::~MqttClient() = default;

// Notes the reason in problem_ and returns false.
bool MqttClient::failed(int status) {
    const auto code = errno;
    accepted_ = false;
    if (refusal_ != 0)
        problem_ = refusal_in_words(refusal_);
    else if (status == MOSQ_ERR_EAI)
        problem_ = "the host's name is not known";
    else if (status == MOSQ_ERR_ERRNO && code != 0)
        problem_ = std::strerror(code);
    else if (status == MOSQ_ERR_TLS && !complaint_.empty())
        problem_ = complaint_;
    else
        problem_ = mosquitto_library().words(status);
    return false;
}

bool MqttClient::connect() {
    accepted_ = false;
    refusal_ = 0;
    complaint_.clear();
    errno = 0;
    const auto status =
        mosquitto_library().connect(handle_->pointer, broker_.host.c_str(), broker_.port, keepalive_seconds);
    return status == MOSQ_ERR_SUCCESS || failed(status);
}

bool MqttClient::turn(int wake, std::chrono::milliseconds longest) {
    const auto& library = mosquitto_library();
    auto* const client = handle_->pointer;
    const int socket = library.socket(client);
    if (socket < 0) return failed(MOSQ_ERR_CONN_LOST);
    const auto events = static_cast<short>(library.wants_to_write(client) ? POLLIN | POLLOUT : POLLIN);
    std::array<pollfd, 2> waited{pollfd{socket, events, 0}, pollfd{wake, POLLIN, 0}};
    if (::poll(waited.data(), waited.size(), static_cast<int>(longest.count())) < 0 && errno != EINTR)
        return failed(MOSQ_ERR_ERRNO);
    errno = 0;
    // Read before writing: a broker that went away may have acknowledged messages before.
    int status = MOSQ_ERR_SUCCESS;
    if ((waited[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) status = library.read(client, 1);
    if (status == MOSQ_ERR_SUCCESS && (waited[0].revents & POLLOUT) != 0) status = library.write(client, 1);
    if (status == MOSQ_ERR_SUCCESS) status = library.look_after(client);
    return status == MOSQ_ERR_SUCCESS || failed(status);
}

// Only errors that no further attempt can change mean that the message is lost.
std::optional<int> MqttClient::publish(const MqttMessage& message) {
    int number = 0;
    const auto status = mosquitto_library().publish(handle_->pointer, &number, message.topic.c_str(),
                                                    static_cast<int>(message.payload.size()), message.payload.data(),
                                                    quality_of_service, message.retained);
    switch (status) {
        case MOSQ_ERR_NOMEM:
        case MOSQ_ERR_INVAL:
        case MOSQ_ERR_PAYLOAD_SIZE:
        case MOSQ_ERR_MALFORMED_UTF8:
        case MOSQ_ERR_OVERSIZE_PACKET: return std::nullopt;
        // also without a connection: the library keeps the message for the next one
        default: return number;
    }
}

void MqttClient::disconnect() { mosquitto_library().disconnect(handle_->pointer); }

}  // namespace framewire::session
