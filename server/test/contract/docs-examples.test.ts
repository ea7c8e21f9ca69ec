/** What the documentation shows is what runs: its examples are files, repeated word for word, and each one loads. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readEnvironment } from '#config/environment.ts'
import { readText } from '#config/file/variable.ts'
import { loadCatalog } from '#config/load.ts'

const docs = join(import.meta.dirname, '../../../docs')
const pages = globSync('*.md', { cwd: docs }).map((page) => readFileSync(join(docs, page), 'utf8'))
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
