#!/bin/sh
# Every source has the one format; other versions of clang-format than Debian 12's break lines elsewhere.
cd "$(dirname "$0")/../.."
for format in clang-format-14 clang-format none; do
  case "$("$format" --version 2>/dev/null)" in *" version 14."*) break ;; esac
done
if [ "$format" = none ]; then
  echo "skipped: clang-format 14 is not installed"
  exit 77
fi
find compiler runtime tests bench examples '(' -name '*.cpp' -o -name '*.hpp' -o -name '*.h' -o -name '*.c' ')' \
  -print0 | xargs -0 -n 50 -P 2 "$format" --dry-run -Werror
