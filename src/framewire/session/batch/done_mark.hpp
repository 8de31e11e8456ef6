#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace framewire::session {

/// What a piece of work is made with, of and into.
struct Making {
    std::string version{};               ///< of the program and of what it reads and writes with
    std::vector<std::string> options{};  ///< as given, but for those that change no output
    std::vector<std::string> inputs{};   ///< paths of files that are read
    std::vector<std::string> outputs{};  ///< paths of files that are written
};

/// How a piece of work is found.
struct PieceState {
    enum class Is {
        missing,     ///< nothing is there of it
        unfinished,  ///< a run that made it was killed
        changed,     ///< it is done, but with something else
        done,        ///< the same would come out again
        in_the_way   ///< an output is there that no run of many files made, or that was changed since
    };
    Is is = Is::missing;
    std::string what{};  ///< is `changed`: what changed; is `in_the_way`: the output
};

/// The marks of a piece of work, in the folder `.framewire` of the output folder. NAME.begun is there, and locked,
/// while it is made; NAME.done is written last, once all outputs are on the disk, and says what made them: a line of
/// JSON for the version, the options, each input with its size and time, and each output with its size. So outputs
/// without either were made by somebody else.
class PieceMarks {
public:
    /// `name` is the piece's first output, as seen from the folder.
    PieceMarks(const std::string& folder, const std::string& name);

    /// Compares with what is there now. Throws Error{no_input} where an input cannot be found.
    PieceState state(const Making& making) const;
    /// Whether a run makes it, or was killed while it did.
    bool begun() const;

private:
    friend class PieceInTheMaking;
    std::string begun_, done_;
};

/// A piece that is being made: by one run at a time.
class PieceInTheMaking {
public:
    /// Puts NAME.begun there. Throws Error{io}, also where another run makes the piece.
    explicit PieceInTheMaking(PieceMarks marks);
    /// Takes NAME.begun away.
    ~PieceInTheMaking();
    PieceInTheMaking(const PieceInTheMaking&) = delete;
    PieceInTheMaking& operator=(const PieceInTheMaking&) = delete;

    /// What a run reads and with what, before it reads: inputs that change while they are read are noticed next time.
    void begin(const Making& making);
    /// Brings the outputs to the disk and then writes NAME.done. Throws Error{io}.
    void finish(const Making& making);

private:
    PieceMarks marks_;
    int lock_ = -1;
    std::string made_;  // the mark but for its outputs
};

}  // namespace framewire::session
