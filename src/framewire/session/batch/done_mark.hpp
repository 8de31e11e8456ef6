#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace framewire::session {

/// Everything that determines the result of a piece of work.
struct Making {
    /// Version of the program and of the libraries that read and write.
    std::string version{};
    /// Options as given, without those that do not affect outputs.
    std::vector<std::string> options{};
    /// Paths of the input files.
    std::vector<std::string> inputs{};
    /// Paths of the output files.
    std::vector<std::string> outputs{};
};

/// State of a piece of work before a run.
struct PieceState {
    /// Result of comparing the markers with the present files.
    enum class Is {
        /// Its outputs do not exist.
        missing,
        /// A run that was making it was killed.
        unfinished,
        /// It is done, but with other inputs, options or version.
        changed,
        /// A new run would make the same.
        done,
        /// An output exists that no batch run made, or that was changed since.
        in_the_way
    };
    Is is = Is::missing;
    /// For `changed`: what changed. For `in_the_way`: the output.
    std::string what{};
};

/// Done markers of a piece of work, in the folder `.framewire` of the output folder. NAME.begun exists and is locked
/// while the piece is made. NAME.done is written last, after all outputs are synced to disk, and describes what made
/// them, one JSON object per line: version, options, each input with size and modification time, each output with size.
/// Outputs without either marker were made by something else.
class PieceMarks {
public:
    /// `name` is the piece's first output, relative to the folder.
    PieceMarks(const std::string& folder, const std::string& name);

    /// Compares the markers with the files that exist now. Throws Error{no_input} if an input does not exist.
    PieceState state(const Making& making) const;
    /// Returns true if a run is making the piece, or was killed while making it.
    bool begun() const;

private:
    friend class PieceInTheMaking;
    std::string begun_, done_;
};

/// Holds the lock of a piece while it is made, so that only one run makes it at a time.
class PieceInTheMaking {
public:
    /// Creates and locks NAME.begun. Throws Error{io}, also if another run holds the lock.
    explicit PieceInTheMaking(PieceMarks marks);
    /// Removes NAME.begun.
    ~PieceInTheMaking();
    PieceInTheMaking(const PieceInTheMaking&) = delete;
    PieceInTheMaking& operator=(const PieceInTheMaking&) = delete;

    /// Records inputs and options before the work reads them. An input that changes meanwhile thus no longer matches
    /// the marker at the next run.
    void begin(const Making& making);
    /// Syncs the outputs to disk and then writes NAME.done. Throws Error{io}.
    void finish(const Making& making);

private:
    PieceMarks marks_;
    int lock_ = -1;
    // contents of the marker without the outputs
    std::string made_;
};

}  // namespace framewire::session
