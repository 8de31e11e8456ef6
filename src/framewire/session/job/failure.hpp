#pragma once

#include "framewire/pipeline/source.hpp"

#include <exception>

namespace framewire::session {

/// Keeps the first of several failures, so that what can still be completed after it is.
class FirstFailure {
public:
    template <class Step>
    void attempt(Step&& step) {
        try {
            step();
        } catch (...) {
            if (!failure_) failure_ = std::current_exception();
        }
    }
    /// Null where there was none.
    const std::exception_ptr& what() const { return failure_; }
    explicit operator bool() const { return failure_ != nullptr; }
    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    std::exception_ptr failure_;
};

/// How the outputs of a run end. A stop is the end of a live source, which has no other, and breaks anything else off.
inline Ending ending_of(const FirstFailure& failure, bool stopped, bool live) {
    return failure || (stopped && !live) ? Ending::broken_off : Ending::complete;
}

}  // namespace framewire::session
