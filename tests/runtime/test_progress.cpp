// Progress messages of a fit: lines for files and pipes, a bar for terminals, nothing with --quiet.
#include <catch2/catch.hpp>

#include <memory>

#include "runtime/terminal/progress.h"

using namespace lehr;

namespace {

/// A C stream that writes to memory, so that a test can read what was printed.
class Screen {
 public:
  Screen() : file_(open_memstream(&text_, &size_)) {}
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen() {
    std::fclose(file_);
    free(text_);
  }
  std::FILE* file() { return file_; }
  std::string text() {
    std::fflush(file_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* file_;
};

}  // namespace

TEST_CASE("plain lines: the first, the last, and a few between") {
  Screen screen;
  Progress progress(screen.file(), {}, 20);
  for (int i = 1; i <= 12; ++i)
    progress.update({i, static_cast<double>(i), -100.0 / i, i < 3 ? 2.5 : 1});
  progress.finish("converged");
  CHECK(screen.text() ==
        "iteration  1/20  ELBO -100  T 2.5  1.0 s\n"
        "iteration  6/20  ELBO -16.666667  change +3.33  6.0 s  1/s, at most 14.0 s left\n"
        "iteration 11/20  ELBO -9.0909091  change +0.909  11.0 s  1/s, at most 9.0 s left\n"
        "iteration 12/20  ELBO -8.3333333  change +0.758  12.0 s  1/s\n"
        "converged\n");
}

TEST_CASE("more iterations than one run may have are counted without an end") {
  Screen screen;
  {
    Progress progress(screen.file(), {.seconds_between = 0}, 10);
    for (const int i : {9, 10, 11, 4725})
      progress.update({i, static_cast<double>(i), -1.0 / i, 1});
    progress.finish();
  }
  const std::string text = screen.text();
  CHECK_THAT(text, Catch::Contains("iteration 10/10") && Catch::Contains("iteration 4725  ELBO"));
  CHECK_THAT(text, !Catch::Contains("11/10") && !Catch::Contains("4725/"));
}

TEST_CASE("quiet") {
  Screen screen;
  ProgressOptions options;
  options.quiet = true;
  Progress progress(screen.file(), options, 0);
  progress.update({1, 0, -1, 1});
  progress.message("careful");
  progress.finish("done");
  CHECK(screen.text().empty());
}

TEST_CASE("a bar") {
  Screen screen;
  ProgressOptions options;
  options.bar = true;
  Progress progress(screen.file(), options, 4);
  progress.update({1, 0, -8, 1});
  progress.update({2, 0.01, -6, 1});  // too soon after the last
  progress.message("careful");
  progress.update({4, 75, -5, 1});
  progress.finish();
  CHECK(screen.text() ==
        "\r######.................. iteration 1/4  ELBO -8  0.0 s\x1b[K"
        "\r\x1b[Kcareful\n"
        "\r############............ iteration 2/4  ELBO -6  change +2  0.0 s\x1b[K"
        "\r######################## iteration 4/4  ELBO -5  change +1  1:15  0.04/s\x1b[K\n");
}

TEST_CASE("a narrow terminal gets one line all the same") {
  Screen screen;
  ProgressOptions options;
  options.bar = true;
  options.columns = 20;
  Progress progress(screen.file(), options, 4);
  progress.update({1, 0, -8, 1});
  CHECK(screen.text() == "\riteration 1/4  ELBO\x1b[K");
}
