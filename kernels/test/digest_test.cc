#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "kernels_testing.h"

namespace penumbra::kernels {
namespace {

using Digest = void (*)(const uint8_t* const*, const uint32_t*, size_t, uint8_t*);

class DigestTest : public KernelTest {
 protected:
  // Each message in memory of its own, so that a sanitizer sees a read past the end.
  static std::vector<std::string> Digests(Digest digest, size_t bytes, const std::vector<std::string>& messages) {
    std::vector<std::vector<uint8_t>> memory;
    std::vector<const uint8_t*> pointers;
    std::vector<uint32_t> lengths;
    for (const std::string& message : messages) {
      memory.emplace_back(message.begin(), message.end());
      lengths.push_back(static_cast<uint32_t>(message.size()));
    }
    for (const auto& message : memory) pointers.push_back(message.data());
    std::string all(messages.size() * bytes, '\0');
    digest(pointers.data(), lengths.data(), messages.size(), reinterpret_cast<uint8_t*>(all.data()));
    std::vector<std::string> digests;
    for (size_t i = 0; i < messages.size(); ++i) digests.push_back(all.substr(i * bytes, bytes));
    return digests;
  }

  static std::string Hex(std::string_view bytes) {
    std::string hex;
    for (const char byte : bytes) {
      hex += "0123456789abcdef"[static_cast<uint8_t>(byte) >> 4];
      hex += "0123456789abcdef"[byte & 15];
    }
    return hex;
  }

  // Of 0 to 399 bytes.
  static std::vector<std::string> Messages() {
    std::vector<std::string> messages;
    for (size_t i = 0; i < 400; ++i) {
      std::string& message = messages.emplace_back(i, '\0');
      for (size_t j = 0; j < i; ++j) message[j] = static_cast<char>(i * 7 + j * 13);
    }
    return messages;
  }

  // `expected`: the digest of all messages' digests, as Python's hashlib has it.
  void Check(Digest digest, size_t bytes, const std::string& expected) {
    const std::vector<std::string> messages = Messages();
    std::string together;
    for (const std::string& one : Digests(digest, bytes, messages)) together += one;
    EXPECT_EQ(Hex(Digests(digest, bytes, {together})[0]), expected);
    for (size_t count : {1, 2, 15, 16, 17, 33, 250}) {
      std::vector<size_t> order(count);
      std::vector<std::string> some;
      for (size_t& place : order) some.push_back(messages[place = random() % messages.size()]);
      const std::vector<std::string> digests = Digests(digest, bytes, some);
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(Hex(digests[i]), Hex(std::string_view(together).substr(order[i] * bytes, bytes))) << order[i];
      }
    }
  }
};
HWY_TARGET_INSTANTIATE_TEST_SUITE_P(DigestTest);

TEST_P(DigestTest, Md5) {
  EXPECT_EQ(Hex(Digests(Md5, 16, {""})[0]), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(Hex(Digests(Md5, 16, {"abc"})[0]), "900150983cd24fb0d6963f7d28e17f72");
  Check(Md5, 16, "959aa1a9e4270624fe43120819ad3736");
}

TEST_P(DigestTest, Sha256) {
  EXPECT_EQ(Hex(Digests(Sha256, 32, {""})[0]), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Hex(Digests(Sha256, 32, {"abc"})[0]), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Check(Sha256, 32, "b6e82d779e8bd19976cc451f778e8342ff974c3e84b82efc3e1af4c8357cbb97");
}

}  // namespace
}  // namespace penumbra::kernels
