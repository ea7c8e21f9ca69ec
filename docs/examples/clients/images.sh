curl -s "$TORANA_BASE_URL/images/generations" \
  -H "Authorization: Bearer $TORANA_KEY" \
  -H 'Content-Type: application/json' \
  -d '{"model": "demo-image", "prompt": "a lighthouse in the fog"}' |
  node -p 'JSON.parse(require("fs").readFileSync(0)).data[0].b64_json' | base64 --decode > lighthouse.png
