#!/usr/bin/env bash
# Checks the Helm chart: lint, templates, strict schemas, and a real kube-apiserver that has to accept every object without one
# warning under the Pod Security level `restricted`. What is not installed is skipped aloud; `--all` makes that a failure.
# chart-tools.sh brings helm, kube-apiserver and kubectl; etcd comes from `apt-get install etcd-server`, the schemas from
# `pip install kubernetes-validate`. A helm of yours must be 3.18 or newer: before, it words refusals of a schema differently.
# Also needs awk, openssl and python3.
set -euo pipefail

folder=$(cd "$(dirname "$0")" && pwd)
chart=$folder/helm/torana
kubernetes_version=1.36
# A helm that was built from source may not know of a version of its own.
helm_for() { helm "$1" --kube-version "$kubernetes_version" "${@:2}"; }
cache="${XDG_CACHE_HOME:-$HOME/.cache}/torana-k8s"
export PATH="$cache/bin:$PATH"
work=$(mktemp -d)
started=()
finish() {
  for process in "${started[@]}"; do kill "$process" 2> /dev/null || true; done
  wait 2> /dev/null || true
  rm -rf "$work"
}
trap finish EXIT

skipped=0
has() {
  command -v "$1" > /dev/null && return
  echo "SKIPPED: $2 (there is no $1 here)"
  skipped=1
  return 1
}
end() {
  if [ "$skipped" = 1 ] && [ "${1:-}" = --all ]; then exit 1; fi
}

has helm 'everything: the chart was not looked at' || { end "$@"; exit 0; }

echo '— helm lint and template, with seven value files'
for values in "$chart"/ci/*-values.yaml; do
  name=$(basename "$values" -values.yaml)
  helm_for lint --strict --quiet "$chart" --values "$values"
  helm_for template torana "$chart" --namespace torana --values "$values" > "$work/$name.yaml"
  echo "$name: $(grep -c '^kind: ' "$work/$name.yaml") objects"
done

echo '— objects say what the values say'
# The rendered object of one kind, on one line: 'expected' must be in it.
says() {
  local kind=$1 expected=$2
  shift 2
  helm_for template torana "$chart" "$@" > "$work/rendered"
  awk -v kind="kind: $kind" 'BEGIN { RS = "---\n" } index($0, kind "\n")' "$work/rendered" | tr -s ' \n' ' ' > "$work/object"
  grep -qF -- "$expected" "$work/object" || { echo "$kind has no: $expected"; cat "$work/object"; exit 1; }
  echo "$kind: $expected"
}
extended=(--values "$chart/ci/7-extended-values.yaml")
says StatefulSet 'image: "ghcr.io/torana/torana:'
says StatefulSet 'terminationGracePeriodSeconds: 75'
says StatefulSet 'terminationGracePeriodSeconds: 125' --set stop.drainSeconds=115
says StatefulSet 'terminationGracePeriodSeconds: 310' --set config.limits.drainMs=300000
says StatefulSet 'terminationGracePeriodSeconds: 311' --set config.limits.drainMs=300001
says StatefulSet 'updateStrategy: rollingUpdate: maxUnavailable: 20% type: RollingUpdate' "${extended[@]}"
says StatefulSet 'podManagementPolicy: OrderedReady' "${extended[@]}"
says StatefulSet 'initContainers: - args: - --port=5432' "${extended[@]}"
says StatefulSet 'image: registry.example.com/log-shipper:1' "${extended[@]}"
says StatefulSet 'mountPath: /run/vault name: vault readOnly: true' "${extended[@]}"
says StatefulSet 'driver: secrets-store.csi.k8s.io' "${extended[@]}"
says NetworkPolicy 'policyTypes: [Ingress] ingress: - ports: [{ port: http, protocol: TCP }] - ports: [{ port: control, protocol: TCP }] from: - podSelector: {}'
says NetworkPolicy 'ipBlock: { cidr: "169.254.170.23/32" }' "${extended[@]}"
says NetworkPolicy 'except: [169.254.0.0/16]' "${extended[@]}"

echo '— values with a mistake are refused'
refused() {
  if helm_for template torana "$chart" --set "$1" > /dev/null 2> "$work/refusal"; then
    echo "accepted: $1"
    exit 1
  fi
  grep -q "$2" "$work/refusal" || { echo "$1 is refused for another reason:"; cat "$work/refusal"; exit 1; }
  echo "refused: $1"
}
refused replicaCount=2 replicaCount
refused image.tags=1 tags
refused secrets.TORANA_SECRETT.name=a TORANA_SECRETT
refused env.TORANA_CONFG=a TORANA_CONFG
refused env.DATABASE_URL=postgres://a DATABASE_URL
refused config.upstream.a=b upstream
refused service.port=80800 65
refused persistence.enabled=yes boolean
refused replicas=2 'share one PostgreSQL'
refused separateRoles.enabled=true 'share one PostgreSQL'
refused separateRoles.worker.replicas=0 minimum
refused separateRoles.gateway.replicas=2 gateway
refused tls.secret=a secret
refused env.TORANA_TLS_CERT=/a 'set by the chart'
refused env.TORANA_ROLE=worker 'set by the chart'
refused updateStrategy.rollingUpdate.maxSurge=1 maxSurge
refused extraVolumes=a array
refused 'extraVolumes[0].name=data' 'a volume of the chart'
refused 'extraContainers[0].name=torana' "as the chart's own"
refused 'networkPolicy.metadataTo[0]=169.254.170.23' pattern
refused secrets.DATABASE_URL.name=a,secrets.DATABASE_URL.key=b 'same TORANA_SECRET'

echo '— strict schemas'
if has kubernetes-validate 'strict schemas'; then
  # A ServiceMonitor is no object of Kubernetes itself: the server below judges it.
  mkdir "$work/plain"
  for file in "$work"/[1-7]-*.yaml; do
    awk 'BEGIN { RS = "---\n"; ORS = "---\n" } !/kind: ServiceMonitor/' "$file" > "$work/plain/$(basename "$file")"
  done
  kubernetes-validate --strict --kubernetes-version "$kubernetes_version" "$work"/plain/*.yaml
fi

echo '— a real kube-apiserver'
if has etcd 'dry run' && has kube-apiserver 'dry run' && has kubectl 'dry run'; then
  cd "$work"
  free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
  etcd_port=$(free_port) peer_port=$(free_port) server_port=$(free_port)
  etcd --data-dir etcd --listen-client-urls "http://127.0.0.1:$etcd_port" --advertise-client-urls "http://127.0.0.1:$etcd_port" \
    --listen-peer-urls "http://127.0.0.1:$peer_port" > etcd.log 2>&1 &
  started+=($!)
  openssl genrsa -out account.key 2048 2> /dev/null
  token=$(openssl rand -hex 16)
  echo "$token,admin,admin,system:masters" > tokens.csv
  kube-apiserver --etcd-servers="http://127.0.0.1:$etcd_port" --secure-port="$server_port" --bind-address=127.0.0.1 --cert-dir=certificates \
    --service-account-issuer=https://kubernetes.local --service-account-key-file=account.key \
    --service-account-signing-key-file=account.key --token-auth-file=tokens.csv --authorization-mode=RBAC \
    --service-cluster-ip-range=10.96.0.0/16 > server.log 2>&1 &
  started+=($!)
  kube() { kubectl --kubeconfig /dev/null --server "https://127.0.0.1:$server_port" --insecure-skip-tls-verify --token "$token" "$@"; }
  for _ in $(seq 120); do kube get --raw /readyz > /dev/null 2>&1 && break; sleep 1; done
  kube get --raw /readyz > /dev/null || { tail -20 server.log; exit 1; }
  kube create namespace torana > /dev/null
  kube label namespace torana pod-security.kubernetes.io/enforce=restricted pod-security.kubernetes.io/warn=restricted > /dev/null
  if [ -f "$cache/servicemonitors.yaml" ]; then
    kube create -f "$cache/servicemonitors.yaml" > /dev/null
    kube wait --for=condition=Established --timeout=60s crd/servicemonitors.monitoring.coreos.com > /dev/null
  else
    echo 'SKIPPED: 6-roles (chart-tools.sh has not brought the definition of a ServiceMonitor)'
    skipped=1
    rm 6-roles.yaml
  fi
  for file in [1-7]-*.yaml; do
    kube -n torana apply --dry-run=server -f "$file" > applied 2> warnings || { cat warnings; exit 1; }
    if [ -s warnings ]; then echo "$file:"; cat warnings; exit 1; fi
    echo "${file%.yaml}: $(wc -l < applied) objects accepted, no warning"
  done
  # The warning is there to be seen: the same pod without its security context gets one.
  sed '/allowPrivilegeEscalation/d; s/drop: \[ALL\]/drop: []/' 1-demo.yaml > loose.yaml
  kube -n torana apply --dry-run=server -f loose.yaml > loose 2>&1 || true
  grep -q 'would violate PodSecurity' loose || { echo 'a loose pod got no warning: the check sees nothing'; cat loose; exit 1; }
  echo 'a pod without its security context gets a warning, as it should'
fi
end "$@"
echo 'the chart is good'
