#include "framewire/net/tls/dialer.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/tls/connection.hpp"
#include "framewire/net/tls/context.hpp"

#include <functional>
#include <utility>

namespace framewire::net {

namespace {

class TlsDialer final : public Dialer {
public:
    TlsDialer(std::unique_ptr<Dialer> carrier, const Address& server, const std::string& fingerprint)
        : carrier_(std::move(carrier)), server_(server), fingerprint_(fingerprint), context_(client_context()) {}

    ConnectionPointer dial(Clock::time_point deadline) override {
        auto ssl = connecting(*context_, server_);
        auto connection = std::make_unique<TlsConnection>(
            carrier_->dial(deadline), std::move(ssl),
            TlsConnection::Options{
                .post = [this](std::function<void()> task) { carrier_->post(std::move(task)); },
                .distrust = [this](const SSL& done) { return problem_with_peer(done, fingerprint_); }});
        struct {
            bool done = false;
            std::error_code error{};
        } outcome;
        connection->shake_hands([&outcome](const std::error_code& error, std::size_t) {
            outcome.done = true;
            outcome.error = error;
        });
        if (!carrier_->wait(outcome.done, deadline)) {
            connection->close();
            throw Lost{stopped() ? "told to stop" : "no TLS connection comes about"};
        }
        if (outcome.error == make_error_code(TlsProblem::no_tls))
            fail(ErrorCode::source_lost, "the server speaks no TLS; its address may begin with tcp://");
        if (outcome.error == make_error_code(TlsProblem::not_trusted))
            fail(ErrorCode::source_lost, "{}", connection->problem());
        if (outcome.error) throw Lost{outcome.error.message()};
        return connection;
    }
    bool wait(const bool& done, Clock::time_point deadline) override { return carrier_->wait(done, deadline); }
    void post(std::function<void()> task) override { carrier_->post(std::move(task)); }
    Clock::time_point now() const override { return carrier_->now(); }
    bool stopped() const override { return carrier_->stopped(); }

private:
    std::unique_ptr<Dialer> carrier_;
    const Address server_;
    const std::string fingerprint_;
    ContextPointer context_;
};

}  // namespace

std::unique_ptr<Dialer> tls_dialer(std::unique_ptr<Dialer> carrier, const Address& server,
                                   const std::string& fingerprint) {
    return std::make_unique<TlsDialer>(std::move(carrier), server, fingerprint);
}

}  // namespace framewire::net
