/** `node lab/book/generate.ts`: fills figures and features into the pages. With `--check` it compares instead. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { docsPages, REPOSITORY } from '../../server/test/support/docs-pages.ts'
import { filled, readFeatures, type Figures } from './fill.ts'

const read = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8')
const sources = {
  figures: JSON.parse(read('docs/figures.json')) as Figures,
  features: readFeatures(read('docs/features.yaml')),
}

for (const { path, text } of docsPages()) {
  const now = filled(text, path, sources)
  if (now === text) continue
  if (process.argv.includes('--check')) {
    process.stderr.write(`${path} has figures or features of another time. Run \`npm run generate\`.\n`)
    process.exitCode = 1
  } else {
    writeFileSync(join(REPOSITORY, path), now)
    process.stdout.write(`filled ${path}\n`)
  }
}
