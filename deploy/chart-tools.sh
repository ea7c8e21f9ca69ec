#!/usr/bin/env bash
# Brings the tools of check-chart.sh into a cache: helm, kube-apiserver and kubectl, built from Go modules, and the definition of a ServiceMonitor. Needs Go 1.26 or
# newer, about 10 minutes of processor time and 4 GB of disk, once. Where they are installed already, nothing is built.
set -euo pipefail

helm_version=4.3.1
kubernetes_version=1.36.3
operator_version=0.85.0
cache="${XDG_CACHE_HOME:-$HOME/.cache}/torana-k8s"
mkdir -p "$cache/bin"
export CGO_ENABLED=0 GOFLAGS='-buildvcs=false -mod=mod'

if [ ! -x "$cache/bin/helm" ]; then
  mkdir -p "$cache/helm"
  cd "$cache/helm"
  [ -f go.mod ] || go mod init example.org/helm
  go get -tool "helm.sh/helm/v4/cmd/helm@v$helm_version"
  go build -trimpath -ldflags '-s -w' -o "$cache/bin/helm" helm.sh/helm/v4/cmd/helm
fi

# The Prometheus operator's own definition: without it no server knows what a ServiceMonitor is.
if [ ! -f "$cache/servicemonitors.yaml" ]; then
  operator=github.com/prometheus-operator/prometheus-operator
  operator_folder=$(cd / && go mod download -json "$operator@v$operator_version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  install -m 644 "$operator_folder/example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml" "$cache/servicemonitors.yaml"
fi

if [ ! -x "$cache/bin/kube-apiserver" ]; then
  mkdir -p "$cache/kubernetes"
  cd "$cache/kubernetes"
  # k8s.io/kubernetes can't be installed by `go install`: its parts are replaced by folders beside it. Here they are replaced by
  # the published modules of the same release.
  source_folder=$(cd / && go mod download -json "k8s.io/kubernetes@v$kubernetes_version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  parts=$(sed -n 's,^\s*\(k8s.io/[a-z0-9-]*\) => ./staging/.*,\1,p' "$source_folder/go.mod" | sort -u)
  {
    echo 'module example.org/kubernetes'
    grep '^go ' "$source_folder/go.mod"
    echo "require k8s.io/kubernetes v$kubernetes_version"
    echo 'replace ('
    for part in $parts; do echo "  $part => $part v0.${kubernetes_version#*.}"; done
    echo ')'
  } > go.mod
  printf '//go:build tools\n\npackage tools\n\nimport (\n\t_ "k8s.io/kubernetes/cmd/kube-apiserver/app"\n\t_ "k8s.io/kubernetes/cmd/kubectl"\n)\n' > tools.go
  go mod tidy -e
  version="-X k8s.io/component-base/version.gitVersion=v$kubernetes_version"
  go build -trimpath -ldflags "-s -w $version" -o "$cache/bin/kube-apiserver" k8s.io/kubernetes/cmd/kube-apiserver
  command -v kubectl > /dev/null ||
    go build -trimpath -ldflags "-s -w $version" -o "$cache/bin/kubectl" k8s.io/kubernetes/cmd/kubectl
fi
ls -l "$cache/bin"
