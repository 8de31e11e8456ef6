#include "framewire/core/text/printable.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace framewire {
namespace printable_test {

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

TEST(Printable, KeepsLineBreaksOfLines) {
    EXPECT_EQ(printable_lines("a\x1b\n  b\r\n\nc\n"), "a\\x1b\n  b\\x0d\n\nc\n");
    EXPECT_EQ(printable_lines(""), "");
}

}  // namespace printable_test
}  // namespace framewire
