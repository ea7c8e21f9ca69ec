/** The worked example of the documentation; a test loads it. */
export const exampleFile = `# yaml-language-server: $schema=./torana.schema.json
upstreams:
  openai:                          # Torana knows the limits, prices and address
    provider: openai
    apiKey: \${OPENAI_API_KEY}
  azure-eu:
    dialect: azure
    resource: my-eu                # https://my-eu.openai.azure.com
    apiKey: \${AZURE_KEY}
  cohere:
    provider: cohere
    apiKey: \${COHERE_API_KEY}
  house:                           # your own OpenAI-compatible server
    dialect: openai
    baseUrl: http://embeddings.internal:8080/v1

models:
  text-embedding-3-small:          # built-in facts; anything here overrides them
    aliases: [search-embed]
    deployments:
      - upstream: openai
      - upstream: azure-eu         # the fallback if openai fails
        model: my-embedding-deployment
        priority: 1
  embed-v4.0:
    deployments:
      - upstream: cohere
  contracts-embed:                 # another id for a model with built-in facts
    facts: text-embedding-3-large
    price: { usdPerMillionTokens: 0.11 }   # a negotiated price
    deployments:
      - upstream: openai
  house-embed:                     # your own model: describe it
    kind: embedding
    embedding:
      dimensions: 1024
      maxInputTokens: 512
      tokenizer: none
      inputType:
        prefixes: { query: 'query: ', document: 'passage: ' }
        default: document
    price: free
    deployments:
      - upstream: house
        model: e5-large
        capabilities: { maxInputs: 32, encodings: [float] }
  gpt-image-2:                     # an image model; torana check shows what it can do
    deployments:
      - upstream: openai
  house-image:                     # your own image model: say what it can do
    kind: image
    price: { usdPerImage: 0.002 }
    deployments:
      - upstream: house
        model: sdxl
        capabilities:
          sizes: [1024x1024, 1344x768, 768x1344]
          formats: [png, jpeg]
          maxImages: 4
          edits: { mask: white }   # one input image, and a mask that is white where it changes

retired:
  old-embed: { on: 2026-03-31, successor: text-embedding-3-small }

projects:
  search:
    keys:
      - name: ci
        secret: \${SEARCH_CI_KEY}
        models: [text-embedding-3-small]
        expires: 2028-01-01

limits:
  requestTimeoutMs: \${REQUEST_TIMEOUT_MS:-45000}
`
