#!/usr/bin/env bash
# Builds the image and its lite form with buildah, and runs both with podman as a careful operator would: read-only root, no
# capabilities, an own user, 1 GB. Asks for a vector, a picture and the console, and prints what it saw.
#   bash deploy/check-image.sh              needs root, Node 26, PostgreSQL, openssl, buildah, podman, runc, netavark, iptables and mmdebstrap
# Where a tool is missing it says so and ends with 0; with STRICT=1 it fails.
set -euo pipefail
cd "$(dirname "$0")/.."

# The lite image has no database inside: it gets a PostgreSQL of its own.
[ -n "${TORANA_TEST_POSTGRES_URL:-}" ] || exec node server/test/support/with-servers.ts bash deploy/check-image.sh "$@"

max_full_mb=240
max_lite_mb=180
work="$(mktemp -d)"
running=()
cleanup() {
  for id in "${running[@]}"; do podman rm --force --time 2 --volumes "$id" >/dev/null 2>&1 || true; done
  [ -z "${provider_pid:-}" ] || kill "$provider_pid" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

# shellcheck source=deploy/local-images.sh
. deploy/local-images.sh
missing="$(missing_tools buildah podman runc mmdebstrap iptables)"
[ -z "$missing" ] || skip "the image was not built: ${missing}missing (apt-get install --no-install-recommends buildah podman runc mmdebstrap netavark aardvark-dns conmon catatonit iptables)"
[ "$(id -u)" = 0 ] || skip "the image was not built: bases are made as root"

use_podman_without_systemd

# Stand-ins for the bases of the Dockerfile.
node_version="$(node -p process.versions.node)"
if [ -z "${NODE_IMAGE:-}" ]; then
  NODE_IMAGE="localhost/torana-base-node:$node_version"
  mkdir -p "$work/node"
  cp -r "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" "$work/node/npm"
  cp "$(node -p process.execPath)" "$work/node/node"
  cp "${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt}" "$work/node/certificates.crt"
  local_debian
  local_image "$NODE_IMAGE" "FROM localhost/torana-base-debian:$suite
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY certificates.crt /usr/local/share/certificates.crt
ENV NODE_EXTRA_CA_CERTS=/usr/local/share/certificates.crt NPM_CONFIG_REGISTRY=$(npm config get registry)
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm" "$work/node"
fi
if [ -z "${RUNTIME_IMAGE:-}" ]; then
  RUNTIME_IMAGE="localhost/torana-base-runtime:$suite"
  if ! podman image exists "$RUNTIME_IMAGE"; then
    mmdebstrap --quiet --variant=extract \
      --include=base-files,netbase,tzdata,libc6,libstdc++6,libgcc-s1,ca-certificates \
      --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' "$suite" "$work/runtime.tar"
    podman import --quiet "$work/runtime.tar" "$RUNTIME_IMAGE" >/dev/null
    rm "$work/runtime.tar"
  fi
fi

build() {
  buildah bud --quiet --isolation chroot --format docker --layers --build-arg NODE_IMAGE="$NODE_IMAGE" \
    --build-arg RUNTIME_IMAGE="$RUNTIME_IMAGE" --build-arg VARIANT="$1" -f deploy/docker/Dockerfile -t "$2" . >/dev/null
  local bytes
  bytes="$(podman image inspect --format '{{.Size}}' "$2")"
  echo "$2: $((bytes / 1000000)) MB unpacked (at most $3)"
  [ "$((bytes / 1000000))" -le "$3" ] || fail "$2 is larger than $3 MB"
}
build full localhost/torana:dev "$max_full_mb"
build lite localhost/torana:dev-lite "$max_lite_mb"

careful=(--read-only --cap-drop ALL --security-opt no-new-privileges --memory 1g --pids-limit 512 --tmpfs /tmp --health-interval disable)
key=a-key-of-the-image-check-0123456789
port="$(free_port)"
control_port="$(free_port)"

id="$(podman run --detach "${careful[@]}" --env TORANA_BOOTSTRAP_KEY="$key" --publish "127.0.0.1:$port:8080" \
  --publish "127.0.0.1:$control_port:8081" localhost/torana:dev)"
running+=("$id")
wait_ready "http://127.0.0.1:$port" podman logs "$id"
ask_vector "http://127.0.0.1:$port" "$key" demo-embed
ask_picture "http://127.0.0.1:$port" "$key" |
  node -p '"a picture of " + Buffer.from(JSON.parse(require("fs").readFileSync(0)).data[0].b64_json, "base64").length + " bytes"'
# Read in full first: grep ends at its match, and a curl that still writes fails.
page="$(curl --silent --show-error --fail "http://127.0.0.1:$control_port/" -H 'Accept: text/html')"
grep --quiet '<title>Torana</title>' <<<"$page" || fail 'no console'
echo 'the console answers'
podman healthcheck run "$id" && echo 'the healthcheck says 0'
pid="$(podman inspect --format '{{.State.Pid}}' "$id")"
grep --extended-regexp '^(Uid|CapEff|CapBnd|NoNewPrivs):' "/proc/$pid/status"
[ "$(awk '/^Uid:/ { print $2 }' "/proc/$pid/status")" = 65532 ] || fail 'not the user 65532'
[ "$(awk '/^CapEff:/ { print $2 }' "/proc/$pid/status")" = 0000000000000000 ] || fail 'it has capabilities'
podman exec "$id" /usr/local/bin/node -e 'try { require("fs").writeFileSync("/app/x", "") } catch (error) { console.log("writing to /app:", error.code); process.exit(error.code === "EROFS" ? 0 : 1) } process.exit(1)' ||
  fail 'its root can be written'
podman stats --no-stream --format 'memory {{.MemUsage}}' "$id" || true
SECONDS=0
podman stop --time 30 "$id" >/dev/null
echo "stopped in $SECONDS s with $(podman inspect --format '{{.State.ExitCode}}' "$id")"
[ "$(podman inspect --format '{{.State.ExitCode}}' "$id")" = 0 ] || fail 'it did not end in order'

# The lite image has no database and no model inside: without a DATABASE_URL it says so; with PostgreSQL and an upstream it answers.
if podman run --rm "${careful[@]}" localhost/torana:dev-lite 2>"$work/lite"; then fail 'the lite image started without a database'; fi
grep 'DATABASE_URL' "$work/lite" || { cat "$work/lite" >&2; fail 'the lite image does not say what it needs'; }
provider_port="$(free_port)"
node lab/fake-provider/main.ts --port "$provider_port" >/dev/null &
provider_pid=$!
cat >"$work/torana.yaml" <<YAML
upstreams: { own: { dialect: openai, baseUrl: "http://127.0.0.1:$provider_port/plain/v1" } }
models:
  house-embed:
    kind: embedding
    embedding: { dimensions: 1536, matryoshka: true, maxInputTokens: 8192, tokenizer: none }
    price: free
    deployments: [{ upstream: own, model: text-embedding-3-small }]
YAML
chmod 755 "$work" && chmod 644 "$work/torana.yaml"
port="$(free_port)"
lite="$(podman run --detach "${careful[@]}" --network host --env DATABASE_URL="$TORANA_TEST_POSTGRES_URL" --env PORT="$port" --env HOST=127.0.0.1 \
  --env CONTROL_HOST=127.0.0.1 --env CONTROL_PORT="$(free_port)" --env TORANA_BOOTSTRAP_KEY="$key" --env TORANA_SECRET="$(openssl rand -hex 32)" \
  --volume "$work/torana.yaml:/etc/torana/torana.yaml:ro" localhost/torana:dev-lite)"
running+=("$lite")
wait_ready "http://127.0.0.1:$port" podman logs "$lite"
ask_vector "http://127.0.0.1:$port" "$key" house-embed
podman stop --time 30 "$lite" >/dev/null
echo checked
