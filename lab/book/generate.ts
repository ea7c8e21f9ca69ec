/** `node lab/book/generate.ts`: fills measured figures, defaults and features into the pages, and draws the chart. With `--check` it compares instead. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { docsPages, REPOSITORY } from '../../server/test/support/docs-pages.ts'
import { peerParts } from '../bench/peers/document.ts'
import { readmePlots } from '../bench/peers/readme-plot.ts'
import { keptFigures } from '../bench/peers/write.ts'
import { sizingParts } from '../bench/scale/document.ts'
import { keptSizing } from '../bench/scale/figures.ts'
import { defaultText } from './defaults.ts'
import { filled, missingText, noiseText, readFeatures } from './fill.ts'
import { publishedFigures } from './publish.ts'

const read = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8')
const peers = keptFigures()
const figures = publishedFigures()
/** Of `bench/ledger`. */
const ledgerPerSecond = Number(figures['rate.ledger.postgres']?.text.replaceAll(',', ''))
const sources = {
  figures,
  defaultText,
  parts: {
    'missing-features': missingText(readFeatures(read('docs/features.yaml'))),
    ...peerParts(peers),
    ...sizingParts(keptSizing(), ledgerPerSecond),
    'measured-noise': noiseText(figures['noise.bare']),
  },
}

for (const { path, text } of docsPages()) write(path, text, filled(text, path, sources))
for (const [name, chart] of Object.entries(readmePlots(peers.contenders)))
  write(`docs/${name}`, read(`docs/${name}`), chart)

function write(path: string, text: string, now: string): void {
  if (now === text) return
  if (process.argv.includes('--check')) {
    process.stderr.write(
      `${path} has figures, defaults or features of another time. Run \`npm run generate\`.\n`,
    )
    process.exitCode = 1
  } else {
    writeFileSync(join(REPOSITORY, path), now)
    process.stdout.write(`filled ${path}\n`)
  }
}
