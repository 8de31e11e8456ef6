#pragma once

namespace framewire::session {

/// Tracks whether an output is worth completing: something was written to it, and no write failed.
class Written {
public:
    /// Calls `write`; an exception marks the output as failed.
    template <class Write>
    void attempt(Write&& write) {
        // until write() has returned
        failed_ = true;
        write();
        failed_ = false;
        any_ = true;
    }
    /// Returns true if something was written and nothing failed.
    bool whole() const { return any_ && !failed_; }

private:
    bool any_ = false, failed_ = false;
};

}  // namespace framewire::session
