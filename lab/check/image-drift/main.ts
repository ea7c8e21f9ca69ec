/**
 * The space guard and images: what honest and changed image encoders do to the cosine of the probe images, and a node before
 * upstreams of every wire, whose image encoder changes (all must be quarantined at the next probe) or whose decoder is noisy
 * (none may be). `--models 20 --probes 1000`. Exits with 1 when a probe is judged wrongly.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { contentModel, contentWires, type ContentWire } from '../../conformance/content-wires.ts'
import type { ModelEntry } from '../../conformance/rows.ts'
import { configFor } from '../../conformance/torana.ts'
import { startFakeProvider } from '../../fake-provider/server.ts'
import { print, Report } from '../../report.ts'
import { REPOSITORY, startTorana } from '../../torana.ts'
import { Workplace } from '../../workplace.ts'
import { bellOf, encoderOf, pixelsOf, trainedOn, vectorOf } from './encoder.ts'

const { values: options } = parseArgs({
  options: { models: { type: 'string', default: '20' }, probes: { type: 'string', default: '1000' } },
})
const [MODELS, PROBES] = [Number(options.models), Number(options.probes)]
const TOKEN = 'image-drift-admin-token-0001'
/** What a decoder adds to values, in millionths. */
const NOISE = 1000
const WIDTHS = [256, 768, 1024, 1408, 1536, 2048, 3072, 4096]
/** The input type that some wires need in every call, as the catalog has it for their models. */
const INPUT_TYPES: Readonly<Record<string, object>> = {
  cohere: { field: 'inputType', values: { document: 'search_document' }, default: 'document' },
  nova: { field: 'embeddingPurpose', values: { document: 'GENERIC_INDEX' }, default: 'document' },
}

await measureEncoders()
measureNoise()
process.exitCode = (await judgeProbes()) ? 0 : 1

/** By a stand-in encoder, on the probe images themselves. */
async function measureEncoders(): Promise<void> {
  const folder = join(REPOSITORY, 'server/src/worker/spaces/probe-images')
  const images = globSync('*.{jpg,png}', { cwd: folder }).map((name) => readFileSync(join(folder, name)))
  const encoder = encoderOf(1, 256)
  const random = bellOf(3)
  const rounded = (pixels: Uint8Array): Uint8Array =>
    Uint8Array.from(pixels, (value) => Math.min(255, Math.max(0, value + Math.sign(Math.round(random())))))
  const changes: readonly (readonly [string, (image: Buffer) => Promise<Float32Array>])[] = [
    ['decoder off by one level', async (image) => vectorOf(encoder, rounded(await pixelsOf(image)))],
    ['scaled by another filter', async (image) => vectorOf(encoder, await pixelsOf(image, 'cubic'))],
    ['weights off by 1 %', async (image) => vectorOf(trainedOn(encoder, 0.01), await pixelsOf(image))],
    ['weights off by 30 %', async (image) => vectorOf(trainedOn(encoder, 0.3), await pixelsOf(image))],
    ['red and blue swapped', async (image) => vectorOf(encoder, swapped(await pixelsOf(image)))],
    ['another encoder', async (image) => vectorOf(encoderOf(2, 256), await pixelsOf(image))],
  ]
  const rows = await Promise.all(
    changes.map(async ([what, change]) => {
      const cosines = await Promise.all(
        images.map(async (image) => cosine(vectorOf(encoder, await pixelsOf(image)), await change(image))),
      )
      return [what, Math.min(...cosines).toFixed(6)]
    }),
  )
  print([['stand-in encoder, 256 wide', 'least cosine of the images'], ...rows])
}

function swapped(pixels: Uint8Array): Uint8Array {
  return pixels.map((_, at) => pixels[at + [2, 0, -2][at % 3]!] ?? 0)
}

/** Of unit vectors whose values are off by up to a thousandth: evenly, and each by all of it. */
function measureNoise(): void {
  const random = bellOf(5)
  const rows = WIDTHS.map((width) => {
    const draw = (noise: () => number): number =>
      Math.min(
        ...Array.from({ length: 100 }, () => {
          const vector = Float32Array.from({ length: width }, random)
          const length = Math.hypot(...vector)
          return cosine(
            vector,
            vector.map((value) => value + NOISE * 1e-6 * length * noise()),
          )
        }),
      )
    const most = draw(() => Math.sign(random()))
    return [String(width), draw(() => 2 * Math.random() - 1).toFixed(6), most.toFixed(6)]
  })
  print([['width', 'off by up to 0.001', 'off by 0.001 each'], ...rows])
}

function cosine(one: Float32Array, other: Float32Array): number {
  const product = one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)
  return product / (Math.hypot(...one) * Math.hypot(...other))
}

interface Probe {
  readonly verdict: string
  readonly reason: string | null
  readonly least_cosine: number | null
}

async function judgeProbes(): Promise<boolean> {
  await using place = new Workplace('image-drift')
  const provider = await startFakeProvider()
  const wires = Array.from({ length: MODELS }, (_, index) => wireAt(index))
  const models = Object.fromEntries(wires.map((wire, index) => [nameOf(index), modelOf(wire, nameOf(index))]))
  const config = configFor([{ models }], provider.url, { spaceGuard: true })
  const torana = await startTorana({ folder: place.folder, config, env: { TORANA_ADMIN_TOKEN: TOKEN } })
  const probe = async (model: string): Promise<Probe> => {
    const answer = await fetch(`${torana.controlUrl}/api/v1/spaces/${model}/probe`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}` },
    })
    const { data } = (await answer.json()) as { readonly data: readonly Probe[] }
    return data[0] ?? { verdict: 'none', reason: await answer.text(), least_cosine: null }
  }
  const names = Object.keys(models)
  const wrong: string[] = []
  const expect = async (model: string, verdict: string, reason = /^$/): Promise<Probe> => {
    const seen = await probe(model)
    if (seen.verdict !== verdict || !reason.test(seen.reason ?? ''))
      wrong.push(`${model}: ${seen.verdict} instead of ${verdict} (${seen.reason})`)
    return seen
  }
  const report = new Report()

  for (const model of names) await expect(model, 'good')
  let caught = 0
  for (const model of names) {
    await provider.setMode(model, { traits: 'other-image-encoder' })
    const seen = await expect(model, 'quarantined', /^images are in another space/)
    if (seen.verdict === 'quarantined') caught += 1
    await provider.setMode(model, {})
    await expect(model, 'good')
  }
  report.aim(
    'changed image encoders quarantined at the next probe',
    `${caught} of ${MODELS}`,
    'all',
    caught === MODELS,
  )

  for (const model of names) await provider.setMode(model, { traits: `image-noise-${NOISE}` })
  let [judged, least] = [0, 1]
  for (let round = 0; round < PROBES; round += 1) {
    const seen = await expect(names[round % names.length] as string, 'good')
    if (seen.verdict !== 'good') judged += 1
    least = Math.min(least, seen.least_cosine ?? 0)
  }
  const noise = `${judged} of ${PROBES}, least cosine ${least.toFixed(7)}`
  report.aim('probes with noise of 0.001 warned or quarantined', noise, 'none', judged === 0)
  report.print(`Space guard, images by ${new Set(wires.map(({ name }) => name)).size} wires`)
  for (const one of wrong) process.stdout.write(`${one}\n`)
  await torana.stop()
  await provider.close()
  return report.isKept && wrong.length === 0
}

function nameOf(index: number): string {
  return `images-${index}`
}

/** Every wire in turn; after them, widths of real models on a wire that takes any. */
function wireAt(index: number): ContentWire {
  const wire = contentWires[index % contentWires.length] as ContentWire
  if (index < contentWires.length) return wire
  const any = contentWires.find(({ name }) => name === 'openrouter') as ContentWire
  const width = WIDTHS[index % WIDTHS.length] as number
  return { ...any, model: `wide-w${width}`, width }
}

function modelOf(wire: ContentWire, mode: string): ModelEntry {
  const { played, entry } = contentModel(wire)
  const inputType = INPUT_TYPES[wire.name] ?? 'none'
  return {
    entry: { ...entry, embedding: { ...(entry['embedding'] as object), inputType } },
    played: played.map((one) => ({ ...one, traits: `${one.traits}+mode-${mode}` })),
  }
}
