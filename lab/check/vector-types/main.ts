/**
 * The types of vectors: bit-equal to sentence-transformers, numpy and pgvector on 100,000 vectors; what each keeps of the ten
 * nearest of 5,000 real texts; and OpenAI's SDKs, which must never read a typed answer as float32. `--quick` compares 2,000
 * vectors and starts no node; `--write` writes the recall to docs/figures.json. Exits with 1 when anything differs.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { publishTexts } from '../../book/publish.ts'
import { print } from '../../report.ts'
import { Workplace } from '../../workplace.ts'
import { cacheFolder } from '../../conformance/folders.ts'
import { startDemoNode } from './demo-node.ts'
import { comparedWithPgvector, comparedWithPython } from './equality.ts'
import { measuredRecall, realTexts } from './recall.ts'
import { comparedSdks } from './sdks.ts'

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, write: { type: 'boolean', default: false } },
})
const VECTORS = options.quick ? 2000 : 100_000

await using place = new Workplace('vector-types')
const cache = join(cacheFolder, 'vector-types')
const equalities = [...comparedWithPython(cache, VECTORS), await comparedWithPgvector(cache, VECTORS)]
print([
  ['type', 'compared with', 'vectors', 'different'],
  ...equalities.map(({ type, against, vectors, differing }) => [
    type,
    against,
    String(vectors),
    String(differing),
  ]),
])

const wrongAnswers = options.quick ? 0 : await askedOfNode()
if (equalities.some(({ differing }) => differing > 0) || wrongAnswers > 0) process.exitCode = 1

/** The number of wrong answers that SDKs read. */
async function askedOfNode(): Promise<number> {
  const texts = realTexts()
  const node = await startDemoNode(place.folder)
  const sdks = await comparedSdks(node)
  print([
    ['SDK', 'requests', 'refused', 'wrong'],
    ...sdks.map(({ sdk, cases, refused, wrong }) => [
      sdk,
      String(cases),
      String(refused),
      String(wrong.length),
    ]),
  ])
  for (const { sdk, wrong } of sdks) for (const one of wrong) process.stdout.write(`${sdk} ${one}\n`)
  const recalls = await measuredRecall(node, texts)
  print([
    ['type', 'bytes', 'recall@10'],
    ...recalls.map(({ type, bytes, recall }) => [type, String(bytes), percent(recall)]),
  ])
  const lossy = recalls.filter(({ type }) => type !== 'float')
  if (options.write)
    publishTexts(
      'check/vector-types',
      Object.fromEntries(lossy.map(({ type, recall }) => [`types.recall.${type}`, percent(recall)])),
    )
  return sdks.reduce((sum, { wrong }) => sum + wrong.length, 0)
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
