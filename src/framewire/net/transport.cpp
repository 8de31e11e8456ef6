#include "framewire/net/transport.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace framewire::net {

namespace {

// A connection that first delivers bytes that were already read. Their callback is posted, because it must not run
// inside read_some().
class PrefixedConnection final : public Connection {
public:
    PrefixedConnection(Bytes bytes, ConnectionPointer connection, Loop& loop)
        : core_(std::make_shared<Core>()), connection_(std::move(connection)), loop_(loop) {
        core_->bytes = std::move(bytes);
    }
    ~PrefixedConnection() override { close(); }

    const std::string& name() const override { return connection_->name(); }
    const std::string& peer() const override { return connection_->peer(); }

    void read_some(std::span<std::uint8_t> into, Done done) override {
        if (core_->bytes.empty()) return connection_->read_some(into, std::move(done));
        core_->into = into;
        core_->done = std::move(done);
        loop_.post([weak = std::weak_ptr(core_)] {
            if (const auto core = weak.lock()) core->give();
        });
    }
    void write(std::span<const std::span<const std::uint8_t>> pieces, Progress progress, Done done) override {
        connection_->write(pieces, std::move(progress), std::move(done));
    }
    void end_writing() override { connection_->end_writing(); }
    void close() override {
        core_->done = nullptr;
        connection_->close();
    }

private:
    struct Core {
        void give() {
            const auto call = std::exchange(done, nullptr);
            if (!call) return;
            const auto count = std::min(into.size(), bytes.size());
            std::copy_n(bytes.begin(), count, into.begin());
            bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
            if (bytes.empty()) bytes = Bytes();  // releases the memory
            call({}, count);
        }

        Bytes bytes;
        std::span<std::uint8_t> into;
        Done done;
    };

    std::shared_ptr<Core> core_;
    ConnectionPointer connection_;
    Loop& loop_;
};

}  // namespace

ConnectionPointer with_bytes_before(Bytes bytes, ConnectionPointer connection, Loop& loop) {
    if (bytes.empty()) return connection;
    return std::make_unique<PrefixedConnection>(std::move(bytes), std::move(connection), loop);
}

}  // namespace framewire::net
