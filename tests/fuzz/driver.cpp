// Runs a fuzzing harness without libFuzzer: inputs of a corpus, most of them changed at random places, for some
// seconds. It is for compilers that have no libFuzzer, and looks at no coverage. It understands the few options of
// libFuzzer that run.py gives, prints the seed that repeats its choices, and leaves an input at which the process ends.
#include <sanitizer/common_interface_defs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);
extern "C" __attribute__((weak)) int LLVMFuzzerInitialize(int* count, char*** words);

namespace {

std::string input;     // what the harness looks at now
std::string artifact;  // the file for an input at which the process ends

void save_input() { std::ofstream(artifact, std::ios::binary) << input; }

void save_input_of_signal(int number) {
  std::fprintf(stderr, "defect: %s\n", number == SIGALRM ? "the input takes too long" : "the process was aborted");
  save_input();
  std::_Exit(1);
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the words of a dictionary of libFuzzer: a line each, in quotes.
std::vector<std::string> read_dictionary(const std::string& path) {
  std::vector<std::string> out;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.size() > 2) out.push_back(line.substr(1, line.size() - 2));
  return out;
}

/// Makes the random choices of a run.
class Mutator {
 public:
  Mutator(std::uint64_t seed, std::vector<std::string> corpus, std::vector<std::string> words)
      : random_(seed), corpus_(std::move(corpus)), words_(std::move(words)) {}

  /// Returns an input of the corpus: as it is once in eight times, otherwise with one to four changes.
  std::string next(std::size_t longest) {
    std::string out = one_of(corpus_);
    if (below(8) != 0)
      for (std::size_t k = 1 + below(4); k > 0; --k)
        change(out);
    out.resize(std::min(out.size(), longest));
    return out;
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }
  const std::string& one_of(const std::vector<std::string>& texts) { return texts[below(texts.size())]; }

  void change(std::string& text) {
    const std::size_t at = below(text.size() + 1), length = std::min(below(16), text.size() - at);
    switch (below(6)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(below(text.size()), length));
        break;
      case 2:
        text.replace(at, length, one_of(words_));
        break;
      case 3:
        text.insert(at, 1, static_cast<char>(below(256)));
        break;
      case 4:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      default: {
        const std::string& other = one_of(corpus_);
        text.replace(at, std::string::npos, other, std::min(below(other.size()), other.size()));
      }
    }
  }

  std::mt19937_64 random_;
  std::vector<std::string> corpus_, words_;
};

}  // namespace

int main(int count, char** words) {
  std::map<std::string, std::string> options{{"max_total_time", "120"},
                                             {"runs", "-1"},
                                             {"max_len", "4096"},
                                             {"timeout", "60"},
                                             {"artifact_prefix", ""},
                                             {"seed", std::to_string(std::random_device()())},
                                             {"dict", ""}};
  if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&count, &words);  // may add to the corpus
  std::vector<std::string> corpus;
  for (int k = 1; k < count; ++k) {
    const std::string word = words[k];
    if (const std::size_t equals = word.find('='); word[0] == '-' && equals != std::string::npos)
      options[word.substr(1, equals - 1)] = word.substr(equals + 1);
    else if (std::filesystem::is_directory(word))
      for (const auto& entry : std::filesystem::directory_iterator(word))
        corpus.push_back(read(entry.path()));
    else corpus.push_back(read(word)), options["runs"] = "0";  // one input, as it is
  }
  const std::uint64_t seed = std::stoull(options["seed"]);
  std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(seed));
  artifact =
      options["artifact_prefix"].empty() ? "/dev/null" : options["artifact_prefix"] + "input-" + std::to_string(seed);
  std::sort(corpus.begin(), corpus.end());
  if (corpus.empty()) corpus.emplace_back();
  __sanitizer_set_death_callback(save_input);
  for (const int number : {SIGABRT, SIGALRM})
    std::signal(number, save_input_of_signal);
  const auto run = [&](std::string next) {
    input = std::move(next);
    ::alarm(static_cast<unsigned>(std::stoul(options["timeout"])));
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  };
  const long long runs = std::stoll(options["runs"]);
  if (runs == 0) run(corpus.front());
  std::vector<std::string> dictionary = read_dictionary(options["dict"]);
  if (dictionary.empty()) dictionary.emplace_back("0");
  Mutator mutator(seed, std::move(corpus), std::move(dictionary));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::stoll(options["max_total_time"]));
  long long executions = 0;
  for (; executions != runs && (runs > 0 || std::chrono::steady_clock::now() < end); ++executions)
    run(mutator.next(std::stoul(options["max_len"])));
  ::alarm(0);
  std::fprintf(stderr, "#%lld\n", executions);
  return 0;
}
