#pragma once

#include "e2e/program.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framewire::e2e {

/// Whether there are Mosquitto with its programs and a NATS server.
bool brokers_are_installed();

/// A real broker on a loopback port of its own, which keeps what it knows in a folder: killed and started anew it goes
/// on with that.
class Broker {
public:
    virtual ~Broker() = default;

    int port() const { return port_; }
    std::string url(const std::string& prefix) const;
    /// Starts it and waits until it listens; a test failure where it does not.
    void start();
    /// kill -9.
    void kill();
    /// Whether its files have a subscription of that topic: else it would not know it after a kill.
    virtual bool keeps(const std::string& topic) const = 0;

protected:
    Broker();
    virtual std::vector<std::string> command() const = 0;

    TemporaryFolder folder_;
    int port_;

private:
    std::optional<Program> program_;
};

/// Eclipse Mosquitto, which writes each change to its file at once.
class Mosquitto final : public Broker {
public:
    /// More lines of its configuration, of the one listener.
    explicit Mosquitto(const std::string& more = "allow_anonymous true\n");
    bool keeps(const std::string& topic) const override;

private:
    std::vector<std::string> command() const override;
};

/// A NATS server with JetStream and its MQTT listener.
class Nats final : public Broker {
public:
    Nats();
    bool keeps(const std::string& topic) const override;

private:
    std::vector<std::string> command() const override;
};

/// Debian's mosquitto_sub with a session that the broker keeps, quality of service 1. What it was sent is in a file.
class Subscriber {
public:
    Subscriber(const Broker& broker, const std::string& topic, const std::vector<std::string>& more = {});

    struct Message {
        std::string topic, payload;
    };
    std::vector<Message> messages() const;
    /// Of messages that are events.
    std::vector<nlohmann::json> events() const;
    /// Waits until there are so many messages; false after three minutes.
    bool wait_for(std::size_t messages) const;
    /// Waits until events with so many different identities are there.
    bool wait_for_events(std::size_t events) const;

private:
    TemporaryFolder folder_;
    std::optional<Program> program_;
};

/// The one message that a broker keeps of a topic; empty where there is none within ten seconds.
std::string retained(const Broker& broker, const std::string& topic, const std::vector<std::string>& more = {});

}  // namespace framewire::e2e
