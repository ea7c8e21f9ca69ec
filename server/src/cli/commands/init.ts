/** `torana init`: prints a torana.yaml to start from. */
import { command } from '../command/command.ts'

const STARTER = `# yaml-language-server: $schema=./torana.schema.json
# Torana serves what this file declares. Check it with: torana check
# Editors complete and check it with the schema: torana schema > torana.schema.json
# \${VAR} is an environment variable, or the content of the file that VAR_FILE names.

# Endpoints with their credentials.
upstreams:
  openai:
    provider: openai
    apiKey: \${OPENAI_API_KEY}

  # Azure OpenAI: the name of your resource.
  # azure-eu:
  #   dialect: azure
  #   resource: my-resource
  #   apiKey: \${AZURE_API_KEY}

  # Your own OpenAI-compatible server (TEI, vLLM, Ollama, Infinity, LM Studio…).
  # house:
  #   provider: tei
  #   baseUrl: http://localhost:3000/v1

# The models that callers may use. Torana knows the limits, widths and prices of well-known models.
models:
  text-embedding-3-small:
    deployments:
      - upstream: openai
      # A fallback, used when the one above fails; \`model\` is the name of your Azure deployment.
      # - upstream: azure-eu
      #   model: my-embedding-deployment
      #   priority: 1

  text-embedding-3-large:
    deployments:
      - upstream: openai

  # An image model.
  # gpt-image-2:
  #   deployments:
  #     - upstream: openai

  # A model that Torana does not know: describe it.
  # house-embed:
  #   kind: embedding
  #   embedding: { dimensions: 1024, maxInputTokens: 512, tokenizer: none }
  #   price: free
  #   cache: { ttl: 7d }
  #   deployments:
  #     - upstream: house
  #       model: my-model

# The callers: projects and their keys. A key has at least 24 characters; keep it in a variable.
# The command torana key prints a new one. Without a key, every request is refused.
projects:
  # search:
  #   limits: { requestsPerMinute: 600 }
  #   budget: { usd: 200, per: month, hard: true }
  #   webhooks:
  #     - url: https://finance.example.com/torana
  #       secret: \${FINANCE_WEBHOOK_SECRET}
  #   keys:
  #     - name: ci
  #       secret: \${SEARCH_CI_KEY}
  #       models: [text-embedding-3-small]
`

export const init = command({
  name: 'init',
  summary: 'print a commented torana.yaml to start from',
  reach: 'none',
  isPlain: true,
  examples: ['torana init > torana.yaml'],
  async run({ out }) {
    out.stdout.write(STARTER)
    return 0
  },
})
