/** The documentation shows what runs: its examples are files, repeated word for word, and each one loads. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { builtInFacts } from '#config/build/facts.ts'
import { readEnvironment } from '#config/environment.ts'
import { readText } from '#config/file/variable.ts'
import { loadCatalog, readConfig } from '#config/load.ts'
import { docsBlocks, type Block } from '#test/support/docs-blocks.ts'
import { REPOSITORY } from '#test/support/docs-pages.ts'

const docs = join(import.meta.dirname, '../../../docs')
const pages = globSync('{,recipes/}*.md', { cwd: docs }).map((page) => readFileSync(join(docs, page), 'utf8'))
const examples = globSync('examples/**/*.*', { cwd: docs }).filter(
  (file) => !/go\.(mod|sum)$|package/.test(file),
)

assert.ok(pages.length > 5 && examples.length > 20, 'found too little: the checks would pass vacuously')

for (const file of examples) {
  const text = readFileSync(join(docs, file), 'utf8')

  test(`docs/${file} stands in the documentation word for word`, () => {
    assert.ok(pages.some((page) => page.includes(text.trim())))
  })

  if (!file.endsWith('.yaml')) continue
  test(`docs/${file} is a configuration that loads`, () => {
    const variables = [...text.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name)
    const secrets = variables.map((name, index) => [name, `example-${index}-0123456789abcdef`])
    const env = { ...Object.fromEntries(secrets), TORANA_CONFIG: join(docs, file) }
    const { catalog } = loadCatalog(readEnvironment(env, docs, readText), env)
    assert.ok(catalog.models.size > 0)
  })
}

/** Looked at elsewhere: `import-litellm/src/import-file.test.ts`, `config/schema/price.test.ts`, and by Prometheus itself. */
const ELSEWHERE = /^(?:model_list|price|scrape_configs):/m
const files = new Set(examples.map((file) => readFileSync(join(docs, file), 'utf8').trim()))

for (const block of docsBlocks().filter(({ language }) => language === 'yaml')) {
  const { page, line, text } = block
  if (ELSEWHERE.test(text) || [...files].some((file) => file.includes(text.trim()))) continue
  test(`the YAML at ${page}:${line} is what Torana or its chart reads`, () => {
    const content = parse(text) as Record<string, unknown>
    const values = parse(readFileSync(join(REPOSITORY, 'deploy/helm/torana/values.yaml'), 'utf8')) as object
    if (Object.keys(content).every((name) => name in values)) assertKnown(content, values, page)
    else loadFragment(block, content)
  })
}

/** Every name exists in the values of the chart; lists and empty mappings accept anything. */
function assertKnown(content: object, values: object, where: string): void {
  for (const [name, value] of Object.entries(content)) {
    assert.ok(name in values, `${where}: the chart has no ${name}`)
    const known = (values as Record<string, unknown>)[name]
    const isMapping = typeof known === 'object' && known !== null && !Array.isArray(known)
    if (isMapping && Object.keys(known).length > 0) assertKnown(value as object, known, `${where}: ${name}`)
  }
}

/** A page shows the part that it is about; the rest of the file is added here. */
function loadFragment({ text, page, line }: Block, content: Readonly<Record<string, unknown>>): void {
  const rest = {
    upstreams: 'upstreams: { openai: { provider: openai, apiKey: ${OPENAI_API_KEY} } }',
    models: 'models: { text-embedding-3-small: { deployments: [{ upstream: openai }] } }',
  }
  const added = Object.entries(rest).flatMap(([name, yaml]) => (name in content ? [] : [yaml]))
  const secrets = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = ''], index) => [
    name,
    `example-${index}-0123456789abcdef`,
  ])
  const models = readConfig(`${page}:${line}`, [text, ...added].join('\n'), {
    env: { OPENAI_API_KEY: 'sk-example-0123456789abcdef', ...Object.fromEntries(secrets) },
    readFile: String,
    facts: builtInFacts(),
    bootstrapKey: undefined,
    nowMs: Date.parse('2026-11-16'),
  })
  assert.ok(models.catalog.models.size > 0)
}
