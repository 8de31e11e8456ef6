#include "framewire/core/text/credentials.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace framewire {
namespace credentials_test {

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

TEST(Credentials, HidesPasswordsWithBlanks) {
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

}  // namespace credentials_test
}  // namespace framewire
