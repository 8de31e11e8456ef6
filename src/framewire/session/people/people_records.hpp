#pragma once

#include "framewire/core/time/frame_time.hpp"
#include "framewire/session/outputs/record_file.hpp"
#include "framewire/session/people/found_people.hpp"
#include "framewire/session/people/people_options.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace framewire::session {

/// File of people's records, with totals.
class PeopleRecords {
public:
    /// Opens the file and keeps a reference to `result`, whose totals it updates. Throws Error{io}.
    PeopleRecords(const std::string& path, OutputFileOptions options, PeopleResult& result)
        : file_(path, std::move(options)), result_(&result) {}

    /// Writes the record of one frame. `source` is the image's name, if frames are images. Throws Error{io}.
    void write(const FoundPeople& people, const Shape& frame, const FrameTime& time, std::string_view source = {});
    /// Completes the file, see RecordFile::finish().
    void finish(Ending ending) { file_.finish(ending); }

    /// Bytes written so far.
    std::int64_t bytes() const { return file_.bytes(); }
    /// Adds the total to the description of the run.
    void describe(RunDescription& run) const;

private:
    RecordFile file_;
    PeopleResult* result_;
};

}  // namespace framewire::session
