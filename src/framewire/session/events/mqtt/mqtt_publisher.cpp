#include "framewire/session/events/mqtt/mqtt_publisher.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/net/address.hpp"
#include "framewire/session/events/mqtt/mqtt_client.hpp"
#include "framewire/session/events/mqtt/spool/event_spool.hpp"
#include "framewire/session/events/mqtt/wake.hpp"
#include "framewire/session/input/opened_source.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace framewire::session {
namespace {

// Maximum number of unacknowledged messages, the same as libmosquitto's own limit. Up to this many may be delivered
// twice if a connection is lost.
constexpr std::size_t most_on_their_way = 20;
constexpr std::size_t most_messages_of_an_event = 2;
constexpr std::chrono::seconds longest_answer{10}, lasting{10};
constexpr std::chrono::milliseconds longest_turn{1000};

// The client identifier depends on the prefix only, so that the broker recognises the session after a restart.
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
          spool(options.spool_limit, options.spool_file) {
        thread = std::jthread([this] { run(); });
    }

    // Loop of the thread: connect, stay connected, pause, until everything is over.
    void run();
    std::string stay_connected();
    bool turn() { return client.turn(wake.descriptor(), std::min(longest_turn, time_left())); }
    void take_acknowledged();
    void announce();
    void announce(const MqttMessage& message);
    void hand_out();
    void say_goodbye();
    void tell_problem(const std::string& problem, bool lost);
    bool is_over() const;
    std::chrono::milliseconds time_left() const;
    void tell_what_is_left() const;

    const MqttOptions options;
    const std::vector<std::string> cameras;
    Wake wake;

    // guards the members up to `counts`, which two threads use
    mutable std::mutex mutex;
    std::map<std::string, bool> motion;
    // set: no more events are added
    std::optional<Clock::time_point> deadline;
    MqttFigures counts;

    // from here on used by the thread alone, once it runs
    MqttClient client;
    // event numbers by message number
    std::map<int, std::uint64_t> on_their_way;
    // number of unacknowledged messages per event
    std::map<std::uint64_t, std::size_t> messages_left;
    // topics of retained messages by message number
    std::map<int, std::string> announced;
    // problem that was logged last
    std::string told;
    // guarded by the mutex
    EventSpool spool;
    std::jthread thread;
};

// Over when the deadline was set and everything was delivered, or it has passed.
bool MqttPublisher::State::is_over() const {
    const std::lock_guard lock(mutex);
    return deadline && (spool.size() == 0 || Clock::now() >= *deadline);
}

// Time until the deadline, as the longest wait.
std::chrono::milliseconds MqttPublisher::State::time_left() const {
    const std::lock_guard lock(mutex);
    if (!deadline) return longest_turn;
    return std::max(std::chrono::milliseconds(0),
                    std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()));
}

// Pauses double while connecting fails. A connection that lasted for 10 s resets them.
void MqttPublisher::State::run() {
    auto pause = first_retry_pause;
    while (!is_over()) {
        const auto begin = Clock::now();
        const auto problem = stay_connected();
        bool lost = false;
        {
            const std::lock_guard lock(mutex);
            lost = std::exchange(counts.connected, false);
        }
        if (problem.empty()) break;
        tell_problem(problem, lost);
        if (lost && Clock::now() - begin > lasting) pause = first_retry_pause;
        const auto until = Clock::now() + pause;
        while (Clock::now() < until && !is_over())
            wake.wait(std::min(std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()), time_left()));
        pause = std::min(2 * pause, longest_retry_pause);
    }
    tell_what_is_left();
}

// Serves one connection. Returns why it was lost; empty if everything is over.
std::string MqttPublisher::State::stay_connected() {
    const auto begin = Clock::now();
    if (!client.connect()) return client.problem();
    bool in = false;
    for (;;) {
        if (!turn()) return client.problem();
        wake.clear();
        take_acknowledged();
        if (client.accepted() && !std::exchange(in, true)) announce();
        if (!in && Clock::now() - begin > longest_answer) return "it does not answer";
        if (is_over()) {
            if (in) say_goodbye();
            return {};
        }
        if (in) hand_out();
    }
}

// An event is done when the last of its messages is acknowledged.
void MqttPublisher::State::take_acknowledged() {
    for (const int message : client.take_acknowledged()) {
        announced.erase(message);
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
    told.clear();
    log_info("events are told to {}", to_string(options.broker));
    announce(available_message(prefix, true));
    if (!options.discovery.empty())
        for (const auto& camera : cameras) announce(discovery_message(options.discovery, prefix, camera));
    for (const auto& [camera, on] : at_rest) announce(motion_message(prefix, camera, on));
}

// Skips messages on their way: the library sends an unacknowledged one again by itself.
void MqttPublisher::State::announce(const MqttMessage& message) {
    const bool under_way =
        std::ranges::any_of(announced, [&message](const auto& entry) { return entry.second == message.topic; });
    if (under_way) return;
    if (const auto number = client.publish(message)) announced.emplace(*number, message.topic);
}

// Publishes waiting events, as many as may be unacknowledged.
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
        log_warning("an event of {} bytes cannot be told by MQTT", next->event->json.size());
        const std::lock_guard lock(mutex);
        spool.forget(next->number);
    }
}

// Publishes that this server is offline, then disconnects properly.
void MqttPublisher::State::say_goodbye() {
    announced.clear();
    announce(available_message(options.broker.prefix, false));
    while (!announced.empty() && time_left().count() > 0 && turn()) take_acknowledged();
    client.disconnect();
}

// Logs each problem once, not at every attempt.
void MqttPublisher::State::tell_problem(const std::string& problem, bool lost) {
    if (problem == told) return log_debug("MQTT broker {}: {}", to_string(options.broker), problem);
    told = problem;
    log_warning("the MQTT broker {} {}: {}; trying again", to_string(options.broker),
                lost ? "was lost" : "is not to be had", problem);
}

// Reports at the end what was not delivered.
void MqttPublisher::State::tell_what_is_left() const {
    const std::lock_guard lock(mutex);
    if (spool.dropped() > 0)
        log_warning("{} events were dropped: the MQTT broker was away for too long", spool.dropped());
    if (spool.size() == 0) return;
    if (spool.is_kept())
        log_warning("{} events wait for the MQTT broker in {}", spool.size(), options.spool_file);
    else
        log_warning("{} events did not reach the MQTT broker", spool.size());
}

MqttPublisher::MqttPublisher(const MqttOptions& options, std::span<const std::string> cameras)
    : state_(std::make_unique<State>(options, cameras)) {}

MqttPublisher::~MqttPublisher() { end(Clock::now()); }

void MqttPublisher::tell(const SharedEvent& event) {
    {
        const std::lock_guard lock(state_->mutex);
        if (event->type == Event::Type::motion) state_->motion[event->camera] = event->on;
        state_->spool.add(event);
    }
    state_->wake.wake();
}

void MqttPublisher::end(Clock::time_point deadline) {
    {
        const std::lock_guard lock(state_->mutex);
        if (!state_->deadline) state_->deadline = deadline;
    }
    state_->wake.wake();
    if (state_->thread.joinable()) state_->thread.join();
}

MqttFigures MqttPublisher::figures() const {
    const std::lock_guard lock(state_->mutex);
    auto figures = state_->counts;
    figures.waiting = state_->spool.size();
    figures.dropped = state_->spool.dropped();
    return figures;
}

}  // namespace framewire::session
