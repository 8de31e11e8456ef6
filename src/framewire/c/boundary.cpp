#include "framewire/c/boundary.hpp"
#include "framewire/core/log.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/plan/chain.hpp"

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace framewire::c {
namespace {

// State of one thread that calls the interface.
struct CallerThread {
    std::string text;                 // of the last error
    const char* without_memory = "";  // shown instead if the text could not be kept
    const char* function = "";
    std::optional<int> gpu;  // current one before the call, once the call uses a GPU
};

CallerThread& this_thread() {
    thread_local CallerThread thread;
    return thread;
}

fw_status keep(fw_status status, const char* text) noexcept {
    auto& thread = this_thread();
    try {
        thread.text = text;
        thread.without_memory = nullptr;
    } catch (...) {
        thread.without_memory = "not enough memory for the message of the error";
    }
    return status;
}

}  // namespace

Call::Call(const char* function) noexcept { this_thread().function = function; }

Call::~Call() {
    try {
        if (const auto gpu = std::exchange(this_thread().gpu, std::nullopt)) cuda::use_device(*gpu);
    } catch (const Error&) {
        // the caller's next CUDA call reports it
    }
}

void keep_current_gpu() noexcept {
    try {
        auto& gpu = this_thread().gpu;
        if (!gpu) gpu = cuda::current_device();
    } catch (const Error&) {
        // there is no GPU
    }
}

void refuse(const std::string& problem) {
    fail(ErrorCode::usage, "{}(): {}", std::string_view(this_thread().function), problem);
}

fw_status keep_error() noexcept {
    try {
        throw;
    } catch (const Error& error) {
        return keep(static_cast<fw_status>(error.code()), error.what());
    } catch (const std::bad_alloc&) {
        return keep(FW_ERROR_UNAVAILABLE, "not enough memory");
    } catch (const std::exception& error) {
        return keep(FW_ERROR_INTERNAL, error.what());
    } catch (...) {
        return keep(FW_ERROR_INTERNAL, "unknown exception");
    }
}

}  // namespace framewire::c

using namespace framewire;

const char* fw_version() { return FRAMEWIRE_VERSION; }

const char* fw_last_error() {
    const auto& thread = c::this_thread();
    return thread.without_memory ? thread.without_memory : thread.text.c_str();
}

const char* fw_status_name(fw_status status) {
    switch (status) {
        case FW_OK: return "FW_OK";
        case FW_END: return "FW_END";
        case FW_ERROR_ARGUMENT: return "FW_ERROR_ARGUMENT";
        case FW_ERROR_NO_INPUT: return "FW_ERROR_NO_INPUT";
        case FW_ERROR_SOURCE_LOST: return "FW_ERROR_SOURCE_LOST";
        case FW_ERROR_INTERNAL: return "FW_ERROR_INTERNAL";
        case FW_ERROR_IO: return "FW_ERROR_IO";
        case FW_ERROR_UNAVAILABLE: return "FW_ERROR_UNAVAILABLE";
    }
    return "unknown";
}

int fw_device_count() {
    int count = 0;
    c::guard(__func__, [&] { count = static_cast<int>(cuda::devices().size()); });
    return count;
}

const char* fw_filters_json() {
    const char* text = nullptr;
    c::guard(__func__, [&] {
        static const std::string json = filters_json();
        text = json.c_str();
    });
    return text;
}

fw_status fw_set_log(fw_log_level least, fw_log_sink sink, void* user) {
    return c::guard(__func__, [&] {
        c::check_range<int>(least, FW_LOG_DEBUG, FW_LOG_OFF, "least");
        LogOutput output{.least = static_cast<LogLevel>(least)};
        if (sink)
            output.sink = [sink, user](LogLevel level, std::string_view text) {
                sink(user, static_cast<fw_log_level>(level), std::string(text).c_str());
            };
        set_log_output(std::move(output));
    });
}

static_assert(static_cast<int>(LogLevel::debug) == FW_LOG_DEBUG && static_cast<int>(LogLevel::off) == FW_LOG_OFF);
static_assert(static_cast<int>(ErrorCode::usage) == FW_ERROR_ARGUMENT);
static_assert(static_cast<int>(ErrorCode::no_input) == FW_ERROR_NO_INPUT);
static_assert(static_cast<int>(ErrorCode::source_lost) == FW_ERROR_SOURCE_LOST);
static_assert(static_cast<int>(ErrorCode::internal) == FW_ERROR_INTERNAL);
static_assert(static_cast<int>(ErrorCode::io) == FW_ERROR_IO);
static_assert(static_cast<int>(ErrorCode::config) == FW_ERROR_UNAVAILABLE);
