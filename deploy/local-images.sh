# shellcheck shell=bash
# For the checks of this folder, on a machine that reaches no registry: settings for podman, and stand-ins for images, made from
# Debian's packages. To be sourced; `work` is a temporary folder.
: "${work:?a temporary folder}"
suite=bookworm

# A machine without systemd, and where limits can't be raised, as inside of a container.
use_podman_without_systemd() {
  cat >"$work/containers.conf" <<'CONF'
[containers]
default_ulimits = ["nofile=10000:10000", "nproc=8192:8192"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
CONF
  export CONTAINERS_CONF="$work/containers.conf"
}

missing_tools() {
  for tool in "$@"; do command -v "$tool" >/dev/null || printf '%s ' "$tool"; done
}

skip() {
  echo "SKIPPED: $1"
  [ "${STRICT:-}" = 1 ] && exit 1
  exit 0
}

fail() {
  echo "FAILED: $1" >&2
  exit 1
}

local_debian() {
  podman image exists "localhost/torana-base-debian:$suite" && return
  mmdebstrap --quiet --variant=apt --include=ca-certificates,libstdc++6,libatomic1,binutils "$suite" "$work/base.tar"
  podman import --quiet "$work/base.tar" "localhost/torana-base-debian:$suite" >/dev/null
  rm "$work/base.tar"
}

# local_image <name> <Dockerfile text> <folder of files>
local_image() {
  podman image exists "$1" && return
  printf '%s\n' "$2" >"$work/Dockerfile"
  buildah bud --quiet --isolation chroot --format docker -f "$work/Dockerfile" -t "$1" "$3" >/dev/null
}

free_port() {
  node -e 'const server = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(server.address().port); server.close() })'
}

# wait_ready <url> <command that shows the logs>...
wait_ready() {
  local url="$1"
  shift
  for _ in $(seq 480); do
    curl --silent --fail "$url/readyz" >/dev/null && return
    sleep 0.25
  done
  "$@" >&2
  fail "not ready at $url"
}

# ask_vector <url> <key> <model>
ask_vector() {
  curl --silent --fail-with-body "$1/v1/embeddings" -H "Authorization: Bearer $2" -H 'Content-Type: application/json' \
    -d "{\"model\":\"$3\",\"input\":\"cat\",\"encoding_format\":\"float\"}" |
    node -p '"a vector of " + JSON.parse(require("fs").readFileSync(0)).data[0].embedding.length + " numbers"'
}

# ask_picture <url> <key> <more fields>
ask_picture() {
  curl --silent --fail-with-body "$1/v1/images/generations" -H "Authorization: Bearer $2" -H 'Content-Type: application/json' \
    -d "{\"model\":\"demo-image\",\"prompt\":\"a lighthouse in the fog\"${3:-}}"
}
