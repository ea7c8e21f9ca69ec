/** Every day of the age, wherever its entries are now, against the formula. */
import { basename } from 'node:path'
import { withDatabase } from '../../chaos/ledger-checks.ts'
import type { Torana } from '../../torana.ts'
import type { Bucket, ColdObject } from './cold.ts'
import { DAY_MS, type Age } from './formula.ts'
import { dayText } from './generate.ts'
import { dayRows, differencesOf, expectedOf, hotRows, JUDGED, type SumsRow } from './judge.ts'
import { exportedCorrections, hotDays } from './progress.ts'
import { ask } from './questions.ts'

export interface Judged {
  readonly problems: readonly string[]
  readonly hot: number
  readonly cold: number
  readonly dropped: number
}

interface Ledger {
  readonly age: Age
  readonly node: Torana
  readonly databaseUrl: string
  readonly bucket: Bucket
  /** Age at which the worker posts unknowns. */
  readonly unknownMs: number
}

export async function judgeAll(ledger: Ledger): Promise<Judged> {
  const { age, node, databaseUrl, bucket, unknownMs } = ledger
  const problems: string[] = []
  const objects = await bucket.list()
  const hot = new Set(await withDatabase(databaseUrl, (client) => hotDays(client, age.firstDayMs, age.days)))
  let [cold, nano] = [0, 0n]
  for (let day = 0; day < age.days; day += 1) {
    const fromMs = age.firstDayMs + day * DAY_MS
    const name = dayText(fromMs)
    const expected = expectedOf(age, day, fromMs + DAY_MS < Date.now() - unknownMs)
    for (const group of expected.totals.names()) nano += expected.totals.of(group, 'amount_nano')
    await withDatabase(databaseUrl, async (client) => {
      const days = await dayRows(client, name, expected.entries)
      problems.push(...differencesOf(`${name} as a day`, expected, days))
      if (!hot.has(day)) return
      problems.push(...differencesOf(`${name} in PostgreSQL`, expected, await hotRows(client, fromMs)))
    })
    const own = objects.filter(({ key }) => key.includes(`/day=${name}/`))
    if (own.length === 0) continue
    cold += 1
    // Of a day that is still in PostgreSQL, late posts are exported when a day has passed since, or before it is dropped.
    const late = await withDatabase(databaseUrl, (client) => exportedCorrections(client, fromMs))
    problems.push(...(await judgeFiles(ledger, day, own, !hot.has(day) || late > 0)))
  }
  problems.push(...(await judgeReport(node, age, nano)))
  return { problems, hot: hot.size, cold, dropped: age.days - hot.size }
}

interface SignedManifest {
  readonly manifest: {
    readonly number: number
    readonly groups: readonly Partial<SumsRow>[]
    readonly files: readonly { readonly name: string; readonly sha256: string }[]
  }
}

async function judgeFiles(
  { age, bucket }: Ledger,
  day: number,
  own: readonly ColdObject[],
  isSettled: boolean,
): Promise<readonly string[]> {
  const name = dayText(age.firstDayMs + day * DAY_MS)
  const expected = expectedOf(age, day, isSettled)
  const files = own.filter(({ key }) => key.endsWith('.parquet')).map(({ key }) => key)
  const manifests: SignedManifest['manifest'][] = []
  for (const { key } of own.filter(({ key }) => key.endsWith('.json'))) {
    const { manifest } = JSON.parse(Buffer.from(await bucket.read(key)).toString()) as SignedManifest
    manifests.push(manifest)
  }
  const newest = manifests.toSorted((left, right) => right.number - left.number)[0]
  if (newest === undefined) return [`${name} has no manifest`]
  const { rows, hashes } = await bucket.sumsOf(files)
  const listed = new Map(newest.files.map((file) => [basename(file.name), file.sha256]))
  return [
    ...differencesOf(`${name} in the bucket`, expected, rows),
    ...differencesOf(
      `${name} in its manifest`,
      expected,
      newest.groups,
      // It does not count entries without a price.
      JUDGED.filter((sum) => sum !== 'unpriced'),
    ),
    ...[...hashes]
      .filter(([file, hash]) => listed.get(file) !== hash)
      .map(([file]) => `${name}: ${file} is not what its manifest says`),
    ...(listed.size === hashes.size
      ? []
      : [`${name}: ${hashes.size} files, and ${listed.size} in the manifest`]),
  ]
}

/** The console's sum over all days. */
async function judgeReport(node: Torana, age: Age, nano: bigint): Promise<readonly string[]> {
  const [from, to] = [age.firstDayMs, age.firstDayMs + age.days * DAY_MS].map((ms) =>
    new Date(ms).toISOString(),
  )
  const { body } = await ask(node, 'usage', `/usage?by=project&slot=day&from=${from}&to=${to}`)
  const { total } = body as { total: { usd: string } }
  const [whole = '0', fraction = ''] = total.usd.split('.')
  const found = BigInt(whole + fraction.padEnd(9, '0'))
  return found === nano ? [] : [`the report says ${found} nano-dollars, expected ${nano}`]
}
