#pragma once

#include "e2e/program.hpp"

#include "framewire/net/address.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace framewire::e2e::guarded {

inline const std::string small_synth = "synth:size=160x120:fps=20:noise=0:objects=3:seed=3";

/// Server with a folder for its persisted state, and its URL.
class GuardedServer {
public:
    GuardedServer(const std::string& listen, std::vector<std::string> arguments, const TemporaryFolder& state)
        : program_(with_state(state, listen, std::move(arguments))) {
        EXPECT_TRUE(program_.wait_for_err("serving ")) << program_.err();
        const auto words = program_.err();
        const auto begin = words.find("://", words.find("serving ")) - 3;
        url_ = words.substr(begin, words.find('\n', begin) - begin);
    }

    /// Returns the URL with 127.0.0.1 as its host, whatever address the server listens at.
    std::string url() const {
        auto url = url_;
        if (const auto at = url.find("0.0.0.0"); at != std::string::npos) url.replace(at, 7, "127.0.0.1");
        return url;
    }
    std::uint16_t port() const { return net::parse_stream_address(url_).server.port; }
    Program& program() { return program_; }
    Result stop() {
        program_.signal(SIGINT);
        return program_.wait();
    }

private:
    static std::vector<std::string> with_state(const TemporaryFolder& state, const std::string& listen,
                                               std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"serve", "--backend", "cpu", "-i", small_synth, "--listen", listen});
        arguments = framewire(std::move(arguments));
        arguments.insert(arguments.begin(), {"env", "XDG_STATE_HOME=" + state.path().string()});
        return arguments;
    }

    Program program_;
    std::string url_;
};

/// Returns a command that views some frames, with an additional environment variable.
inline std::vector<std::string> view(std::vector<std::string> arguments, const std::string& environment = "NONE=1") {
    arguments.insert(arguments.begin(), {"view", "--no-window", "--frames", "3"});
    arguments = framewire(std::move(arguments));
    arguments.insert(arguments.begin(), {"env", environment});
    return arguments;
}

}  // namespace framewire::e2e::guarded
