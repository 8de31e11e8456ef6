#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

namespace framewire::net::testing {

/// A temporary folder that is removed when the object is destroyed.
class TestFolder {
public:
    TestFolder() : path_((std::filesystem::temp_directory_path() / "framewire-net-XXXXXX").string()) {
        if (!::mkdtemp(path_.data())) throw std::runtime_error("no temporary folder");
    }
    TestFolder(const TestFolder&) = delete;
    TestFolder& operator=(const TestFolder&) = delete;
    ~TestFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    const std::string& path() const { return path_; }
    /// Writes a file that only its owner may read and returns its path.
    std::string file(const std::string& name, const std::string& text) const {
        auto path = path_ + "/" + name;
        std::ofstream(path, std::ios::binary) << text;
        using std::filesystem::perms;
        std::filesystem::permissions(path, perms::owner_read | perms::owner_write);
        return path;
    }

private:
    std::string path_;
};

}  // namespace framewire::net::testing
