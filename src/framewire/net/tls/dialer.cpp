#include "framewire/net/tls/dialer.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/tls/connection.hpp"
#include "framewire/net/tls/context.hpp"
#include "framewire/net/transport/layered_dialer.hpp"

#include <functional>
#include <utility>

namespace framewire::net {

namespace {

// Adds the TLS handshake to the carrier's connections. Failures that another attempt would not change are Errors,
// others are Lost.
class TlsDialer final : public LayeredDialer {
public:
    TlsDialer(std::unique_ptr<Dialer> carrier, const Address& server, const std::string& fingerprint)
        : LayeredDialer(std::move(carrier)), server_(server), fingerprint_(fingerprint), context_(client_context()) {}

    ConnectionPointer dial(Clock::time_point deadline) override {
        auto ssl = connecting(*context_, server_);
        auto connection = std::make_unique<TlsConnection>(
            carrier().dial(deadline), std::move(ssl),
            TlsConnection::Options{
                .post = [this](std::function<void()> task) { post(std::move(task)); },
                .distrust = [this](const SSL& done) { return problem_with_peer(done, fingerprint_); }});
        const auto error = shake_hands(*connection, deadline, "no TLS connection comes about",
                                       [&](Connection::Done done) { connection->shake_hands(std::move(done)); });
        if (error == make_error_code(TlsProblem::no_tls))
            fail(ErrorCode::source_lost, "the server speaks no TLS; its address may begin with tcp://");
        if (error == make_error_code(TlsProblem::not_trusted))
            fail(ErrorCode::source_lost, "{}", connection->problem());
        if (error) throw Lost{error.message()};
        return connection;
    }

private:
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
