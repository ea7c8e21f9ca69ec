#!/usr/bin/env bash
# Starts deploy/compose with podman-compose and local images, and asks for a vector, twice, and a picture by its address: so that
# PostgreSQL, both Redis servers and the S3 server have a part in it. Prometheus must see the node. Grafana is left out: no package
# of Debian or PyPI has it.
#   bash deploy/check-image.sh && bash deploy/check-compose.sh
# Where a tool is missing it says so and ends with 0; with STRICT=1 it fails.
set -euo pipefail
cd "$(dirname "$0")/.."

work="$(mktemp -d)"
# shellcheck source=deploy/local-images.sh
. deploy/local-images.sh
missing="$(missing_tools buildah podman runc mmdebstrap podman-compose)"
[ -z "$missing" ] || skip "compose was not started: ${missing}missing (podman-compose is on PyPI)"
use_podman_without_systemd
podman image exists localhost/torana:dev || skip 'compose was not started: there is no localhost/torana:dev, run deploy/check-image.sh'
weed="$(command -v weed || echo "${XDG_CACHE_HOME:-$HOME/.cache}/torana-ci/seaweedfs/bin/weed")"
[ -x "$weed" ] || skip 'compose was not started: SeaweedFS is missing, .ci/run installs it'

mkdir "$work/files"
cp "$weed" "$work/files/weed"
cat >"$work/files/postgres.sh" <<'SCRIPT'
#!/bin/bash
# As the official image: a database of the name and user that the environment has.
set -euo pipefail
bin="$(echo /usr/lib/postgresql/*/bin)"
mkdir -p "$PGDATA" && chown postgres "$PGDATA"
as_postgres() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
if [ ! -e "$PGDATA/PG_VERSION" ]; then
  install --mode=644 <(echo "$POSTGRES_PASSWORD") /tmp/password
  as_postgres "$bin/initdb" --encoding UTF8 --username "$POSTGRES_USER" --pwfile /tmp/password "$PGDATA"
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  echo "create database $POSTGRES_DB" | as_postgres "$bin/postgres" --single -D "$PGDATA" postgres
fi
exec setpriv --reuid postgres --regid postgres --clear-groups "$bin/postgres" -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/tmp
SCRIPT
chmod 755 "$work/files/postgres.sh"
local_debian
base="FROM localhost/torana-base-debian:$suite
RUN mkdir -p /etc/postgresql-common/createcluster.d && echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.d/none.conf \
  && apt-get update && apt-get install --yes --no-install-recommends postgresql redis-server prometheus"
local_image localhost/torana-check-servers "$base" "$work/files"
local_image localhost/torana-check-postgres 'FROM localhost/torana-check-servers
COPY postgres.sh /postgres.sh
ENTRYPOINT ["/postgres.sh"]' "$work/files"
local_image localhost/torana-check-s3 'FROM localhost/torana-check-servers
COPY weed /usr/local/bin/weed
ENTRYPOINT ["weed"]' "$work/files"
local_image localhost/torana-check-prometheus 'FROM localhost/torana-check-servers
ENTRYPOINT ["prometheus"]' "$work/files"

key=a-key-of-the-compose-check-0123456789
port="$(free_port)"
control_port="$(free_port)"
prometheus_port="$(free_port)"
cp -r deploy/compose "$work/compose"
[ ! -d deploy/monitoring ] || cp -r deploy/monitoring "$work/monitoring"
mkdir -p "$work/monitoring/dashboards"
cat >"$work/compose/.env" <<ENV
TORANA_SECRET=$(openssl rand -hex 32)
POSTGRES_PASSWORD=$(openssl rand -hex 16)
S3_SECRET_KEY=$(openssl rand -hex 16)
GRAFANA_PASSWORD=$(openssl rand -hex 16)
TORANA_KEY=$key
TORANA_PORT=$port
TORANA_CONTROL_PORT=$control_port
PROMETHEUS_PORT=$prometheus_port
PUBLIC_URL=http://127.0.0.1:$port
TORANA_IMAGE=localhost/torana:dev
POSTGRES_IMAGE=localhost/torana-check-postgres
REDIS_IMAGE=localhost/torana-check-servers
S3_IMAGE=localhost/torana-check-s3
PROMETHEUS_IMAGE=localhost/torana-check-prometheus
ENV
compose() { (cd "$work/compose" && podman-compose --project-name torana-check "$@"); }
cleanup() {
  compose --profile monitoring down --volumes >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap cleanup EXIT

chmod -R go+rX "$work"
SECONDS=0
# Without systemd nothing runs health checks, on which `depends_on` waits: first the servers, then the rest.
compose up --detach --no-deps postgres redis-limits redis-cache s3 >"$work/up.log" 2>&1 || { cat "$work/up.log"; fail 'the servers did not start'; }
for _ in $(seq 120); do
  compose exec -T postgres bash -c '/usr/lib/postgresql/*/bin/pg_isready --host /tmp' >/dev/null 2>&1 && break
  sleep 0.5
done
compose --profile monitoring up --detach --no-deps torana prometheus >"$work/up.log" 2>&1 || { cat "$work/up.log"; fail 'torana did not start'; }
wait_ready "http://127.0.0.1:$port" compose logs torana
echo "ready after $SECONDS s"
ask_vector "http://127.0.0.1:$port" "$key" demo-embed
curl --silent --fail --include "http://127.0.0.1:$port/v1/embeddings" -H "Authorization: Bearer $key" -H 'Content-Type: application/json' \
  -d '{"model":"demo-embed","input":"cat"}' | grep --ignore-case '^x-torana-cache' || fail 'the second vector did not come from the cache'
url="$(ask_picture "http://127.0.0.1:$port" "$key" ',"response_format":"url"' | node -p 'JSON.parse(require("fs").readFileSync(0)).data[0].url')"
echo "a picture of $(curl --silent --fail "$url" | wc --bytes) bytes from its address"
waiting="$(compose exec -T torana /usr/local/bin/node -e 'console.log(require("fs").readdirSync("/data/assets-spool", { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length)')"
echo "pictures that wait for the S3 server: $waiting"
for _ in $(seq 60); do
  up="$(curl --silent "http://127.0.0.1:$prometheus_port/api/v1/query?query=up" | node -p 'JSON.parse(require("fs").readFileSync(0)).data.result.map((one) => one.value[1]).join()' 2>/dev/null || true)"
  [ "$up" = 1 ] && break
  sleep 1
done
[ "$up" = 1 ] || fail 'Prometheus does not see the node'
echo 'Prometheus sees the node: up 1'
compose --profile monitoring down --volumes >/dev/null 2>&1
[ -z "$(podman volume ls --quiet --filter name=torana-check)" ] || fail 'volumes are left'
echo checked
