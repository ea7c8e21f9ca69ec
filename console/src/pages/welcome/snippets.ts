/** The first call, for a person to copy. */
export const LANGUAGES = ['curl', 'Python', 'Node'] as const
export type SnippetLanguage = (typeof LANGUAGES)[number]

/** `hasDemoKey`: the node made a key for its first start, and keeps it in its data folder. */
export function snippetOf(language: SnippetLanguage, baseUrl: string, hasDemoKey: boolean): string {
  const shell = [
    `export OPENAI_BASE_URL=${baseUrl}`,
    `export OPENAI_API_KEY=${hasDemoKey ? '$(cat .torana/demo.key)' : "'your key'"}`,
    '',
  ]
  return [...shell, ...CALLS[language]].join('\n')
}

const CALLS: Record<SnippetLanguage, readonly string[]> = {
  curl: [
    'curl $OPENAI_BASE_URL/embeddings \\',
    '  -H "Authorization: Bearer $OPENAI_API_KEY" \\',
    "  -H 'Content-Type: application/json' \\",
    '  -d \'{"model": "demo-embed",',
    '       "input": ["cat", "kitten", "car"]}\'',
  ],
  Python: [
    "python3 - <<'END'",
    'from openai import OpenAI',
    'answer = OpenAI().embeddings.create(',
    '    model="demo-embed",',
    '    input=["cat", "kitten", "car"],',
    ')',
    'print(len(answer.data[0].embedding))',
    'END',
  ],
  Node: [
    "node --input-type=module <<'END'",
    "import OpenAI from 'openai'",
    'const answer = await new OpenAI().embeddings.create({',
    "  model: 'demo-embed',",
    "  input: ['cat', 'kitten', 'car'],",
    '})',
    'console.log(answer.data[0].embedding.length)',
    'END',
  ],
}
