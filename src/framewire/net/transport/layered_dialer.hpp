#pragma once

#include "framewire/net/transport/dialer.hpp"

#include <functional>
#include <memory>
#include <system_error>
#include <utility>

namespace framewire::net {

/// Base of dialers whose connections run over those of another dialer, the carrier. The carrier's loop runs both.
class LayeredDialer : public Dialer {
public:
    /// `carrier` must not be null.
    explicit LayeredDialer(std::unique_ptr<Dialer> carrier) : carrier_(std::move(carrier)) {}

    bool wait(const bool& done, Clock::time_point deadline) override { return carrier_->wait(done, deadline); }
    void post(std::function<void()> task) override { carrier_->post(std::move(task)); }
    Clock::time_point now() const override { return carrier_->now(); }
    bool stopped() const override { return carrier_->stopped(); }

protected:
    Dialer& carrier() { return *carrier_; }

    /// Calls `begin`, waits for the end of the handshake and returns its result. At the deadline, or if the dialer is
    /// stopped, closes the connection and throws Lost; its text at the deadline is `late`.
    std::error_code shake_hands(Connection& connection, Clock::time_point deadline, const char* late,
                                const std::function<void(Connection::Done done)>& begin) {
        struct {
            bool done = false;
            std::error_code error{};
        } outcome;
        begin([&outcome](const std::error_code& error, std::size_t) {
            outcome.done = true;
            outcome.error = error;
        });
        if (!wait(outcome.done, deadline)) {
            connection.close();
            throw Lost{stopped() ? "told to stop" : late};
        }
        return outcome.error;
    }

private:
    std::unique_ptr<Dialer> carrier_;
};

}  // namespace framewire::net
