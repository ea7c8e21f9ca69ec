/** OpenAI's own SDKs against a real node: a typed vector arrives as its numbers, or the request is refused; never as float32. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { install } from '../../conformance/install.ts'
import { cacheFolder, sourceFolder } from '../../conformance/folders.ts'
import type { DemoNode } from './demo-node.ts'

const TYPES = ['float', 'float16', 'int8', 'uint8', 'binary', 'ubinary'] as const
const FORMS = [undefined, 'float', 'base64'] as const
/** Versions that read numbers as bytes of float32 unless the application names a form. */
const DANGEROUS = new Set(['openai-4', 'openai-5', 'openai-6'])
const REFUSED = 'invalid_parameter'

interface Outcome {
  readonly embedding?: readonly number[] | string
  readonly error?: string
}

export interface SdkResult {
  readonly sdk: string
  readonly cases: number
  readonly refused: number
  readonly wrong: readonly string[]
}

export async function comparedSdks(node: DemoNode): Promise<readonly SdkResult[]> {
  await install(new Set(['node', 'python']))
  const input = 'A short text about birds.'
  const cases = TYPES.flatMap((output_dtype) =>
    FORMS.map((form) => ({ output_dtype, ...(form && { encoding_format: form }) })),
  )
  const asked = JSON.stringify({
    baseUrl: `${node.url}/v1`,
    apiKey: node.key,
    model: node.model,
    input,
    cases,
  })
  const numbers = new Map<string, readonly number[]>()
  for (const type of TYPES) numbers.set(type, await node.numbersOf(input, type))
  const results: SdkResult[] = []
  for (const sdk of ['openai-4', 'openai-5', 'openai-6', 'openai-7', 'openai-python']) {
    const outcomes = JSON.parse(outputOf(sdk, asked)) as readonly Outcome[]
    const wrong = cases.flatMap((one, index) => {
      const fault = faultIn(sdk, one, outcomes[index] ?? {}, numbers.get(one.output_dtype) ?? [])
      return fault === undefined ? [] : [`${JSON.stringify(one)}: ${fault}`]
    })
    const refused = outcomes.filter(({ error }) => error !== undefined).length
    results.push({ sdk, cases: cases.length, refused, wrong })
  }
  return results
}

function outputOf(sdk: string, asked: string): string {
  const options = { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const
  if (sdk === 'openai-python')
    return execFileSync(
      join(cacheFolder, 'python', 'bin', 'python'),
      [join(sourceFolder, 'python', 'openai_types.py'), asked],
      options,
    )
  return execFileSync(process.execPath, [join(cacheFolder, 'node', 'openai-types.js'), sdk, asked], options)
}

function faultIn(
  sdk: string,
  { output_dtype: type, encoding_format: form }: { output_dtype: string; encoding_format?: string },
  { embedding, error }: Outcome,
  expected: readonly number[],
): string | undefined {
  const isRefused = DANGEROUS.has(sdk) && type !== 'float' && form !== 'float'
  if (isRefused) return error === REFUSED ? undefined : `got ${error ?? 'an answer'} instead of ${REFUSED}`
  if (error !== undefined) return `refused as ${error}`
  // The application asked for base64 of float32 by name, and gets the text as it is.
  const read = typeof embedding === 'string' ? floatsIn(embedding) : embedding
  if (typeof embedding === 'string' && type !== 'float') return 'got a text'
  // JSON holds the shortest decimal of a float32.
  const valueOf = type === 'float' ? Math.fround : (value: number) => value
  const isSame =
    read?.length === expected.length && read.every((value, index) => valueOf(value) === expected[index])
  return isSame ? undefined : `got ${read?.length} numbers that differ from the answer`
}

function floatsIn(base64: string): readonly number[] {
  return [...new Float32Array(new Uint8Array(Buffer.from(base64, 'base64')).buffer)]
}
