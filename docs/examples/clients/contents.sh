IMAGE=$(base64 < docs/pictures/lighthouse.png | tr -d '\n')
curl -s "$TORANA_BASE_URL/embeddings" \
  -H "Authorization: Bearer $TORANA_KEY" \
  -H 'Content-Type: application/json' \
  --data-binary @- <<JSON
{
  "model": "gemini-embedding-2",
  "input": [
    {
      "content": [
        { "type": "text", "text": "A lighthouse at dusk" },
        { "type": "image_url", "image_url": { "url": "data:image/png;base64,$IMAGE" } }
      ]
    }
  ]
}
JSON
