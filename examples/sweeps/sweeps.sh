#!/bin/sh
# Coordinate ascent by hand: each sweep visits the items shard by shard in processes of their own, and adds up what they
# wrote. The posterior in DIR/fit has the bytes of `lehr fit ... --search none --max-iter SWEEPS`.
# Usage: sweeps.sh DIR SWEEPS SHARDS MODEL [--data ... --set ... --sizes ...]
set -eu
dir=$1 sweeps=$2 shards=$3
shift 3

mkdir -p "$dir"
lehr fit "$@" --search none --max-iter 0 --quiet --out "$dir/fit0"
turn=0 done=0
while [ "$done" -lt "$sweeps" ]; do
  next=$((turn + 1))
  after=""
  if [ "$turn" -gt 0 ]; then after="--after=$dir/stats$turn-{}.npz"; fi
  seq "$shards" | xargs -P "$shards" -I '{}' lehr stats "$@" --globals "$dir/fit$turn" --shard '{}'"/$shards" \
    ${after:+"$after"} --out "$dir/stats$next-{}.npz"
  said=$(lehr update-globals "$@" --globals "$dir/fit$turn" --stats "$dir/stats$next"-*.npz --out "$dir/fit$next")
  echo "$said"
  case $said in *": sweep "*) done=$((done + 1)) ;; esac
  if [ "$turn" -gt 0 ]; then rm -r "$dir/fit$turn" "$dir/stats$turn"-*.npz; fi
  turn=$next
done
mv "$dir/fit$turn" "$dir/fit"
