// Names of C++: templates, namespaces, lambdas, operators, inlined methods.
#include <functional>
#include <string>

#include "print_stack.h"

namespace outer {
namespace {

struct Hidden {
  __attribute__((noinline)) int operator()(const std::string& text) const {
    print_stack();  // line: operator
    return static_cast<int>(text.size());
  }
};

}  // namespace

template <typename T, int kCount>
class Holder {
 public:
  __attribute__((noinline)) int Call(const T& value) {
    int sum = 0;
    for (int i = 0; i < kCount; ++i) {
      sum += Hidden()(value);  // line: call
      asm volatile("" : "+r"(sum));
    }
    return sum;
  }
  __attribute__((always_inline)) int Inlined(const T& value) {
    return Call(value) + 1;  // line: inlined
  }
};

}  // namespace outer

int main() {
  const std::function<int(int)> lambda = [](int n) {
    outer::Holder<std::string, 1> holder;
    return holder.Inlined("text") + n;  // line: lambda
  };
  return lambda(1) == 6 ? 0 : 1;  // line: main
}
