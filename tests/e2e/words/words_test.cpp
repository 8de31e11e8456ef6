// Tests messages about wrong arguments, and aids for correct ones: help, the manual page and completions.
#include "e2e/places.hpp"
#include "e2e/program.hpp"

#include "framewire/media/sources.hpp"
#include "framewire/plan/chain.hpp"

#include "kit/needs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace framewire::e2e {
namespace {

std::string refusal(std::vector<std::string> arguments) {
    const auto result = run_framewire(std::move(arguments));
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err.rfind("framewire: error: ", 0), 0u) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    return result.err;
}

void expect_in(const std::string& text, const std::string& words) {
    EXPECT_NE(text.find(words), std::string::npos) << words << "\nis missing from:\n" << text;
}

TEST(Words, SuggestsTheClosestArgument) {
    expect_in(refusal({"rnu", "-i", "synth"}), "unknown subcommand 'rnu'; subcommands: run, explain, serve");
    expect_in(refusal({"rnu", "-i", "synth"}), "did you mean 'run'?");
    expect_in(refusal({"detekt"}), "did you mean 'detect'?");
    expect_in(refusal({"run", "--inptu", "synth", "-o", "x.mkv"}),
              "run has no option '--inptu'; 'framewire run --help' lists them; did you mean '--input'?");
    expect_in(refusal({"run", "--fliters=gray"}), "run has no option '--fliters'");
    expect_in(refusal({"run", "--fliters=gray"}), "did you mean '--filters'?");
    expect_in(refusal({"detect", "-i", "synth", "--min-aera", "3"}),
              "did you mean '--min-area'?");  // the option belongs to a group
    expect_in(refusal({"run", "-threads", "3"}), "did you mean '--threads'?");
    expect_in(refusal({"run", "-i", "synth", "-o", "x.mkv", "--listen", "a"}),
              "run has no option '--listen'; serve has it");
    expect_in(refusal({"-i", "synth"}),
              "framewire has no option '-i'; run, explain, serve, detect, find and hog have it");
    EXPECT_EQ(refusal({"run", "--qqq"}).find("did you mean"), std::string::npos);
    expect_in(refusal({"run", "-i", "synth", "-o", "x.mkv", "foo"}), "run does not accept the argument 'foo'");
    expect_in(refusal({"run", "-i", "synth", "-o", "x.mkv", "--backend", "cpuu"}),
              "--backend: 'cpuu' is not allowed; allowed: one of auto, cpu, cuda; did you mean 'cpu'?");
    expect_in(refusal({"detect", "-i", "synth", "--morph", "opne"}), "did you mean 'open'?");
    expect_in(refusal({"help", "rnu"}), "did you mean 'run'?");
}

// Users of FFmpeg may type FFmpeg's names.
TEST(Words, SuggestsOurNamesForFfmpegNames) {
    const auto of_option = [](const std::string& option) {
        return refusal({"run", "-i", "synth", option, "x", "-o", "x.mkv"});
    };
    expect_in(of_option("-vf"), "did you mean '--filters'?");
    expect_in(of_option("-ss"), "did you mean '--start'?");
    expect_in(of_option("-t"), "did you mean '--duration'?");
    expect_in(of_option("-c:v"), "did you mean '-o out.mp4:codec=libx264:crf=20");
    for (const auto& [theirs, ours] : {std::pair{"vflip", "flip=vertical"},
                                       {"transpose=1", "rotate=90"},
                                       {"gblur=3", "gaussian"},
                                       {"yadif", "deinterlace"}}) {
        const auto result = run_framewire({"run", "-i", "synth", "-f", theirs, "-o", "x.mkv"});
        EXPECT_EQ(result.code, 2);
        expect_in(result.err, std::string("did you mean '") + ours + "'?");
    }
}

TEST(Words, QuotesInvalidNumbers) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
        {{"--frames", "ten"}, "--frames: 'ten' is not a whole number; allowed: a whole number of at least 1"},
        {{"--frames", "0"}, "--frames: '0' is out of range; allowed: a whole number of at least 1"},
        {{"--frames", "99999999999999999999"}, "--frames: '99999999999999999999' is out of range"},
        {{"--frames="}, "--frames needs N"},
        {{"--threads", "5000"}, "--threads: '5000' is out of range; allowed: a whole number from 0 to 1024"},
        {{"--threads", "1.5"}, "--threads: '1.5' is not a whole number"},
        {{"--threads", "0x10"}, "--threads: '0x10' is not a whole number"},
        {{"--threads", "1", "--threads", "2"}, "--threads is given 2 times; it may be given only once"},
        {{"--threads"}, "--threads needs N; see 'framewire run --help'"}};
    for (const auto& [arguments, words] : cases) {
        std::vector<std::string> all{"run", "-i", "synth", "-o", "x.mkv"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        expect_in(refusal(all), words);
    }
    expect_in(refusal({"view", "tcp://127.0.0.1:1", "--max-pixels", "many"}),
              "--max-pixels: 'many' is not a whole number");
    expect_in(refusal({"hog", "-i", "synth", "--streams", "x"}), "--streams: 'x' is not a whole number");
    // Numbers are decimal, without C's octal prefix.
    const auto ten = run_framewire({"run", "-i", "synth:size=16x16:frames=12", "-o", "-", "--frames", "010"}).out;
    EXPECT_EQ(ten, run_framewire({"run", "-i", "synth:size=16x16:frames=12", "-o", "-", "--frames", "10"}).out);
}

TEST(Words, HelpOptionAndSubcommandPrintTheSame) {
    EXPECT_EQ(run_framewire({"help"}).out, run_framewire({"--help"}).out);
    for (const auto* subcommand : {"run", "serve", "view", "detect", "hog", "filters", "sources", "devices", "help"}) {
        const auto help = run_framewire({"help", subcommand});
        EXPECT_EQ(help.code, 0) << help.err;
        EXPECT_EQ(help.out, run_framewire({subcommand, "--help"}).out);
        expect_in(help.out, std::string("framewire ") + subcommand);
    }
    EXPECT_EQ(run_framewire({"run", "--frames", "ten", "--help"}).code, 0);
}

TEST(Words, VersionListsTheComponents) {
    const auto version = run_framewire({"--version"}).out;
    EXPECT_EQ(version.rfind("framewire ", 0), 0u) << version;
    for (const auto* words : {"\nCUDA: ", "\nFFmpeg: ", "libavformat", "\ninstruction sets: ", "this CPU runs "})
        expect_in(version, words);
}

// Information that would be the same in every run is only printed on request.
TEST(Words, LogsTheBackendOnlyAtDebugLevel) {
    const TemporaryFolder folder;
    const std::vector<std::string> run{"run", "-i", "synth:size=64x48:frames=2", "-o", "-"};
    auto quiet = run_framewire(run);
    EXPECT_EQ(quiet.code, 0);
    EXPECT_EQ(quiet.err.find("backend"), std::string::npos) << quiet.err;
    EXPECT_EQ(std::count(quiet.err.begin(), quiet.err.end(), '\n'), 1) << quiet.err;
    auto all = run;
    all.insert(all.end(), {"--log-level", "debug"});
    expect_in(run_framewire(all).err, "debug: backend: ");
}

// `script` gives the program a terminal.
TEST(Words, RefusesToWriteVideoToATerminal) {
    const TemporaryFolder folder;
    const auto on_terminal = [&](const std::string& arguments) {
        return Program({"script", "-qec", std::string(program_path) + " " + arguments, folder / "typescript"}).wait();
    };
    FRAMEWIRE_NEEDS(Program({"script", "--version"}).wait().code == 0, "script (Debian's bsdutils)");
    for (const auto* arguments :
         {"run -i synth:size=64x48:frames=2 -o -", "detect -i synth:frames=2 -o x.jsonl --annotate -",
          "hog -i synth:size=64x48:frames=2 -o -"}) {
        const auto refused = on_terminal(arguments);
        EXPECT_EQ(refused.code, 2) << arguments;
        expect_in(refused.out, "which is a terminal");
        EXPECT_EQ(refused.out.find("YUV4MPEG"), std::string::npos);
    }
    const auto words = on_terminal("detect -i synth:size=64x48:frames=2 -o -");
    EXPECT_EQ(words.code, 0) << words.out;
    expect_in(words.out, "\"frame\":");
}

std::string written_to(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
    std::ofstream(folder / name, std::ios::binary) << text;
    return folder / name;
}

TEST(ManPage, IsCompleteAndRendersWithoutWarnings) {
    const auto page = run_framewire({"help", "--man"});
    EXPECT_EQ(page.code, 0) << page.err;
    const TemporaryFolder folder;
    const auto path = written_to(folder, "framewire.1", page.out);
    FRAMEWIRE_NEEDS(Program({"groff", "--version"}).wait().code == 0, "groff (Debian's groff-base)");
    const auto rendered = Program({"groff", "-man", "-ww", "-Tutf8", "-P-cbou", path}).wait();
    EXPECT_EQ(rendered.code, 0);
    EXPECT_EQ(rendered.err, "");
    for (const auto& filter : filter_registry()) expect_in(rendered.out, std::string(filter.name));
    for (const auto& source : source_registry()) expect_in(rendered.out, std::string(source.form).substr(0, 8));
    for (const auto* words : {"framewire run -i SRC... -o DST|FOLDER/ [OPTIONS]", "--background", "--log-level",
                              "128+N", "SEE ALSO", "'framewire filters' lists them"})
        expect_in(rendered.out, words);
}

TEST(ManPage, PassesLint) {
    FRAMEWIRE_NEEDS(Program({"which", "mandoc"}).wait().code == 0, "mandoc");
    const TemporaryFolder folder;
    const auto path = written_to(folder, "framewire.1", run_framewire({"help", "--man"}).out);
    const auto lint = Program({"mandoc", "-T", "lint", "-W", "warning", path}).wait();
    EXPECT_EQ(lint.out, "");
    EXPECT_EQ(lint.code, 0);
}

// Returns the lines of a text, sorted: the completions that a shell offers.
std::vector<std::string> sorted_lines(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        if (!line.empty()) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    return lines;
}

bool offers(const std::vector<std::string>& lines, const std::string& word) {
    return std::find(lines.begin(), lines.end(), word) != lines.end();
}

// Completes `line` in bash, which splits words as readline does: at blanks, and at '=' and ':', which form words of
// their own.
class Bash {
public:
    Bash() : script_(written_to(folder_, "completion", run_framewire({"help", "--completion", "bash"}).out)) {}

    std::vector<std::string> offered(const std::string& line, const std::vector<std::string>& words) const {
        std::string command = "set -f; cd '" + folder_.path().string() + "'; source '" + script_ + "'; COMP_WORDS=(";
        for (const auto& word : words) command += " '" + word + "'";
        command += "); COMP_CWORD=" + std::to_string(words.size() - 1) + "; COMP_LINE='" + line +
                   "'; COMP_POINT=" + std::to_string(line.size()) + "; _framewire; printf '%s\\n' \"${COMPREPLY[@]}\"";
        const auto result = Program({"bash", "--norc", "-c", command}).wait();
        EXPECT_EQ(result.err, "") << line;
        return sorted_lines(result.out);
    }
    // Completes a line without '=', ':' and quotes.
    std::vector<std::string> offered(const std::string& line) const {
        std::vector<std::string> words;
        std::istringstream stream(line);
        for (std::string word; stream >> word;) words.push_back(word);
        if (line.ends_with(' ')) words.emplace_back();
        return offered(line, words);
    }
    const TemporaryFolder& folder() const { return folder_; }

private:
    TemporaryFolder folder_;
    std::string script_;
};

using Lines = std::vector<std::string>;

TEST(BashCompletion, CompletesSubcommandsAndOptions) {
    const Bash bash;
    EXPECT_EQ(bash.offered("framewire "), (Lines{"bench", "check", "detect", "devices", "explain", "filters", "find",
                                                 "help", "hog", "run", "serve", "show", "sources", "view"}));
    EXPECT_EQ(bash.offered("framewire de"), (Lines{"detect", "devices"}));
    EXPECT_EQ(bash.offered("framewire --v"), (Lines{"--version"}));
    EXPECT_EQ(bash.offered("framewire detect --m"),
              (Lines{"--mask", "--matrix", "--max-area", "--max-pixels", "--method", "--min-area", "--morph"}));
    EXPECT_EQ(bash.offered("framewire run --listen"), Lines{});
    EXPECT_TRUE(offers(bash.offered("framewire run -i a -"), "--output"));
    EXPECT_EQ(bash.offered("framewire help se"), (Lines{"serve"}));
    EXPECT_EQ(bash.offered("framewire filters ga"), (Lines{"gaussian"}));
    EXPECT_EQ(bash.offered("framewire sources sy"), (Lines{"synth"}));
}

TEST(BashCompletion, CompletesValues) {
    const Bash bash;
    EXPECT_EQ(bash.offered("framewire run --backend "), (Lines{"auto", "cpu", "cuda"}));
    EXPECT_EQ(bash.offered("framewire run --backend=cu", {"framewire", "run", "--backend", "=", "cu"}),
              (Lines{"cuda"}));
    EXPECT_EQ(bash.offered("framewire run --backend=", {"framewire", "run", "--backend", "="}),
              (Lines{"auto", "cpu", "cuda"}));
    EXPECT_EQ(bash.offered("framewire detect --morph clo"), (Lines{"close", "close-open"}));
    EXPECT_EQ(bash.offered("framewire serve --rate "), (Lines{"max", "own"}));
    EXPECT_EQ(bash.offered("framewire run --frames "), Lines{});
}

TEST(BashCompletion, CompletesFiles) {
    const Bash bash;
    written_to(bash.folder(), "clip.mp4", "");
    written_to(bash.folder(), "a clip.mp4", "");
    std::filesystem::create_directory(bash.folder() / "clips");
    EXPECT_EQ(bash.offered("framewire run -o cl"), (Lines{"clip.mp4", "clips"}));
    EXPECT_EQ(bash.offered("framewire run --output=cl", {"framewire", "run", "--output", "=", "cl"}),
              (Lines{"clip.mp4", "clips"}));
    EXPECT_EQ(bash.offered("framewire run -i a"), (Lines{"a clip.mp4"}));
    EXPECT_EQ(bash.offered("framewire hog --train cl"), (Lines{"clips"}));
    EXPECT_EQ(bash.offered("framewire hog --train clips cl"), (Lines{"clips"}));
    EXPECT_FALSE(offers(bash.offered("framewire hog --train clips clips "), "clips"));
}

TEST(BashCompletion, CompletesFiltersAndSources) {
    const Bash bash;
    EXPECT_TRUE(offers(bash.offered("framewire run -f "), "gaussian"));
    EXPECT_EQ(bash.offered("framewire run -f gray,ga"), (Lines{"gray,gaussian"}));
    EXPECT_EQ(bash.offered("framewire run -f gray=", {"framewire", "run", "-f", "gray", "="}),
              (Lines{"average", "channels=", "method=", "weighted"}));
    EXPECT_EQ(
        bash.offered("framewire run -f gray=method=av", {"framewire", "run", "-f", "gray", "=", "method", "=", "av"}),
        (Lines{"average"}));
    EXPECT_EQ(bash.offered("framewire run -f blur,gray=average:ch",
                           {"framewire", "run", "-f", "blur,gray", "=", "average", ":", "ch"}),
              (Lines{"channels="}));
    // Within quotes, bash sees one word.
    EXPECT_EQ(bash.offered("framewire run -f \"gray=method=av", {"framewire", "run", "-f", "\"gray=method=av"}),
              (Lines{"gray=method=average"}));
    EXPECT_TRUE(offers(bash.offered("framewire run -i "), "synth:"));
    EXPECT_EQ(bash.offered("framewire run -i sy"), (Lines{"synth:"}));
    EXPECT_EQ(bash.offered("framewire run -i synth:se", {"framewire", "run", "-i", "synth", ":", "se"}),
              (Lines{"seed="}));
    EXPECT_EQ(bash.offered("framewire run -i v4l2:/dev/video0:format=",
                           {"framewire", "run", "-i", "v4l2", ":", "/dev/video0", ":", "format", "="}),
              (Lines{"mjpeg", "nv12", "yuyv"}));
}

TEST(FishCompletion, MatchesBash) {
    FRAMEWIRE_NEEDS(Program({"which", "fish"}).wait().code == 0, "fish");
    const TemporaryFolder folder;
    const auto script = written_to(folder, "framewire.fish", run_framewire({"help", "--completion", "fish"}).out);
    const auto offered = [&](const std::string& line) {
        const auto result =
            Program({"env", "--chdir=" + folder.path().string(), "HOME=" + folder.path().string(), "fish",
                     "--no-config", "-c",
                     "source " + script + "; complete -C '" + line + "' | string replace -r '\\t.*' ''"})
                .wait();
        EXPECT_EQ(result.err, "") << line;
        return sorted_lines(result.out);
    };
    EXPECT_EQ(offered("framewire de"), (Lines{"detect", "devices"}));
    EXPECT_EQ(offered("framewire run --backend "), (Lines{"auto", "cpu", "cuda"}));
    EXPECT_EQ(offered("framewire detect --mas"), (Lines{"--mask"}));
    EXPECT_EQ(offered("framewire run -f gray,ga"), (Lines{"gray,gaussian"}));
    EXPECT_EQ(offered("framewire run -f gray=method=a"), (Lines{"gray=method=average"}));
    EXPECT_EQ(offered("framewire run -i synth:se"), (Lines{"synth:seed="}));
    EXPECT_EQ(offered("framewire help ser"), (Lines{"serve"}));
    EXPECT_EQ(offered("framewire run -o " + folder.path().string() + "/fr"), (Lines{folder / "framewire.fish"}));
}

// zsh only completes in a terminal: zpty provides one, and the test captures the completions where zsh adds them.
TEST(ZshCompletion, MatchesBash) {
    FRAMEWIRE_NEEDS(Program({"which", "zsh"}).wait().code == 0, "zsh");
    const TemporaryFolder folder;
    written_to(folder, "_framewire", run_framewire({"help", "--completion", "zsh"}).out);
    written_to(folder, "inner.zsh",
               "PROMPT=; autoload -Uz compinit; fpath=(" + folder.path().string() + " $fpath); compinit -u -d " +
                   (folder / "dump") +
                   "\n"
                   "bindkey '^I' complete-word; zstyle ':completion:*' list-grouped false\n"
                   "null-line() { BUFFER=; }\nzle -N null-line; bindkey '^M' null-line\n"
                   "compadd() {\n"
                   "  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd \"$@\"; return $?; fi\n"
                   "  typeset -a __hits; builtin compadd -A __hits \"$@\"; builtin compadd \"$@\"\n"
                   "  local status_=$?; local hit; for hit in $__hits; do print -r -- \"OFFER $hit\" >>" +
                   (folder / "offers") + "; done; return $status_\n}\n");
    // Polls until nothing more has arrived for a quarter of a second.
    const auto until_all_is_offered = "last=0; for try in {1..80}; do zselect -t 25; size=$(wc -c <" +
                                      (folder / "offers") +
                                      "); (( size > 0 && size == last )) && break; last=$size; done";
    const auto offered = [&](const std::string& line) {
        std::filesystem::remove(folder / "offers");
        written_to(folder, "offers", "");
        // The terminal echoes the typed text, in lines of its width, so the typed text must differ from the text for
        // which the script waits.
        const auto script = "zmodload zsh/zpty zsh/zselect; zpty z zsh -f -i; zpty -w z 'source " +
                            (folder / "inner.zsh") +
                            "; print RE\\ADY'; "
                            "zpty -r z x '*READY*'; zpty -w -n z '" +
                            line + "'$'\\t'; " + until_all_is_offered + "; zpty -d z";
        const auto result = Program({"zsh", "-f", "-c", script}).wait(std::chrono::seconds(60));
        EXPECT_EQ(result.code, 0) << result.err;
        auto lines = sorted_lines(contents(folder / "offers"));
        for (auto& text : lines) text.erase(0, 6);
        lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
        return lines;
    };
    EXPECT_EQ(offered("framewire de"), (Lines{"detect", "devices"}));
    EXPECT_EQ(offered("framewire run --backend "), (Lines{"auto", "cpu", "cuda"}));
    EXPECT_EQ(offered("framewire run -f gray,ga"), (Lines{"gaussian"}));
    EXPECT_EQ(offered("framewire run -f gray=method=a"), (Lines{"average"}));
    EXPECT_EQ(offered("framewire run -i synth:se"), (Lines{"seed"}));
}

}  // namespace
}  // namespace framewire::e2e
