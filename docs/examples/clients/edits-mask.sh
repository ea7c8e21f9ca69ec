curl -s "$TORANA_BASE_URL/images/edits" \
  -H "Authorization: Bearer $TORANA_KEY" \
  -F model=demo-image \
  -F 'prompt=a rowing boat' \
  -F image=@docs/pictures/harbour.png \
  -F mask=@docs/pictures/harbour-mask.png |
  node -p 'JSON.parse(require("fs").readFileSync(0)).data[0].b64_json' | base64 --decode > rowing-boat.png
