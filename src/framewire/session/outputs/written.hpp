#pragma once

namespace framewire::session {

/// Whether what an output has is worth its name: something was written to it, and nothing failed.
class Written {
public:
    /// Does what writes.
    template <class Write>
    void attempt(Write&& write) {
        failed_ = true;  // until it has not
        write();
        failed_ = false;
        any_ = true;
    }
    bool whole() const { return any_ && !failed_; }

private:
    bool any_ = false, failed_ = false;
};

}  // namespace framewire::session
