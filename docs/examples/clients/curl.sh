curl -s "$TORANA_BASE_URL/embeddings" \
  -H "Authorization: Bearer $TORANA_KEY" \
  -H 'Content-Type: application/json' \
  -d '{"model": "demo-embed", "input": ["cat", "kitten", "car"]}'
