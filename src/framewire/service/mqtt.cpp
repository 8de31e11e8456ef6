#include "framewire/service/mqtt.hpp"
#include "framewire/core/dynamic_library.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/json_text.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/retry_pauses.hpp"
#include "framewire/core/time.hpp"
#include "framewire/net/access.hpp"
#include "framewire/net/address.hpp"
#include "framewire/service/mqtt_pictures.hpp"
#include "framewire/service/mqtt_spool.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace framewire::service {
namespace {

// Resolves every function at once, so that a library that lacks one is reported at the first use.
MosquittoLibrary load() {
    const DynamicLibrary library("libmosquitto.so.1");
    const auto begin = library.function<decltype(mosquitto_lib_init)>("mosquitto_lib_init");
    if (begin() != MOSQ_ERR_SUCCESS) fail(ErrorCode::config, "libmosquitto.so.1 cannot be initialized");
    MosquittoLibrary found{};
    const auto take = [&library]<class Function>(Function*& pointer, const char* name) {
        pointer = library.function<Function>(name);
    };
    take(found.create, "mosquitto_new");
    take(found.destroy, "mosquitto_destroy");
    take(found.set_option, "mosquitto_int_option");
    take(found.set_user, "mosquitto_username_pw_set");
    take(found.set_tls, "mosquitto_tls_set");
    take(found.set_will, "mosquitto_will_set");
    take(found.on_answer, "mosquitto_connect_callback_set");
    take(found.on_acknowledged, "mosquitto_publish_callback_set");
    take(found.on_log, "mosquitto_log_callback_set");
    take(found.connect, "mosquitto_connect_async");
    take(found.disconnect, "mosquitto_disconnect");
    take(found.publish, "mosquitto_publish");
    take(found.socket, "mosquitto_socket");
    take(found.wants_to_write, "mosquitto_want_write");
    take(found.read, "mosquitto_loop_read");
    take(found.write, "mosquitto_loop_write");
    take(found.look_after, "mosquitto_loop_misc");
    take(found.words, "mosquitto_strerror");
    return found;
}

}  // namespace

const MosquittoLibrary& mosquitto_library() {
    static const MosquittoLibrary library = load();
    return library;
}

namespace {

constexpr std::size_t max_prefix_bytes = 128, max_credential_bytes = 1024;

// Throws Error{usage} with the reason and the expected form.
[[noreturn]] void refuse_address(std::string_view why) {
    fail(ErrorCode::usage, "{}; write mqtt://[USER:PASSWORD@]HOST[:PORT][/PREFIX], or mqtts:// for TLS", why);
}

// Decodes %XX (RFC 3986, section 2.1). Error messages never contain the text, which may be a password.
std::string decoded(std::string_view text) {
    constexpr int hexadecimal = 16;
    std::string bytes;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            bytes += text[at];
            continue;
        }
        const auto digits = text.substr(at + 1, 2);
        const auto byte = number_in<std::uint8_t>(digits, hexadecimal);
        if (digits.size() != 2 || !byte)
            refuse_address(
                "the MQTT user or password contains a % without two hexadecimal digits; write % itself as %25");
        bytes += static_cast<char>(*byte);
        at += 2;
    }
    const bool control = std::ranges::any_of(bytes, [](unsigned char c) { return c < ' ' || c == 0x7f; });
    if (control || bytes.size() > max_credential_bytes)
        refuse_address("the MQTT user or password is too long or contains control characters");
    return bytes;
}

// Returns true for a valid prefix: one or more stream names, separated by slashes.
bool is_prefix(std::string_view prefix) {
    if (prefix.empty() || prefix.size() > max_prefix_bytes) return false;
    for (;;) {
        const auto slash = prefix.find('/');
        if (!net::is_stream_name(prefix.substr(0, slash))) return false;
        if (slash == prefix.npos) return true;
        prefix.remove_prefix(slash + 1);
    }
}

// Parses HOST[:PORT]; an IPv6 address is in brackets.
net::Address address_of(std::string_view host, std::uint16_t usual_port) {
    const bool has_port = host.find(':') != host.npos && !host.ends_with(']');
    try {
        const auto address = net::parse_address(has_port ? std::string(host) : fmt::format("{}:{}", host, usual_port));
        if (address.port > 0) return address;
        // the message would contain the text
    } catch (const Error&) {
    }
    refuse_address("the MQTT address has no valid host, or its port is not from 1 to 65535");
}

}  // namespace

MqttAddress parse_mqtt_address(std::string_view text) {
    constexpr std::string_view plain = "mqtt://", secure = "mqtts://";
    constexpr std::uint16_t plain_port = 1883, secure_port = 8883;
    MqttAddress result;
    result.tls = text.starts_with(secure);
    if (!result.tls && !text.starts_with(plain)) refuse_address("this is not the address of an MQTT broker");
    text.remove_prefix(result.tls ? secure.size() : plain.size());

    // The first slash ends the authority, so a slash in a password must be written as %2F.
    const auto slash = text.find('/');
    auto authority = text.substr(0, slash);
    if (slash != text.npos) {
        auto prefix = text.substr(slash + 1);
        if (prefix.ends_with('/')) prefix.remove_suffix(1);
        if (prefix.find('@') != prefix.npos) refuse_address("the MQTT user or password contains a /; write it as %2F");
        if (!prefix.empty()) {
            if (!is_prefix(prefix))
                refuse_address(
                    "the MQTT topic prefix is invalid: it must have 1 to 128 characters from A-Z a-z 0-9 . _ -, with / "
                    "between levels");
            result.prefix = prefix;
        }
    }
    if (const auto at = authority.rfind('@'); at != authority.npos) {
        const auto user = authority.substr(0, at);
        const auto colon = user.find(':');
        result.user = decoded(user.substr(0, colon));
        if (colon != user.npos) result.password = decoded(user.substr(colon + 1));
        if (result.user.empty()) refuse_address("the MQTT user is missing before the @");
        authority.remove_prefix(at + 1);
    }
    const auto address = address_of(authority, result.tls ? secure_port : plain_port);
    result.host = address.host;
    result.port = address.port;
    return result;
}

std::string to_string(const MqttAddress& address) {
    return fmt::format("{}://{}/{}", address.tls ? "mqtts" : "mqtt",
                       net::to_string(net::Address{address.host, address.port}), address.prefix);
}

}  // namespace framewire::service

// The library's own threads are not used: turn() drives one connection from the publisher's thread.

namespace framewire::service {
namespace {

constexpr int at_most_once = 0, at_least_once = 1;  // quality of service
constexpr int keepalive_seconds = 15;

// Returns the password from the file or the address. A password file has one line without NUL bytes.
std::string password_of(const MqttOptions& options) {
    if (options.password_file.empty()) return options.broker.password;
    auto text = net::read_secret_file(options.password_file);
    while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
    if (text.empty() || text.find_first_of(std::string_view("\n\r\0", 3)) != text.npos)
        fail(ErrorCode::usage, "{} is not an MQTT password file: it must contain exactly one line",
             options.password_file);
    return text;
}

// Describes a return code of CONNACK (MQTT 3.1.1, section 3.2.2.3).
std::string_view refusal_in_words(int code) {
    switch (code) {
        case 1: return "it does not support MQTT 3.1.1";
        case 2: return "it rejected the client ID";
        case 3: return "the service is unavailable";
        case 4: return "wrong user or password";
        case 5: return "wrong user or password, or the user may not connect";
        default: return "it refused the connection for an unknown reason";
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
    if (!made) fail(ErrorCode::config, "libmosquitto cannot create a client: {}", std::strerror(errno));
    handle_ = std::make_unique<Handle>(made);
    const auto check = [&](int status, std::string_view what) {
        if (status != MOSQ_ERR_SUCCESS) fail(ErrorCode::config, "MQTT: cannot use {}: {}", what, library.words(status));
    };
    check(library.set_will(made, will.topic.c_str(), static_cast<int>(will.payload.size()), will.payload.data(),
                           at_least_once, will.retained),
          "the last will");
    if (!broker_.user.empty()) {
        const auto password = password_of(options);
        if (!broker_.tls && !password.empty() && !net::is_loopback({broker_.host, broker_.port}))
            log_warning("the MQTT password is sent to {} without encryption: TLS is off", to_string(broker_));
        check(library.set_user(made, broker_.user.c_str(), password.empty() ? nullptr : password.c_str()), "the user");
    }
    if (broker_.tls && options.authority_file.empty())
        check(library.set_option(made, MOSQ_OPT_TLS_USE_OS_CERTS, 1), "the system's root certificates");
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

// Stores the reason in problem_ and returns false.
bool MqttClient::failed(int status) {
    const auto code = errno;
    accepted_ = false;
    if (refusal_ != 0)
        problem_ = refusal_in_words(refusal_);
    else if (status == MOSQ_ERR_EAI)
        problem_ = "the host name is unknown";
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
    // Read before writing, because a broker may have acknowledged messages before it disconnected.
    int status = MOSQ_ERR_SUCCESS;
    if ((waited[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) status = library.read(client, 1);
    if (status == MOSQ_ERR_SUCCESS && (waited[0].revents & POLLOUT) != 0) status = library.write(client, 1);
    if (status == MOSQ_ERR_SUCCESS) status = library.look_after(client);
    return status == MOSQ_ERR_SUCCESS || failed(status);
}

// Only errors that no further attempt can change mean that the message is lost.
std::optional<int> MqttClient::publish(const MqttMessage& message) {
    int number = 0;
    const auto status = mosquitto_library().publish(
        handle_->pointer, &number, message.topic.c_str(), static_cast<int>(message.payload.size()),
        message.payload.data(), message.may_be_lost ? at_most_once : at_least_once, message.retained);
    switch (status) {
        case MOSQ_ERR_NOMEM:
        case MOSQ_ERR_INVAL:
        case MOSQ_ERR_PAYLOAD_SIZE:
        case MOSQ_ERR_MALFORMED_UTF8:
        case MOSQ_ERR_OVERSIZE_PACKET: return std::nullopt;
        // even without a connection, the library keeps the message for the next one
        default: return number;
    }
}

void MqttClient::disconnect() { mosquitto_library().disconnect(handle_->pointer); }

namespace {

// Maximum number of unacknowledged messages, the same as libmosquitto's own limit. Up to this many may be delivered
// twice if a connection is lost.
constexpr std::size_t most_on_their_way = 20;
constexpr std::size_t most_messages_of_an_event = 2;
constexpr std::chrono::seconds longest_answer{10}, lasting{10};
constexpr std::chrono::milliseconds longest_turn{1000};

// Returns the client identifier. It depends only on the prefix, so that the broker recognises the session after a
// restart.
std::string client_id(const MqttAddress& broker) {
    auto id = "framewire-" + broker.prefix;
    std::ranges::replace_if(
        id, [](char c) { return c == '/' || c == '.'; }, '_');
    return id;
}

}  // namespace

struct MqttPublisher::State {
    State(const MqttOptions& what, std::span<const std::string> names)
        : options(what),
          cameras(names.begin(), names.end()),
          client(options, client_id(options.broker), available_message(options.broker.prefix, false)),
          spool(options.spool_limit, options.spool_file),
          pictures(options.pictures, [this] { wake.wake(); }) {
        thread = std::jthread([this] { run(); });
    }

    // Loop of the thread: connect, stay connected, pause, until is_over().
    void run();
    std::string stay_connected();
    bool turn() { return client.turn(wake.descriptor(), std::min(longest_turn, time_left())); }
    void take_acknowledged();
    void announce();
    void announce(const MqttMessage& message);
    void publish_zones();
    void publish_pictures();
    void hand_out();
    void say_goodbye();
    void tell_problem(const std::string& problem, bool lost);
    bool is_over() const;
    std::chrono::milliseconds time_left() const;
    void tell_what_is_left() const;

    const MqttOptions options;
    const std::vector<std::string> cameras;
    Wake wake;

    // guards the members down to `counts`, which two threads use, and `spool`
    mutable std::mutex mutex;
    std::map<std::string, bool> motion;
    std::map<std::string, ZoneOccupancy> zones;
    bool zones_changed = false;
    // once set, no more events are added
    std::optional<Clock::time_point> deadline;
    MqttStatistics counts;

    // the members from here to `reported` are used only by the thread while it runs
    MqttClient client;
    // event numbers by message number
    std::map<int, std::uint64_t> on_their_way;
    // number of unacknowledged messages per event
    std::map<std::uint64_t, std::size_t> messages_left;
    // topics of retained messages by message number
    std::map<int, std::string> announced;
    // payloads of the zones' messages that were published last, by topic
    std::map<std::string, std::string> zones_published;
    // cameras by the message number of their picture
    std::map<int, std::string> pictures_on_their_way;
    // problem that was logged last
    std::string reported;
    // guarded by the mutex
    EventSpool spool;
    MqttPictures pictures;
    std::jthread thread;
};

// Returns true if the deadline was set, and either everything has been delivered or the deadline has passed.
bool MqttPublisher::State::is_over() const {
    const std::lock_guard lock(mutex);
    return deadline && (spool.size() == 0 || Clock::now() >= *deadline);
}

// Returns the longest time to wait: until the deadline, or longest_turn if none is set.
std::chrono::milliseconds MqttPublisher::State::time_left() const {
    const std::lock_guard lock(mutex);
    if (!deadline) return longest_turn;
    return std::max(std::chrono::milliseconds(0),
                    std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()));
}

// Pauses double while connecting fails. A connection that lasted for 10 s resets them.
void MqttPublisher::State::run() {
    RetryPauses pauses;
    while (!is_over()) {
        const auto begin = Clock::now();
        const auto problem = stay_connected();
        bool lost = false;
        {
            const std::lock_guard lock(mutex);
            lost = std::exchange(counts.connected, false);
        }
        pictures.set_connected(false);
        pictures_on_their_way.clear();
        if (problem.empty()) break;
        tell_problem(problem, lost);
        if (lost && Clock::now() - begin > lasting) pauses.reset();
        const auto until = Clock::now() + pauses.take();
        while (Clock::now() < until && !is_over())
            wake.wait(std::min(std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()), time_left()));
    }
    tell_what_is_left();
}

// Serves one connection. Returns why it was lost, or an empty string if everything is over.
std::string MqttPublisher::State::stay_connected() {
    const auto begin = Clock::now();
    if (!client.connect()) return client.problem();
    bool in = false;
    for (;;) {
        if (!turn()) return client.problem();
        wake.clear();
        take_acknowledged();
        if (client.accepted() && !std::exchange(in, true)) announce();
        if (!in && Clock::now() - begin > longest_answer) return "it does not respond";
        if (is_over()) {
            if (in) say_goodbye();
            return {};
        }
        if (in) {
            publish_zones();
            hand_out();
            publish_pictures();
        }
    }
}

// Forgets an event once all of its messages have been acknowledged.
void MqttPublisher::State::take_acknowledged() {
    for (const int message : client.take_acknowledged()) {
        announced.erase(message);
        if (const auto shown = pictures_on_their_way.find(message); shown != pictures_on_their_way.end()) {
            pictures.sent(shown->second);
            pictures_on_their_way.erase(shown);
            const std::lock_guard lock(mutex);
            ++counts.pictures;
        }
        const auto found = on_their_way.find(message);
        if (found == on_their_way.end()) continue;
        const auto event = found->second;
        on_their_way.erase(found);
        if (--messages_left[event] > 0) continue;
        messages_left.erase(event);
        const std::lock_guard lock(mutex);
        spool.forget(event);
        ++counts.acknowledged;
    }
}

// Publishes the retained messages again, because the broker may have lost them.
void MqttPublisher::State::announce() {
    const auto& prefix = options.broker.prefix;
    std::vector<std::pair<std::string, bool>> at_rest;
    {
        const std::lock_guard lock(mutex);
        counts.connected = true;
        ++counts.connections;
        for (const auto& [camera, on] : motion)
            if (!spool.has_motion_of(camera)) at_rest.emplace_back(camera, on);
    }
    reported.clear();
    log_info("events are sent to {}", to_string(options.broker));
    announce(available_message(prefix, true));
    if (!options.discovery.empty())
        for (const auto& camera : cameras) {
            announce(discovery_message(options.discovery, prefix, camera));
            if (options.pictures.when != MqttPictureRules::When::never)
                announce(picture_discovery_message(options.discovery, prefix, camera));
        }
    pictures.set_connected(true);
    for (const auto& [camera, on] : at_rest) announce(motion_message(prefix, camera, on));
    const std::lock_guard lock(mutex);
    zones_changed = true;
    for (auto& [topic, payload] : zones_published) payload.clear();
}

// Publishes what has changed in the zones, and removes the messages of zones that are gone. Each message replaces the
// one before on its topic, so only the newest state is sent.
void MqttPublisher::State::publish_zones() {
    std::map<std::string, ZoneOccupancy> now;
    {
        const std::lock_guard lock(mutex);
        if (!std::exchange(zones_changed, false)) return;
        now = zones;
    }
    const auto publish = [this](const MqttMessage& message) {
        if (const auto number = client.publish(message)) announced.emplace(*number, message.topic);
    };
    std::map<std::string, std::string> wanted;
    for (const auto& [camera, occupancy] : now)
        for (auto& message : zone_messages(options.discovery, options.broker.prefix, camera, occupancy)) {
            if (zones_published[message.topic] != message.payload) publish(message);
            wanted.emplace(std::move(message.topic), std::move(message.payload));
        }
    for (const auto& [topic, payload] : zones_published)
        if (!wanted.contains(topic)) publish({topic, "", true});
    zones_published = std::move(wanted);
}

// Publishes encoded pictures. Small messages may be sent already within publish().
void MqttPublisher::State::publish_pictures() {
    while (auto picture = pictures.take()) {
        auto message = picture_message(options.broker.prefix, picture->camera, std::move(picture->jpeg));
        if (const auto number = client.publish(message))
            pictures_on_their_way.emplace(*number, picture->camera);
        else
            pictures.sent(picture->camera);
    }
}

// Skips a message that is still unacknowledged, because the library sends it again by itself.
void MqttPublisher::State::announce(const MqttMessage& message) {
    const bool under_way =
        std::ranges::any_of(announced, [&message](const auto& entry) { return entry.second == message.topic; });
    if (under_way) return;
    if (const auto number = client.publish(message)) announced.emplace(*number, message.topic);
}

// Publishes waiting events, up to the maximum number of unacknowledged messages.
void MqttPublisher::State::hand_out() {
    while (on_their_way.size() + most_messages_of_an_event <= most_on_their_way) {
        std::optional<EventSpool::Handed> next;
        {
            const std::lock_guard lock(mutex);
            next = spool.hand_out();
        }
        if (!next) return;
        for (const auto& message : messages_of(*next->event, options.broker.prefix)) {
            const auto number = client.publish(message);
            if (!number) continue;
            on_their_way.emplace(*number, next->number);
            ++messages_left[next->number];
        }
        if (messages_left.contains(next->number)) continue;
        log_warning("cannot send an event of {} bytes over MQTT", next->event->json.size());
        const std::lock_guard lock(mutex);
        spool.forget(next->number);
    }
}

// Publishes that this server is offline, then disconnects properly.
void MqttPublisher::State::say_goodbye() {
    announced.clear();
    publish_zones();
    announce(available_message(options.broker.prefix, false));
    while (!announced.empty() && time_left().count() > 0 && turn()) take_acknowledged();
    client.disconnect();
}

// Logs each problem once, not at every attempt.
void MqttPublisher::State::tell_problem(const std::string& problem, bool lost) {
    if (problem == reported) return log_debug("MQTT broker {}: {}", to_string(options.broker), problem);
    reported = problem;
    log_warning("the MQTT broker {} {}: {}; trying again", to_string(options.broker),
                lost ? "was lost" : "is unreachable", problem);
}

// Logs how many events were dropped or not delivered.
void MqttPublisher::State::tell_what_is_left() const {
    const std::lock_guard lock(mutex);
    if (spool.dropped() > 0)
        log_warning("{} events were dropped: the MQTT broker was unreachable for too long", spool.dropped());
    if (spool.size() == 0) return;
    if (spool.is_kept())
        log_warning("{} events are waiting for the MQTT broker in {}", spool.size(), options.spool_file);
    else
        log_warning("{} events were not delivered to the MQTT broker", spool.size());
}

MqttPublisher::MqttPublisher(const MqttOptions& options, std::span<const std::string> cameras)
    : state_(std::make_unique<State>(options, cameras)) {}

MqttPublisher::~MqttPublisher() { end(Clock::now()); }

void MqttPublisher::show(std::span<const std::shared_ptr<LiveCamera>> cameras) { state_->pictures.show(cameras); }

void MqttPublisher::tell(const SharedEvent& event) {
    {
        const std::lock_guard lock(state_->mutex);
        if (event->type == Event::Type::motion) state_->motion[event->camera] = event->on;
        state_->spool.add(event);
    }
    if (event->type == Event::Type::motion) state_->pictures.set_motion(event->camera, event->on);
    state_->wake.wake();
}

void MqttPublisher::tell_zones(const std::string& camera, const ZoneOccupancy& zones) {
    {
        const std::lock_guard lock(state_->mutex);
        state_->zones[camera] = zones;
        state_->zones_changed = true;
    }
    state_->wake.wake();
}

void MqttPublisher::end(Clock::time_point deadline) {
    state_->pictures.stop();
    {
        const std::lock_guard lock(state_->mutex);
        if (!state_->deadline) state_->deadline = deadline;
    }
    state_->wake.wake();
    if (state_->thread.joinable()) state_->thread.join();
}

MqttStatistics MqttPublisher::figures() const {
    const std::lock_guard lock(state_->mutex);
    auto figures = state_->counts;
    figures.waiting = state_->spool.size();
    figures.dropped = state_->spool.dropped();
    return figures;
}

namespace {

std::string available_topic(const std::string& prefix) { return prefix + "/available"; }

std::string motion_topic(const std::string& prefix, const std::string& camera) {
    return fmt::format("{}/{}/motion", prefix, camera);
}

std::string picture_topic(const std::string& prefix, const std::string& camera) {
    return fmt::format("{}/{}/picture", prefix, camera);
}

// Replaces the characters that discovery topics must not contain.
std::string plain_name(std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return c == '.' || c == '/'; }, '_');
    return text;
}

// Returns a text as a level of a topic, which Home Assistant also accepts as an id: other bytes become _XX.
std::string topic_level(std::string_view text) {
    std::string level;
    for (const char c : text) {
        const bool stays = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
        level += stays ? std::string(1, c) : fmt::format("_{:02X}", static_cast<unsigned char>(c));
    }
    return level;
}

// The camera whose entity is discovered.
struct DiscoveredCamera {
    const std::string &discovery, &prefix, &camera;
};

// An entity of Home Assistant: its kind, what follows the camera in its topic and in its unique id, and its name.
struct DiscoveredEntity {
    std::string kind, suffix, id, name;
};

// Returns the message by which Home Assistant discovers an entity; `members` are those of its kind.
MqttMessage discovered(const DiscoveredCamera& of, const DiscoveredEntity& entity,
                       const nlohmann::ordered_json& members) {
    const auto id = fmt::format("framewire/{}/{}", of.prefix, of.camera);
    nlohmann::ordered_json config = {{"name", entity.name}, {"unique_id", id + "/" + entity.id}};
    config.update(members);
    config.update(
        {{"availability_topic", available_topic(of.prefix)},
         {"payload_available", "online"},
         {"payload_not_available", "offline"},
         {"device", {{"identifiers", {id}}, {"name", of.camera}, {"manufacturer", "framewire"}, {"model", "camera"}}},
         {"origin", {{"name", "framewire"}}}});
    return {fmt::format("{}/{}/framewire_{}/{}{}/config", of.discovery, entity.kind, plain_name(of.prefix),
                        plain_name(of.camera), entity.suffix),
            json_text(config), true};
}

// Returns the members of a sensor that is ON or OFF.
nlohmann::ordered_json on_and_off(const std::string& device_class, const std::string& topic) {
    return {{"device_class", device_class}, {"state_topic", topic}, {"payload_on", "ON"}, {"payload_off", "OFF"}};
}

// Returns the members of an entity whose events are the crossings of a line. The template renders other zones' events
// as an empty text, which Home Assistant ignores.
nlohmann::ordered_json crossings(const EventZone& zone, const std::string& topic) {
    std::string name;
    for (const char c : zone.name) name += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
    std::vector<std::string> types{zone.directions[0]};
    if (zone.directions[1] != types[0]) types.push_back(zone.directions[1]);
    return {{"state_topic", topic},
            {"event_types", types},
            {"value_template",
             fmt::format(R"({{% if value_json.event == "cross" and value_json.zone == "{}" %}})"
                         R"({{{{ {{"event_type": value_json.direction, "track": value_json.track}} | to_json }}}})"
                         R"({{% endif %}})",
                         name)}};
}

}  // namespace

MqttMessage available_message(const std::string& prefix, bool online) {
    return {available_topic(prefix), online ? "online" : "offline", true};
}

MqttMessage motion_message(const std::string& prefix, const std::string& camera, bool on) {
    return {motion_topic(prefix, camera), on ? "ON" : "OFF", true};
}

std::vector<MqttMessage> messages_of(const Event& event, const std::string& prefix) {
    std::vector<MqttMessage> messages;
    if (event.type == Event::Type::motion)
        messages.push_back(motion_message(prefix, event.camera, event.on));
    else
        messages.push_back({fmt::format("{}/{}/{}", prefix, event.camera, to_string(event.type)), event.json});
    messages.push_back({prefix + "/events", event.json});
    return messages;
}

MqttMessage discovery_message(const std::string& discovery, const std::string& prefix, const std::string& camera) {
    return discovered({.discovery = discovery, .prefix = prefix, .camera = camera},
                      {.kind = "binary_sensor", .suffix = "", .id = "motion", .name = "Motion"},
                      on_and_off("motion", motion_topic(prefix, camera)));
}

MqttMessage picture_discovery_message(const std::string& discovery, const std::string& prefix,
                                      const std::string& camera) {
    return discovered({.discovery = discovery, .prefix = prefix, .camera = camera},
                      {.kind = "camera", .suffix = "", .id = "picture", .name = "Picture"},
                      {{"topic", picture_topic(prefix, camera)}});
}

MqttMessage picture_message(const std::string& prefix, const std::string& camera, std::string jpeg) {
    return {picture_topic(prefix, camera), std::move(jpeg), true, true};
}

std::vector<MqttMessage> zone_messages(const std::string& discovery, const std::string& prefix,
                                       const std::string& camera, const ZoneOccupancy& zones) {
    std::vector<MqttMessage> messages;
    for (std::size_t i = 0; i < zones.zones.zones().size(); ++i) {
        const auto& zone = *zones.zones.zones()[i];
        const auto id = topic_level(zone.name);
        const auto topic = fmt::format("{}/{}/zone", prefix, camera);
        if (!zone.is_line()) messages.push_back({topic + "/" + id, zones.occupied[i] ? "ON" : "OFF", true});
        if (discovery.empty()) continue;
        messages.push_back(
            discovered({.discovery = discovery, .prefix = prefix, .camera = camera},
                       {.kind = zone.is_line() ? "event" : "binary_sensor",
                        .suffix = "_zone_" + id,
                        .id = "zone/" + id,
                        .name = zone.name},
                       zone.is_line() ? crossings(zone, topic) : on_and_off("occupancy", topic + "/" + id)));
    }
    return messages;
}

Wake::Wake() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_ < 0) fail(ErrorCode::config, "cannot create an event descriptor: {}", std::strerror(errno));
}

Wake::~Wake() { ::close(descriptor_); }

void Wake::wake() noexcept {
    const std::uint64_t one = 1;
    // the counter is full only if the thread is already awake
    static_cast<void>(::write(descriptor_, &one, sizeof one) == sizeof one);
}

void Wake::clear() noexcept {
    std::uint64_t count = 0;
    static_cast<void>(::read(descriptor_, &count, sizeof count) == sizeof count);
}

void Wake::wait(std::chrono::milliseconds longest) noexcept {
    pollfd waited{descriptor_, POLLIN, 0};
    ::poll(&waited, 1, static_cast<int>(longest.count()));
    clear();
}

}  // namespace framewire::service
