#include "framewire/net/tcp/name_lookup.hpp"

#include "framewire/core/error.hpp"

#include <boost/asio/ip/address.hpp>

#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace framewire::net {

std::vector<std::string> system_lookup(const std::string& host) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int error = ::getaddrinfo(host.c_str(), nullptr, &wanted, &found))
        fail(ErrorCode::no_input, "{}", error == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(error));
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
    std::vector<std::string> addresses;
    for (const auto* entry = found; entry; entry = entry->ai_next) {
        std::array<char, NI_MAXHOST> text{};
        if (::getnameinfo(entry->ai_addr, entry->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0)
            addresses.emplace_back(text.data());
    }
    return addresses;
}

// Shared by the waiting thread and the lookup thread; whichever ends last destroys it.
struct NameLookup::Answer {
    std::mutex mutex;
    std::condition_variable_any given;
    bool there = false;
    std::vector<std::string> addresses;
    std::string problem;  // empty if the lookup succeeded
};

NameLookup::NameLookup(std::string host, HostLookup lookup) : host_(std::move(host)), lookup_(std::move(lookup)) {}

std::optional<std::vector<std::string>> NameLookup::addresses(Clock::time_point deadline, std::stop_token stop) {
    boost::system::error_code not_numeric;
    boost::asio::ip::make_address(host_, not_numeric);
    if (!not_numeric) return std::vector{host_};

    if (!awaited_) {
        auto answer = std::make_shared<Answer>();
        const auto look_up = [answer, lookup = lookup_, host = host_] {
            std::vector<std::string> addresses;
            std::string problem;
            try {
                addresses = lookup(host);
                if (addresses.empty()) problem = "the name has no addresses";
            } catch (const std::exception& error) {
                problem = error.what();
            }
            {
                const std::lock_guard lock(answer->mutex);
                answer->addresses = std::move(addresses);
                answer->problem = std::move(problem);
                answer->there = true;
            }
            answer->given.notify_all();
        };
        // getaddrinfo() cannot be cancelled, so the thread is detached.
        try {
            std::thread(look_up).detach();
        } catch (const std::system_error& error) {
            fail(ErrorCode::no_input, "no thread to look up '{}' in: {}", host_, error.what());
        }
        awaited_ = std::move(answer);
    }
    {
        std::unique_lock lock(awaited_->mutex);
        if (!awaited_->given.wait_until(lock, std::move(stop), deadline, [&] { return awaited_->there; }))
            return std::nullopt;
    }
    const auto answer = std::exchange(awaited_, nullptr);  // the next call starts a new lookup
    if (!answer->problem.empty()) fail(ErrorCode::no_input, "{}", answer->problem);
    return std::move(answer->addresses);
}

}  // namespace framewire::net
