#include <dirent.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "operator/spill_file.h"
#include "vector/error.h"

namespace penumbra {
namespace {

int CountEntries(const std::string& directory) {
  DIR* opened = opendir(directory.c_str());
  int entries = 0;
  while (readdir(opened) != nullptr) ++entries;
  closedir(opened);
  return entries - 2;  // . and ..
}

TEST(SpillFile, ReadsWhatWasAppendedAndLeavesNothing) {
  std::string directory = ::testing::TempDir() + "/penumbra_spill_test_XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  {
    SpillSpace space(directory + "/spill", nullptr);
    SpillFile file(space);
    EXPECT_EQ(CountEntries(directory), 0);
    std::vector<uint32_t> numbers(1 << 20);
    for (uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i * 2654435761u;
    EXPECT_EQ(file.Append("abc", 3), 0u);
    const uint64_t at = file.Append(numbers.data(), numbers.size() * 4);
    EXPECT_EQ(at, 3u);
    EXPECT_EQ(file.bytes(), 3 + numbers.size() * 4);
    std::thread reader([&] {
      std::vector<uint32_t> read(1000);
      file.Read(at + 4 * 5000, read.data(), 4000);
      for (uint32_t i = 0; i < read.size(); ++i) EXPECT_EQ(read[i], numbers[5000 + i]);
    });
    reader.join();
  }
  EXPECT_EQ(rmdir(directory.c_str()), 0);
}

TEST(SpillFile, Errors) {
  try {
    SpillSpace space("/nonexistent/directory/spill", nullptr);
    SpillFile file(space);
    FAIL();
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), PENUMBRA_IO_ERROR);
    EXPECT_EQ(std::string(error.what()), "could not create temporary file: No such file or directory");
  }
  SpillSpace space(::testing::TempDir() + "/spill", nullptr);
  SpillFile file(space);
  char byte;
  EXPECT_THROW(file.Read(0, &byte, 1), EngineError);
}

TEST(SpillFile, SharesALimit) {
  PenumbraTemporarySpace shared = {1000, 0};
  const std::string bytes(400, 'x');
  SpillSpace one(::testing::TempDir() + "/spill", &shared);
  {
    SpillSpace other(::testing::TempDir() + "/spill", &shared);
    SpillFile first(one), second(other);
    first.Append(bytes.data(), bytes.size());
    second.Append(bytes.data(), bytes.size());
    try {
      first.Append(bytes.data(), bytes.size());
      FAIL();
    } catch (const EngineError& error) {
      EXPECT_EQ(error.code(), PENUMBRA_TEMPORARY_SPACE_LIMIT);
    }
    EXPECT_EQ(shared.used_bytes, 800u);
  }
  EXPECT_EQ(shared.used_bytes, 0u);
  EXPECT_EQ(one.file_bytes(), std::vector<uint64_t>{400});  // also when it is closed
  SpillFile third(one);
  third.Append(bytes.data(), bytes.size());
  EXPECT_EQ(one.file_bytes(), (std::vector<uint64_t>{400, 400}));
}

}  // namespace
}  // namespace penumbra
