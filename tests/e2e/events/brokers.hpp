#pragma once

#include "e2e/program.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framewire::e2e {

/// Returns true if Mosquitto, its client programs and a NATS server are installed.
bool brokers_are_installed();

/// Broker on its own loopback port that persists its state in a folder; after a kill and a restart it continues with
/// that state.
class Broker {
public:
    virtual ~Broker() = default;

    int port() const { return port_; }
    std::string url(const std::string& prefix) const;
    /// Starts the broker and waits until it listens; fails the test if it does not.
    void start();
    /// Kills the broker with SIGKILL.
    void kill();
    /// Returns true if the broker's files contain a subscription to this topic; otherwise the broker would lose the
    /// subscription when it is killed.
    virtual bool keeps(const std::string& topic) const = 0;

protected:
    Broker();
    virtual std::vector<std::string> command() const = 0;

    TemporaryFolder folder_;
    int port_;

private:
    std::optional<Program> program_;
};

/// Eclipse Mosquitto, configured to write each change to its files immediately.
class Mosquitto final : public Broker {
public:
    /// `more` is appended to the configuration of the broker's only listener.
    explicit Mosquitto(const std::string& more = "allow_anonymous true\n");
    bool keeps(const std::string& topic) const override;

private:
    std::vector<std::string> command() const override;
};

/// NATS server with JetStream and its MQTT listener.
class Nats final : public Broker {
public:
    Nats();
    bool keeps(const std::string& topic) const override;

private:
    std::vector<std::string> command() const override;
};

/// Debian's mosquitto_sub with a persistent session and quality of service 1. A file collects the messages that it
/// receives.
class Subscriber {
public:
    Subscriber(const Broker& broker, const std::string& topic, const std::vector<std::string>& more = {});

    struct Message {
        std::string topic, payload;
    };
    std::vector<Message> messages() const;
    /// Returns the received messages that are events.
    std::vector<nlohmann::json> events() const;
    /// Waits until this many messages have arrived; returns false after three minutes.
    bool wait_for(std::size_t messages) const;
    /// Waits until events with this many different identifiers have arrived.
    bool wait_for_events(std::size_t events) const;

private:
    TemporaryFolder folder_;
    std::optional<Program> program_;
};

/// Returns the retained message of a topic; empty if none arrives within ten seconds.
std::string retained(const Broker& broker, const std::string& topic, const std::vector<std::string>& more = {});

}  // namespace framewire::e2e
