curl -s "$TORANA_BASE_URL/images/edits" \
  -H "Authorization: Bearer $TORANA_KEY" \
  -F model=demo-image \
  -F 'prompt=make it night' \
  -F image=@docs/pictures/harbour.png |
  node -p 'JSON.parse(require("fs").readFileSync(0)).data[0].b64_json' | base64 --decode > night.png
