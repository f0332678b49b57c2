#!/usr/bin/env bash
# Holds lastevent against other programs on the same traffic: whole processes, the median of interleaved runs, ratios
# within one run. Prints the table of benches/README.md.
#
#   LASTEVENT_GENERATOR=PATH/gen.py benches/compare.sh [SECTION…]
#
# Without a section all of them, but `big`, which is asked for by name only (11 GB).
#   LASTEVENT_SIZE        traffic to generate; 800M gives a HAR of 1 GB
#   LASTEVENT_TOOLS_SIZE  the same for the slow programs
#   LASTEVENT_BIG_SIZE    the same for the section `big`; 8000M gives a HAR of 10 GB
#   LASTEVENT_BENCH_DATA  a folder that keeps what is generated; without it a temporary one is removed at the end
#   LASTEVENT_RUNS        interleaved runs of every command; odd
# Needs cargo, python3, GNU time, hyperfine and jq. What else is missing is skipped, and said so.
set -euo pipefail
cd "$(dirname "$0")/.."

generator=${LASTEVENT_GENERATOR:?the path of gen.py, which makes the traffic}
size=${LASTEVENT_SIZE:-800M} tools_size=${LASTEVENT_TOOLS_SIZE:-64M} big_size=${LASTEVENT_BIG_SIZE:-8000M} runs=${LASTEVENT_RUNS:-5}
all="har baseline tools memory pcap formats archive tiny special small"
sections=" ${*:-$all} "
for section in $sections; do
    [[ " $all big " == *" $section "* ]] || { echo "no section is called $section; there are $all, and big" >&2; exit 2; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
data=${LASTEVENT_BENCH_DATA:-$scratch/data}
mkdir -p "$data"
declare -A median

note() { echo "$*" >&2; }
wants() { [[ $sections == *" $1 "* ]]; }
has() { command -v "$1" >/dev/null || { note "$1 is not installed: what needs it is skipped"; return 1; }; }
# build NAME ARGUMENT…: builds with cargo, and prints where the program of that name is.
build() {
    cargo "${@:2}" --message-format=json 2>"$scratch/build" >"$scratch/built" || { cat "$scratch/build" >&2; return 1; }
    jq -r --arg name "$1" 'select(.executable and .target.name == $name).executable' "$scratch/built"
}

# make NAME ARGUMENT…: generates $data/NAME, unless it is there, and has it in memory; the ground truth stands beside it.
make() {
    local out=$data/$1
    [[ -e $out.truth ]] || { note "generating $1"; python3 "$generator" "$2" "$out" "${@:3}" >"$out.truth.part"; mv "$out.truth.part" "$out.truth"; }
    find "$out" -type f -print0 | xargs -0 cat >/dev/null
}

# once COMMAND: the seconds of one run. Findings are no failure; anything else is.
once() {
    hyperfine -N -i --style none --runs 1 --export-json "$scratch/one.json" "$1" >"$scratch/log" 2>&1
    jq -e '.results[0] | select(.exit_codes[0] <= 1) | .times[0]' "$scratch/one.json" || { note "failed: $1"; return 1; }
}

# measure LABEL COMMAND…: sets median[LABEL] for each, over interleaved runs.
measure() {
    local round i
    rm -f "$scratch"/times.*
    for ((round = 0; round < runs; round++)); do
        for ((i = 1; i < $#; i += 2)); do once "${@:i+1:1}" >>"$scratch/times.$i"; done
    done
    for ((i = 1; i < $#; i += 2)); do
        median[${!i}]=$(sort -g "$scratch/times.$i" | sed -n "$((runs / 2 + 1))p")
        note "  ${!i}: ${median[${!i}]} s"
    done
}

# row WHAT VALUE '≤'|'≥' MUST AIM [UNIT]: a line of the table.
row() {
    awk -v what="$1" -v value="$2" -v sign="$3" -v must="$4" -v aim="$5" -v unit="${6:+ $6}" 'BEGIN {
        split("no must aim", words, " ")
        if (sign == "≤") reached = (value <= must) + (value <= aim); else reached = (value >= must) + (value >= aim)
        printf "| %s | %.2f%s | %s %s%s | %s%s | %s |\n", what, value, unit, sign, must, unit, aim, unit, words[reached + 1]
    }' | tee -a "$scratch/table" >&2
}
ratio() { row "$1" "$(awk "BEGIN { print ${median[$2]} / ${median[$3]} }")" "${@:4}"; }
peak() { /usr/bin/time -f %M -o "$scratch/peak" "$@" >/dev/null 2>&1 || true; awk '{ print $1 / 1024 }' <(tail -n 1 "$scratch/peak"); }

note "building"
lastevent=$(build lastevent build --release --bin lastevent)
check="$lastevent check --no-progress"

if wants har; then
    make g.har har --size "$size"
    measure wc "wc -l $data/g.har" two "$check -j2 $data/g.har" one "$check -j1 $data/g.har" \
        extract "$lastevent extract --no-progress -j2 $data/g.har"
    ratio "\`check\` of a HAR, 2 threads, over \`wc -l\`" two wc ≤ 6 3.5
    ratio "the same, 1 thread" one wc ≤ 10 6.5
    ratio "1 thread over 2 threads" one two ≥ 1.7 1.9
    ratio "\`extract\` over \`check\`, 2 threads" extract two ≤ 1.5 1.2
fi

if wants baseline; then
    make g.har har --size "$size"
    baseline=$(build baseline bench --no-run --bench baseline)
    measure plain "$baseline $data/g.har" one "$check -j1 $data/g.har"
    ratio "plain serde_json (\`baseline.rs\`) over \`check\`, both 1 thread" plain one ≥ 1.3 2
fi

find_mitmdump() {
    command -v mitmdump && return
    note "installing mitmproxy into a temporary folder"
    { python3 -m venv "$data/venv" && "$data/venv/bin/pip" -q install mitmproxy; } >&2 && echo "$data/venv/bin/mitmdump"
}
if wants tools || wants formats; then
    mitmdump=$(find_mitmdump) || { note "mitmproxy cannot be installed: what needs it is skipped"; mitmdump=; }
fi
flows() { [[ -e $data/$2 ]] || { note "making $2"; "$mitmdump" -q -nr "$data/$1" -w "$data/$2.part" >&2; mv "$data/$2.part" "$data/$2"; }; }

if wants tools; then
    make t.har har --size "$tools_size"
    measure check "$check -j2 $data/t.har" \
        python "python3 -c 'import json,sys; len(json.load(open(sys.argv[1]))[\"log\"][\"entries\"])' $data/t.har"
    ratio "Python \`json.load\` over \`check\`" python check ≥ 20 40
    if has jq; then
        measure check "$check -j2 $data/t.har" jq "jq '.log.entries|length' $data/t.har"
        ratio "\`jq\` counting the entries over \`check\`" jq check ≥ 10 25
    fi
    if [[ $mitmdump ]]; then
        flows t.har t.flow
        measure check "$check -j2 $data/t.flow" mitmdump "$mitmdump -q -nr $data/t.flow"
        ratio "\`mitmdump -nr\` over \`check\` of flows" mitmdump check ≥ 80 150
    fi
    if has tshark; then
        make t.pcap pcap --size "$tools_size"
        measure check "$check -j2 $data/t.pcap" tshark "tshark -r $data/t.pcap -Y http"
        ratio "\`tshark -Y http\` over \`check\` of packets" tshark check ≥ 60 100
    fi
fi

if wants memory; then
    make g.har har --size "$size"
    row "peak memory, HAR of $(du -m --apparent-size "$data/g.har" | cut -f1) MiB" "$(peak $check -j2 "$data/g.har")" ≤ 150 90 MiB
fi
if wants big; then
    make g.har har --size "$size"
    make big.har har --size "$big_size"
    state() { awk -F'[ :,]+' '/"events"/ { e = $3 } /"exchanges"/ { x = $3 } END { print (32 * e + 400 * x) / 1048576 }' "$data/$1.truth"; }
    big=$(peak $check -j2 "$data/big.har") small=$(peak $check -j2 "$data/g.har")
    note "  peak: $small MiB, of the large one $big MiB"
    allowed=$(awk "BEGIN { printf \"%.0f\", $(state big.har) - $(state g.har) }")
    row "growth of the peak to a HAR of $(du -m --apparent-size "$data/big.har" | cut -f1) MiB (32 B an event, 400 B an exchange)" "$(awk "BEGIN { print $big - $small }")" ≤ "$allowed" "$allowed" MiB
fi

if wants pcap; then
    # The packets of as many sessions are a little smaller than the HAR.
    make g.pcap pcap --size "$(awk "BEGIN { print ${size%[KMG]} * 1.17 }")${size: -1}"
    measure wc "wc -l $data/g.pcap" check "$check -j2 $data/g.pcap"
    ratio "\`check\` of loopback packets, over \`wc -l\`" check wc ≤ 8 5
    row "its peak memory" "$(peak $check -j2 "$data/g.pcap")" ≤ 250 250 MiB
fi

if wants formats; then
    make g.sse sse --size "$size"
    make g.ndjson ndjson --size "$size"
    files=(g.sse g.ndjson)
    if [[ $mitmdump ]]; then make f.har har --size "$tools_size"; flows f.har f.flow; files+=(f.flow); fi
    for file in "${files[@]}"; do
        measure wc "wc -l $data/$file" check "$check -j2 --allow-empty $data/$file"
        ratio "\`check\` of ${file#*.}, over \`wc -l\`" check wc ≤ 6 4
    done
fi

if wants archive; then
    make archive archive --files 5000 --gz
    measure gzip "sh -c 'find $data/archive -name \"*.gz\" -print0 | xargs -0 -n 64 -P2 gzip -dc'" check "$check -j2 $data/archive"
    ratio "\`xargs -P2 gzip -dc\` over \`check\`, 5,000 .har.gz" gzip check ≥ 1 1.7
fi

if wants tiny; then
    if [[ ! -e $data/tiny.truth ]]; then
        make seed.har har --sessions 2 --compact
        note "cutting it into tiny files"
        python3 benches/tiny.py "$data/seed.har" "$data/tiny" 100000 >"$data/tiny.truth"
    fi
    measure one "$check -j1 $data/tiny" two "$check -j2 $data/tiny"
    ratio "100,000 tiny files, 1 thread over 2 threads" one two ≥ 1.5 1.8
fi

if wants special; then
    for case in one-cursor:50000 long-stream:500000 big-event:100 deep-json:20000000 many-lines:5000000 many-ids:20000 sessions:20000; do
        count=${case#*:} case=${case%:*}
        while :; do
            python3 "$generator" special "$scratch/n.har" --case "$case" --count "$count" >/dev/null
            seconds=$(once "$check -j2 $scratch/n.har")
            awk "BEGIN { exit $seconds >= 0.5 }" || break
            (($(stat -c %s "$scratch/n.har") < 3000000000)) || break
            count=$(awk "BEGIN { f = 0.6 / $seconds; printf \"%d\", $count * (f < 1.5 ? 1.5 : f > 4 ? 4 : f) }")
        done
        python3 "$generator" special "$scratch/2n.har" --case "$case" --count "$((2 * count))" >/dev/null
        measure n "$check -j2 $scratch/n.har" 2n "$check -j2 $scratch/2n.har"
        ratio "special case $case, $((2 * count)) over $count" 2n n ≤ 2.5 2.1
        rm -f "$scratch"/*.har
    done
fi

if wants small; then
    hyperfine -N -i --style none --warmup 5 --runs 100 --export-json "$scratch/one.json" \
        "$check testdata/transcripts/terminal-replay.transcript" >"$scratch/log" 2>&1
    row "\`check\` of a small capture, whole process" "$(jq '.results[0].median * 1000' "$scratch/one.json")" ≤ 5 2 ms
fi

echo "$(nproc) cores, $(sed -n 's/^model name[^:]*: //p;T;q' /proc/cpuinfo), $(uname -sr), $(rustc --version)"
printf '\n| what | measured | must | aim | reached |\n| --- | --- | --- | --- | --- |\n'
cat "$scratch/table"
