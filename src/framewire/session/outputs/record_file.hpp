#pragma once

#include "framewire/media/files/output_file.hpp"
#include "framewire/session/outputs/written.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace framewire::session {

/// A text file with one record per frame. If the run is interrupted, the file stays readable up to the last complete
/// record.
class RecordFile {
public:
    /// Opens the file. Throws Error{io}, as all functions do.
    RecordFile(const std::string& path, OutputFileOptions options) : file_(path, std::move(options)) {}

    /// Writes what precedes the first frame.
    void begin(std::string_view text) { put(text); }
    /// Writes the record of one frame.
    void write(std::string_view frame) {
        written_.attempt([&] { put(frame); });
    }
    /// Completes the file with `end` after the last frame. The file does not appear under its name if it has no frame
    /// or if writing failed.
    void finish(Ending ending, std::string_view end = {}) {
        if (!written_.whole()) return;
        put(end);
        file_.finish(ending);
    }

    /// Bytes written so far.
    std::int64_t bytes() const { return file_.bytes(); }

private:
    // Marks each complete record, so that a truncated file ends with one.
    void put(std::string_view text) {
        file_.write(text.data(), text.size());
        if (!text.empty()) file_.mark_whole();
    }

    OutputFile file_;
    Written written_;
};

}  // namespace framewire::session
