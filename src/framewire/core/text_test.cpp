#include "framewire/core/text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace framewire {
namespace {

TEST(Credentials, HidesUserNamesAndPasswords) {
    const std::pair<const char*, const char*> cases[] = {
        {"rtsp://user:password@host/x", "rtsp://***@host/x"},
        {"RTSP://user:password@host", "RTSP://***@host"},
        {"rtsp://user@host:554/x", "rtsp://***@host:554/x"},
        {"rtsp://:password@host/x", "rtsp://***@host/x"},
        {"http://user:p%40ss@[fe80::1]:8080/a?b#c", "http://***@[fe80::1]:8080/a?b#c"},
        {"rtsp://user:p@ss@host/x", "rtsp://***@host/x"},
        {"rtsp://user:p@ss:w@rd@host:1/x@y", "rtsp://***@host:1/x@y"},
        {"rtsp://user:pass/word@host/x", "rtsp://***@host/x"},
        {"rtsp://user:pass?word@host/x", "rtsp://***@host/x"},
        {"rtsp://user:pass#word@host/x", "rtsp://***@host/x"},
        {"rtsp://user:pass'\"word@host/x", "rtsp://***@host/x"},
        {"rtsp://user:pass\\word@host/x", "rtsp://***@host/x"},
        {"lavfi:movie='http\\://user\\:password@host\\:1/x'", "lavfi:movie='http\\://***@host\\:1/x'"},
        {"srt+x.y-z://u:p@h", "srt+x.y-z://***@h"},
        {"cannot open rtsp://u:p@h/x: refused; see http://v:q@i/",
         "cannot open rtsp://***@h/x: refused; see http://***@i/"},
        {"[tee] 'rtsp://u:p@h/x|rtsp://v:q@i/y'", "[tee] 'rtsp://***@h/x|rtsp://***@i/y'"},
        {"http://u:p@h/?from=rtsp://v:q@i/y", "http://***@h/?from=rtsp://***@i/y"},
        {"http://u:p@h\nrtsp://v:q@i", "http://***@h\nrtsp://***@i"},
    };
    for (const auto& [text, shown] : cases) {
        EXPECT_EQ(without_credentials(text), shown);
        EXPECT_EQ(without_credentials(shown), shown);
    }
}

TEST(Credentials, HidesPasswordsWithSpaces) {
    const std::pair<const char*, const char*> cases[] = {
        {"rtsp://user:pass word@host/x", "rtsp://***@host/x"},
        {"rtsp://user:p@ss word@host/x", "rtsp://***@host/x"},
        {"rtsp://user:12 34@host:554/x", "rtsp://***@host:554/x"},
        {"rtsp://user:a b c@[::1]/x", "rtsp://***@[::1]/x"},
        {"rtsp://my user:pass@host", "rtsp://***@host"},
        {"mqtt://user:pa ss@broker and ws://v:q r@h/y", "mqtt://***@broker and ws://***@h/y"},
        {"cannot open rtsp://u:p q@h/x: refused", "cannot open rtsp://***@h/x: refused"},
    };
    for (const auto& [text, shown] : cases) {
        EXPECT_EQ(without_credentials(text), shown);
        EXPECT_EQ(without_credentials(shown), shown);
        EXPECT_EQ(address_without_credentials(shown), shown);
    }
    for (const auto* address :
         {"rtsp://user:pass word@host/x", "rtsp://user:a b c@host/x", "rtsp://my user:p@ss@host/x"})
        EXPECT_EQ(address_without_credentials(address), "rtsp://***@host/x");
    EXPECT_EQ(address_without_credentials("http://h/x?token=a b&c=d"), "http://h/x?token=***&c=d");
    EXPECT_EQ(address_without_credentials("srt://h:1?passphrase=a b c"), "srt://h:1?passphrase=***");
    EXPECT_EQ(address_without_credentials("rtsp://u:p/q r@h/x"), "rtsp://***@h/x");
    EXPECT_EQ(address_without_credentials("rtsp://u:{file:/run/door}@h/x"), "rtsp://***@h/x");
    EXPECT_EQ(address_without_credentials("clips/a b@c.mp4"), "clips/a b@c.mp4");
}

TEST(Credentials, HidesSecretsInQueries) {
    const std::pair<const char*, const char*> cases[] = {
        {"http://h/x?token=abc", "http://h/x?token=***"},
        {"http://h/x?a=1&Access_Token=abc&b=2#top", "http://h/x?a=1&Access_Token=***&b=2#top"},
        {"http://h/x?api_key=a;b#c&d=e", "http://h/x?api_key=***&d=e"},
        {"http://h/x;password=abc?y=1", "http://h/x;password=***"},
        {"http://h/x#access_token=abc", "http://h/x#access_token=***"},
        {"http://h/cgi?loginuse=me&loginpas=abc", "http://h/cgi?loginuse=me&loginpas=***"},
        {"http://h/cgi?usr=me&pwd=", "http://h/cgi?usr=me&pwd=***"},
        {"srt://h:1?passphrase=abc&latency=20", "srt://h:1?passphrase=***&latency=20"},
        {"srt://h:1?streamid=publish:x:me:abc", "srt://h:1?streamid=***"},
        {"https://h/x?X-Amz-Credential=a&X-Amz-Date=b&X-Amz-Signature=c",
         "https://h/x?X-Amz-Credential=***&X-Amz-Date=b&X-Amz-Signature=***"},
        {"http://u:p@h?token=abc", "http://***@h?token=***"},
        {"http://h/?token=a=b==", "http://h/?token=***"},
        {"http://h/?token=abc and more", "http://h/?token=*** and more"},
        {"http://h/?password=p@ss", "http://h/?password=***"},
        {"cannot open http://h/?token=abc: refused", "cannot open http://h/?token=***: refused"},
    };
    for (const auto& [text, shown] : cases) {
        EXPECT_EQ(without_credentials(text), shown);
        EXPECT_EQ(without_credentials(shown), shown);
    }
}

TEST(Credentials, LeavesOtherTextUnchanged) {
    for (const auto* text :
         {"", "clip.mp4", "a@b.mp4", "user:password@host", "/a/b@c?token=1.mp4", "rtsp://host/x", "rtsp://host:554/x@y",
          "http://[::1]:80/a@b", "http://[::1]/a@b", "udp://@239.0.0.1:1234", "udp://@:1234",
          "tcp://127.0.0.1:7878: closed", "http://h/x?size=3&mode=fit", "http://h/x?token", "://", "a://",
          "file:///a/b@c", "http://h/?=x&&a", "[rtsp @ 0x55] rtsp://h:554: [tcp @ 0x66]"})
        EXPECT_EQ(without_credentials(text), text);
}

const std::vector<std::string_view> names = {"gray", "gaussian", "median", "mean", "mosaic"};

TEST(NearestName, HasTheFewestEdits) {
    EXPECT_EQ(nearest_name("grey", names), "gray");
    EXPECT_EQ(nearest_name("grya", names), "gray");
    EXPECT_EQ(nearest_name("gauss", names), "gaussian");
    EXPECT_EQ(nearest_name("medan", names), "median");
    EXPECT_EQ(nearest_name("mea", names), "mean");
    EXPECT_EQ(nearest_name("gray", names), "gray");
    // Two swapped letters count as one mistake.
    const std::vector<std::string_view> short_names = {"raw", "run"};
    EXPECT_EQ(nearest_name("rnu", short_names), "run");
    EXPECT_EQ(nearest_name("nru", short_names), "");
}

TEST(NearestName, IsEmptyIfNoCandidateIsClose) {
    EXPECT_EQ(nearest_name("sobel", names), "");
    EXPECT_EQ(nearest_name("", names), "");
    EXPECT_EQ(nearest_name("gray", {}), "");
    EXPECT_EQ(nearest_name(std::string(1'000'000, 'g'), names), "");
    EXPECT_EQ(did_you_mean("sobel", names), "");
    EXPECT_EQ(did_you_mean("grey", names), "; did you mean 'gray'?");
}

TEST(WithoutPaths, KeepsFileNames) {
    const std::pair<const char*, const char*> cases[] = {
        {"cannot write /srv/kept/door-1.fwd: No space left on device",
         "cannot write door-1.fwd: No space left on device"},
        {"/srv/kept/door.png is there already", "door.png is there already"},
        {"there is no folder /srv/kept/.", "there is no folder kept."},
        {"no folder '/srv/my films/a b.mp4', sadly", "no folder 'a b.mp4', sadly"},
        {"filesystem error: cannot rename [/srv/a b/c.part] [/srv/a b/c]",
         "filesystem error: cannot rename [c.part] [c]"},
        {"font=/usr/share/x.ttf:size=3", "font=x.ttf:size=3"},
        {"door:/srv/x", "door:x"},
        {"file:///etc/passwd", "file:passwd"},
        {"(/etc/a/)", "(a)"},
    };
    for (const auto& [text, shown] : cases) EXPECT_EQ(without_paths(text), shown) << text;
}

TEST(WithoutPaths, LeavesOtherTextUnchanged) {
    for (const std::string text :
         {"", "rtsp://camera.local/stream: lost", "1 Mbit/s and/or 2", "a / b", "*/", "{name}/x", "application/json",
          "filters, column 1: no filter 'grey'; did you mean 'gray'?"})
        EXPECT_EQ(without_paths(text), text);
    const auto once = without_paths("cannot open /a/b/c.mp4 or '/d e/f'");
    EXPECT_EQ(without_paths(once), once);
}

using namespace std::string_literals;

TEST(Printable, LeavesOrdinaryTextUnchanged) {
    for (const auto* text : {"", "clip.mp4", "a b\\n%s'\"",
                             "K\xc3\xbc"
                             "che \xe6\x98\xa0\xe5\x83\x8f \xf0\x9f\x8e\xa5",
                             "\xc2\xa0", "\xe2\x80\xa7\xe2\x80\xaf", "\xe2\x81\xa5", "\xf4\x8f\xbf\xbf"})
        EXPECT_EQ(printable(text), text);
}

TEST(Printable, EscapesTerminalControls) {
    const std::pair<std::string, std::string> cases[] = {
        {"\x1b[2J\x1b]0;title\a", "\\x1b[2J\\x1b]0;title\\x07"},
        {"a\nframewire: error: b\r\t\b", "a\\x0aframewire: error: b\\x0d\\x09\\x08"},
        {"\0\x7f"s, "\\x00\\x7f"},
        {"\xc2\x9b"
         "2J \xc2\x85",
         "\\u{9b}2J \\u{85}"},
        {"gpj.\xe2\x80\xae"
         "exe",
         "gpj.\\u{202e}exe"},
        {"\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad", "\\u{202a}\\u{202b}\\u{202c}\\u{202d}"},
        {"\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9", "\\u{2066}\\u{2067}\\u{2068}\\u{2069}"},
        {"\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "\\u{200e}\\u{200f}\\u{61c}"},
        {"\xe2\x80\xa8\xe2\x80\xa9", "\\u{2028}\\u{2029}"},
    };
    for (const auto& [text, shown] : cases) EXPECT_EQ(printable(text), shown);
}

TEST(Printable, EscapesInvalidUtf8) {
    const std::pair<std::string, std::string> cases[] = {
        {"\x9b"
         "2J",
         "\\x9b2J"},                                   // C1 control as one byte
        {"\xff\xfe", "\\xff\\xfe"},                    // never valid in UTF-8
        {"\xc3", "\\xc3"},                             // truncated
        {"\xc3(", "\\xc3("},                           // lead byte without continuation
        {"\xe2\x80", "\\xe2\\x80"},                    // truncated
        {"\xe2\x80\x1b", "\\xe2\\x80\\x1b"},           // an escape inside a sequence
        {"\xc0\x9b", "\\xc0\\x9b"},                    // overlong, two bytes
        {"\xe0\x82\x9b", "\\xe0\\x82\\x9b"},           // overlong, three
        {"\xf0\x80\x82\x9b", "\\xf0\\x80\\x82\\x9b"},  // overlong, four
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // surrogate
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // beyond U+10FFFF
        {"\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80"},  // beyond U+10FFFF
        {"\xe2\x80\xc3\xa4", "\\xe2\\x80\xc3\xa4"},    // the byte after an invalid sequence is decoded again
    };
    for (const auto& [text, shown] : cases) EXPECT_EQ(printable(text), shown);
}

TEST(Printable, KeepsLineFeedsInMultilineText) {
    EXPECT_EQ(printable_lines("a\x1b\n  b\r\n\nc\n"), "a\\x1b\n  b\\x0d\n\nc\n");
    EXPECT_EQ(printable_lines(""), "");
}

TEST(ShellQuoted, ProducesASingleWord) {
    EXPECT_EQ(shell_word("gaussian=5:sigma=1.5,flip=both"), "gaussian=5:sigma=1.5,flip=both");
    EXPECT_EQ(shell_word(""), "''");
    EXPECT_EQ(shell_word("text='{time} $HOME'"), R"('text='\''{time} $HOME'\''')");
    EXPECT_EQ(shell_quoted("a"), "'a'");
}

}  // namespace
}  // namespace framewire
