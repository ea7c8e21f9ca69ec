/** A first call to copy. Torana's key is never called `OPENAI_API_KEY`: that name is the provider's key. */
export const LANGUAGES = ['curl', 'Python', 'Node'] as const
export type SnippetLanguage = (typeof LANGUAGES)[number]

export interface FirstCall {
  readonly baseUrl: string
  /** As the shell reads it: `tr_…`, `$(cat .torana/demo.key)`. */
  readonly key: string
  readonly model: string
  readonly kind: 'embedding' | 'image'
}

export function snippetOf(language: SnippetLanguage | '.env', call: FirstCall): string {
  const variables = [`TORANA_BASE_URL=${call.baseUrl}`, `TORANA_KEY=${call.key}`]
  if (language === '.env') return variables.join('\n')
  const shell = variables.map((variable) => `export ${variable}`)
  return [...shell, '', ...CALLS[language][call.kind](call.model)].join('\n')
}

/** What a first call sends: two words that are near each other, and one that is not. */
export const FIRST_TEXTS = ['cat', 'kitten', 'car'] as const
export const FIRST_PROMPT = 'a cat on a car'

const TEXTS = FIRST_TEXTS.map((text) => `"${text}"`).join(', ')
const NODE_TEXTS = FIRST_TEXTS.map((text) => `'${text}'`).join(', ')

type Lines = (model: string) => readonly string[]

const CURL = [
  '  -H "Authorization: Bearer $TORANA_KEY" \\',
  "  -H 'Content-Type: application/json' \\",
] as const
const PYTHON = [
  "python3 - <<'END'",
  'import os',
  'from openai import OpenAI',
  'client = OpenAI(base_url=os.environ["TORANA_BASE_URL"], api_key=os.environ["TORANA_KEY"])',
] as const
const NODE = [
  "node --input-type=module <<'END'",
  "import OpenAI from 'openai'",
  'const { TORANA_BASE_URL: baseURL, TORANA_KEY: apiKey } = process.env',
  'const client = new OpenAI({ baseURL, apiKey })',
] as const

const CALLS: Record<SnippetLanguage, Record<FirstCall['kind'], Lines>> = {
  curl: {
    embedding: (model) => [
      'curl $TORANA_BASE_URL/embeddings \\',
      ...CURL,
      `  -d '{"model": "${model}",`,
      `       "input": [${TEXTS}]}'`,
    ],
    image: (model) => [
      'curl $TORANA_BASE_URL/images/generations \\',
      ...CURL,
      `  -d '{"model": "${model}",`,
      `       "prompt": "${FIRST_PROMPT}"}'`,
    ],
  },
  Python: {
    embedding: (model) => [
      ...PYTHON,
      'answer = client.embeddings.create(',
      `    model="${model}",`,
      `    input=[${TEXTS}],`,
      ')',
      'print(len(answer.data[0].embedding))',
      'END',
    ],
    image: (model) => [
      ...PYTHON,
      `answer = client.images.generate(model="${model}", prompt="${FIRST_PROMPT}")`,
      'print(len(answer.data))',
      'END',
    ],
  },
  Node: {
    embedding: (model) => [
      ...NODE,
      'const answer = await client.embeddings.create({',
      `  model: '${model}',`,
      `  input: [${NODE_TEXTS}],`,
      '})',
      'console.log(answer.data[0].embedding.length)',
      'END',
    ],
    image: (model) => [
      ...NODE,
      `const answer = await client.images.generate({ model: '${model}', prompt: '${FIRST_PROMPT}' })`,
      'console.log(answer.data.length)',
      'END',
    ],
  },
}
