#pragma once

#include "framewire/media/files/output_file.hpp"
#include "framewire/session/outputs/written.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace framewire::session {

/// A file of text, a piece for each frame, which stays readable up to the last piece whatever becomes of the run.
class RecordFile {
public:
    /// Throws Error{io}.
    RecordFile(const std::string& path, OutputFileOptions options) : file_(path, std::move(options)) {}

    /// What comes before the first frame. Throws Error{io}, as the others do.
    void begin(std::string_view text) { put(text); }
    void write(std::string_view frame) {
        written_.attempt([&] { put(frame); });
    }
    /// Lets the file appear, with `end` behind the last frame, unless it has none or is not whole.
    void finish(Ending ending, std::string_view end = {}) {
        if (!written_.whole()) return;
        put(end);
        file_.finish(ending);
    }

    std::int64_t bytes() const { return file_.bytes(); }

private:
    void put(std::string_view text) {
        file_.write(text.data(), text.size());
        if (!text.empty()) file_.mark_whole();
    }

    OutputFile file_;
    Written written_;
};

}  // namespace framewire::session
