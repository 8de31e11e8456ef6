#include "framewire/core/text/shell_quoted.hpp"

#include <gtest/gtest.h>

namespace framewire {
namespace shell_quoted_test {

TEST(ShellQuoted, QuotesAsOneWord) {
    EXPECT_EQ(shell_word("gaussian=5:sigma=1.5,flip=both"), "gaussian=5:sigma=1.5,flip=both");
    EXPECT_EQ(shell_word(""), "''");
    EXPECT_EQ(shell_word("text='{time} $HOME'"), R"('text='\''{time} $HOME'\''')");
    EXPECT_EQ(shell_quoted("a"), "'a'");
}

}  // namespace shell_quoted_test
}  // namespace framewire
