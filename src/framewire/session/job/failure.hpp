#pragma once

#include "framewire/pipeline/source.hpp"

#include <exception>

namespace framewire::session {

/// Runs several attempts and keeps the first exception, so that later outputs are still completed after an earlier one
/// failed. For one thread.
class FirstFailure {
public:
    /// Calls `step`. If it throws and no attempt failed before, keeps the exception; later exceptions are dropped.
    template <class Step>
    void attempt(Step&& step) {
        try {
            step();
        } catch (...) {
            if (!failure_) failure_ = std::current_exception();
        }
    }
    /// Returns the first exception; null if no attempt failed.
    const std::exception_ptr& what() const { return failure_; }
    /// True if an attempt failed.
    explicit operator bool() const { return failure_ != nullptr; }
    /// Throws the first exception again, if there is one.
    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    std::exception_ptr failure_;
};

/// Returns how the outputs of a run end. A requested stop completes a live source, which has no other end, and
/// truncates any other one.
inline Ending ending_of(const FirstFailure& failure, bool stopped, bool live) {
    return failure || (stopped && !live) ? Ending::broken_off : Ending::complete;
}

}  // namespace framewire::session
