#!/usr/bin/env bash
# Images of others that an install or a release runs: the bases of the Dockerfile, those of compose, and binfmt of the image workflow.
# A tag can be moved to another image, a digest can not.
#   deploy/pin-images.sh            asks the registries, and writes the digest behind each tag: docker.io/library/redis:8@sha256:…
#   deploy/pin-images.sh --check    names those without a digest, and fails if there are any
# Needs docker with buildx, and a way to the registries. Run it before a release, look at the change, and commit it.
set -euo pipefail
cd "$(dirname "$0")/.."

files=(deploy/docker/Dockerfile deploy/compose/compose.yaml .github/workflows/image.yml)
reference='(docker\.io|gcr\.io|quay\.io)/[a-z0-9./_-]+(:[A-Za-z0-9._-]+)?(@sha256:[0-9a-f]{64})?'

unpinned=0
for image in $(grep --no-filename --only-matching --extended-regexp "$reference" "${files[@]}" | sort --unique); do
  tagged=${image%@*}
  if [ "${1:-}" = --check ]; then
    [ "$image" != "$tagged" ] || { echo "without a digest: $image"; unpinned=1; }
    continue
  fi
  digest=$(docker buildx imagetools inspect --format '{{.Manifest.Digest}}' "$tagged")
  [[ $digest =~ ^sha256:[0-9a-f]{64}$ ]] || { echo "$tagged: the registry gave no digest: $digest" >&2; exit 1; }
  sed --in-place "s|${image//./\\.}|$tagged@$digest|g" "${files[@]}"
  echo "$tagged@$digest"
done
exit "$unpinned"
