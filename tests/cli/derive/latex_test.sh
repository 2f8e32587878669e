#!/bin/sh
# The LaTeX form of every model's derivation compiles. Skipped (77) where pdflatex is not installed.
# usage: latex_test.sh LEHR
set -eu
command -v pdflatex >/dev/null || exit 77
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
for model in models/*/*.lehr; do
  name=$(basename "$model" .lehr)
  "$1" derive "$model" --format latex >"$directory/$name.tex"
  (cd "$directory" && pdflatex -interaction=nonstopmode -halt-on-error "$name.tex" >"$name.out") || {
    tail -n 20 "$directory/$name.out"
    exit 1
  }
done
