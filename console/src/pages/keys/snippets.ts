/** The shortest call with a key, in a few languages. */
export const SNIPPETS = ['curl', 'Python', 'Node', '.env'] as const
export type Snippet = (typeof SNIPPETS)[number]

interface Filled {
  readonly url: string
  readonly model: string
  readonly secret: string
}

const MAKERS: Record<Snippet, (filled: Filled) => string> = {
  curl: ({ url, model, secret }) =>
    [
      `curl ${url}/v1/embeddings \\`,
      `  -H "Authorization: Bearer ${secret}" \\`,
      '  -H "Content-Type: application/json" \\',
      `  -d '${JSON.stringify({ model, input: 'cat' }).replaceAll(':', ': ').replace(',', ', ')}'`,
    ].join('\n'),
  Python: ({ url, model, secret }) =>
    [
      'from openai import OpenAI',
      `client = OpenAI(base_url="${url}/v1", api_key="${secret}")`,
      `client.embeddings.create(model="${model}", input="cat")`,
    ].join('\n'),
  Node: ({ url, model, secret }) =>
    [
      "import OpenAI from 'openai'",
      `const client = new OpenAI({ baseURL: '${url}/v1', apiKey: '${secret}' })`,
      `await client.embeddings.create({ model: '${model}', input: 'cat' })`,
    ].join('\n'),
  '.env': ({ url, secret }) => [`TORANA_BASE_URL=${url}/v1`, `TORANA_KEY=${secret}`].join('\n'),
}

export function snippetOf(snippet: Snippet, filled: Filled): string {
  return MAKERS[snippet](filled)
}
