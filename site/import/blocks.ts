/** Code blocks of a page get their titles, and output is joined to the command that printed it. */

/** Names of languages as readers know them. */
const TITLES: Readonly<Record<string, string>> = {
  sh: 'Shell',
  bash: 'Shell',
  python: 'Python',
  py: 'Python',
  js: 'JavaScript',
  javascript: 'JavaScript',
  ts: 'TypeScript',
  typescript: 'TypeScript',
  go: 'Go',
  java: 'Java',
  csharp: 'C#',
  yaml: 'YAML',
  json: 'JSON',
  jsonl: 'JSON Lines',
  sql: 'SQL',
  nginx: 'nginx',
  dockerfile: 'Dockerfile',
  http: 'HTTP',
  html: 'HTML',
  csv: 'CSV',
  promql: 'PromQL',
}
/** Languages of what a program prints. */
const PRINTED = new Set(['text', 'json', 'jsonl', 'csv', ''])
/** Languages of what a reader runs. */
const RUN = new Set(['sh', 'bash', 'python', 'js', 'ts', 'go', 'java', 'sql'])

/** Markdown with `title` and `output` after the language of each block. */
export function withTitles(markdown: string): string {
  let before: { readonly language: string; readonly end: number } | undefined
  return markdown.replaceAll(
    /^( *)```([\w-]*)[^\n]*\n([\s\S]*?)^ *```$/gm,
    (block, indent: string, language: string, code: string, offset: number) => {
      const between = before === undefined ? 'far' : markdown.slice(before.end, offset)
      const isNext = between.replaceAll(/<!--[\s\S]*?-->/g, '').trim() === ''
      const isOutput = isNext && RUN.has(before?.language ?? '') && PRINTED.has(language)
      before = { language: isOutput ? '' : language, end: offset + block.length }
      if (language === 'mermaid') return block
      return `${indent}\`\`\`${language || 'text'} ${isOutput ? 'output' : titleOf(language, code)}\n${code}${indent}\`\`\``
    },
  )
}

/** The name of the file if the first line is a comment that names one: `# /etc/torana/torana.yaml`. */
function titleOf(language: string, code: string): string {
  const [, file] = /^(?:#|\/\/|--) (\S+\.\w{2,5})\n/.exec(code) ?? []
  const title = file ?? TITLES[language] ?? ''
  return title === '' ? '' : `title=${JSON.stringify(title)}`
}
