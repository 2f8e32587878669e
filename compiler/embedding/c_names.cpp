// Lists of words that are not available as identifiers, and transliteration to ASCII. The lists have the keywords of
// C11 to C23 and C++17 to C++23, predefined macros of GNU C, and names in standard headers.
#include "compiler/embedding/c_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace lehr {
namespace {

/// Keywords and types, separated by spaces.
constexpr const char* kWords =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t "
    "char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr "
    "constinit continue decltype default delete do double dynamic_cast else enum explicit export "
    "extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq "
    "nullptr operator or or_eq private protected public register reinterpret_cast requires restrict "
    "return short signed sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using "
    "virtual void volatile wchar_t while xor xor_eq linux unix NULL EOF errno assert offsetof size_t "
    "ptrdiff_t int32_t int64_t uint64_t abi";

/// Macros of headers that a program may include beside the generated ones; is_extreme() has those with a common ending.
constexpr const char* kMacros =
    "BIG_ENDIAN BUFSIZ BYTE_ORDER CHAR_BIT CLOCKS_PER_SEC DECIMAL_DIG E2BIG EACCES EADDRINUSE EADDRNOTAVAIL "
    "EADV EAFNOSUPPORT EAGAIN EALREADY EBADE EBADF EBADFD EBADMSG EBADR EBADRQC EBADSLT EBFONT EBUSY ECANCELED "
    "ECHILD ECHRNG ECOMM ECONNABORTED ECONNREFUSED ECONNRESET EDEADLK EDEADLOCK EDESTADDRREQ EDOM EDOTDOT "
    "EDQUOT EEXIST EFAULT EFBIG EHOSTDOWN EHOSTUNREACH EHWPOISON EIDRM EILSEQ EINPROGRESS EINTR EINVAL EIO "
    "EISCONN EISDIR EISNAM EKEYEXPIRED EKEYREJECTED EKEYREVOKED EL2HLT EL2NSYNC EL3HLT EL3RST ELIBACC ELIBBAD "
    "ELIBEXEC ELIBMAX ELIBSCN ELNRNG ELOOP EMEDIUMTYPE EMFILE EMLINK EMSGSIZE EMULTIHOP ENAMETOOLONG ENAVAIL "
    "ENETDOWN ENETRESET ENETUNREACH ENFILE ENOANO ENOBUFS ENOCSI ENODATA ENODEV ENOENT ENOEXEC ENOKEY ENOLCK "
    "ENOLINK ENOMEDIUM ENOMEM ENOMSG ENONET ENOPKG ENOPROTOOPT ENOSPC ENOSR ENOSTR ENOSYS ENOTBLK ENOTCONN "
    "ENOTDIR ENOTEMPTY ENOTNAM ENOTRECOVERABLE ENOTSOCK ENOTSUP ENOTTY ENOTUNIQ ENXIO EOF EOPNOTSUPP EOVERFLOW "
    "EOWNERDEAD EPERM EPFNOSUPPORT EPIPE EPROTO EPROTONOSUPPORT EPROTOTYPE ERANGE EREMCHG EREMOTE EREMOTEIO "
    "ERESTART ERFKILL EROFS ESHUTDOWN ESOCKTNOSUPPORT ESPIPE ESRCH ESRMNT ESTALE ESTRPIPE ETIME ETIMEDOUT "
    "ETOOMANYREFS ETXTBSY EUCLEAN EUNATCH EUSERS EWOULDBLOCK EXDEV EXFULL EXIT_FAILURE EXIT_SUCCESS FD_SETSIZE "
    "FLT_EVAL_METHOD FLT_RADIX FLT_ROUNDS FP_INFINITE FP_NAN FP_NORMAL FP_SUBNORMAL FP_ZERO F_OK HUGE_VAL "
    "HUGE_VALF HUGE_VALL I INFINITY LC_ALL LC_COLLATE LC_CTYPE LC_MONETARY LC_NUMERIC LC_TIME LITTLE_ENDIAN "
    "LONG_BIT L_tmpnam MAXFLOAT M_1_PI M_2_PI M_2_SQRTPI M_E M_LN10 M_LN2 M_LOG10E M_LOG2E M_PI M_PI_2 M_PI_4 "
    "M_SQRT1_2 M_SQRT2 NAN NSIG PIPE_BUF P_tmpdir R_OK SEEK_CUR SEEK_END SEEK_SET SIGABRT SIGALRM SIGBUS "
    "SIGCHLD SIGCLD SIGCONT SIGFPE SIGHUP SIGILL SIGINT SIGIO SIGIOT SIGKILL SIGPIPE SIGPOLL SIGPROF SIGPWR "
    "SIGQUIT SIGRTMAX SIGRTMIN SIGSEGV SIGSTKFLT SIGSTKSZ SIGSTOP SIGSYS SIGTERM SIGTRAP SIGTSTP SIGTTIN "
    "SIGTTOU SIGURG SIGUSR1 SIGUSR2 SIGVTALRM SIGWINCH SIGXCPU SIGXFSZ SNAN TIME_UTC TMP_MAX WEOF WNOHANG "
    "WORD_BIT W_OK X_OK alloca bool complex environ false fpclassify i386 imaginary isalnum isalpha isascii "
    "isblank iscntrl isdigit isfinite isgraph isgreater isgreaterequal isinf isless islessequal islessgreater "
    "islower isnan isnormal isprint ispunct isspace isunordered isupper isxdigit iszero math_errhandling "
    "noreturn setjmp signbit sigsetjmp stderr stdin stdout toascii true va_arg va_copy va_end va_start";

/// Functions of the C library.
constexpr const char* kLibrary =
    "abs acos asin atan atof atoi atol bsearch calloc cbrt ceil clock cos cosh div drem erf erfc "
    "exit exp exp2 expm1 fabs fdim floor fma fmax fmin fmod free frexp gamma getc gets hypot index "
    "j0 j1 jn labs ldexp ldiv lgamma link llabs log log10 log1p log2 logb lrint lround main malloc "
    "memchr memcmp memcpy memmove memset mktime modf nan pause pipe pow printf putc puts qsort raise "
    "rand random read realloc remainder remove rename rewind rindex rint round scanf select signal "
    "significand sin sinh sleep sqrt srand std strcat strchr strcmp strcpy strlen system tan tanh "
    "tgamma time trunc ungetc wait write y0 y1 yn";

/// Splits a list at spaces.
std::set<std::string> set_of(std::string_view words) {
  std::set<std::string> out;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    out.emplace(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return out;
}

/// Returns true for macros such as INT_MAX, UINT_FAST16_WIDTH and DBL_MIN_EXP.
bool is_extreme(std::string_view name) {
  if (std::ranges::any_of(name, [](char c) { return c >= 'a' && c <= 'z'; })) return false;
  const auto ends = [&](std::string_view end) { return name.ends_with(end); };
  const bool of_floats = name.starts_with("FLT_") || name.starts_with("DBL_") || name.starts_with("LDBL_");
  return of_floats || ends("_MAX") || ends("_MIN") || ends("_WIDTH");
}

/// Names of the Greek letters in the order of Unicode, with both forms of sigma.
constexpr std::array<std::string_view, 25> kGreek{
    "alpha", "beta",    "gamma", "delta", "epsilon", "zeta",  "eta", "theta",   "iota", "kappa", "lambda", "mu",   "nu",
    "xi",    "omicron", "pi",    "rho",   "sigma",   "sigma", "tau", "upsilon", "phi",  "chi",   "psi",    "omega"};

/// Transliterates one letter that is not ASCII: Greek letters by name, subscript digits as digits, others as u and
/// their code.
std::string transliterated(std::uint32_t letter) {
  if (letter >= 0x3b1 && letter < 0x3b1 + kGreek.size()) return std::string(kGreek[letter - 0x3b1]);
  if (letter >= 0x391 && letter < 0x391 + kGreek.size()) {
    std::string out(kGreek[letter - 0x391]);
    out[0] = static_cast<char>(out[0] - 'a' + 'A');
    return out;
  }
  if (letter >= 0x2080 && letter <= 0x2089) return std::string(1, static_cast<char>('0' + letter - 0x2080));
  return fmt::format("u{:04x}", letter);
}

}  // namespace

const std::set<std::string>& c_library() {
  static const std::set<std::string> kNames = set_of(kLibrary);
  return kNames;
}

std::string upper_case(std::string name) {
  for (char& c : name)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return name;
}

std::string ascii_identifier(const std::string& name) {
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    const auto first = static_cast<unsigned char>(name[at++]);
    if (first < 0x80) {
      out += static_cast<char>(first);
      continue;
    }
    std::uint32_t letter = first >= 0xf0 ? first & 0x07 : first >= 0xe0 ? first & 0x0f : first & 0x1f;
    for (; at < name.size() && (static_cast<unsigned char>(name[at]) & 0xc0) == 0x80; ++at)
      letter = letter << 6 | (static_cast<unsigned char>(name[at]) & 0x3f);
    out += transliterated(letter);
  }
  return out.empty() || (out[0] >= '0' && out[0] <= '9') ? "_" + out : out;
}

std::string NameScope::add(const std::string& name) {
  static const std::set<std::string> kReserved = set_of(kWords), kDefined = set_of(kMacros);
  std::string out = ascii_identifier(name);
  while (kReserved.contains(out) || kDefined.contains(out) || is_extreme(out) || !used_.insert(out).second)
    out += '_';
  return out;
}

}  // namespace lehr
