/** Every day of the age, wherever its entries are now, against the formula. */
import { withDatabase } from '../../chaos/books.ts'
import type { Torana } from '../../torana.ts'
import type { Bucket } from './cold.ts'
import { DAY_MS, type Age } from './formula.ts'
import { dayText } from './generate.ts'
import { dayRows, differencesOf, expectedOf, hotRows } from './judge.ts'
import { hotDays } from './progress.ts'
import { ask } from './questions.ts'

export interface Judged {
  readonly problems: readonly string[]
  readonly hot: number
  readonly cold: number
  readonly dropped: number
  readonly corrections: number
}

interface Manifest {
  readonly files: readonly { readonly name: string; readonly sha256: string; readonly bytes: number }[]
}

export async function judgeAll({
  age,
  node,
  databaseUrl,
  bucket,
  weekMs,
}: {
  readonly age: Age
  readonly node: Torana
  readonly databaseUrl: string
  readonly bucket: Bucket
  readonly weekMs: number
}): Promise<Judged> {
  const problems: string[] = []
  const objects = await bucket.list()
  const counts = { hot: 0, cold: 0, dropped: 0 }
  const hot = new Set(await withDatabase(databaseUrl, (client) => hotDays(client, age.firstDayMs, age.days)))
  let nano = 0n
  for (let day = 0; day < age.days; day += 1) {
    const fromMs = age.firstDayMs + day * DAY_MS
    const name = dayText(fromMs)
    const isSettled = fromMs + DAY_MS < Date.now() - weekMs
    const expected = expectedOf(age, day, isSettled)
    for (const group of expected.totals.names()) nano += expected.totals.of(group, 'amount_nano')
    if (hot.has(day)) {
      const rows = await withDatabase(databaseUrl, (client) => hotRows(client, fromMs))
      problems.push(...differencesOf(`${name} in PostgreSQL`, expected, rows))
      counts.hot += 1
    } else counts.dropped += 1
    const days = await withDatabase(databaseUrl, (client) => dayRows(client, name, expected.entries))
    problems.push(...differencesOf(`${name} as a day`, expected, days))
    const own = objects.filter(({ key }) => key.includes(`/day=${name}/`))
    const files = own.filter(({ key }) => key.endsWith('.parquet')).map(({ key }) => key)
    const manifests = own.filter(({ key }) => key.endsWith('.json'))
    if (files.length === 0) continue
    const cold = await bucket.sumsOf(files)
    problems.push(...differencesOf(`${name} in the bucket`, expected, cold.rows))
    counts.cold += 1
    for (const { key } of manifests) {
      const manifest = JSON.parse(Buffer.from(await bucket.read(key)).toString()) as Manifest
      for (const file of manifest.files)
        if (cold.hashes.get(file.name) !== file.sha256)
          problems.push(`${key}: the hash of ${file.name} is another`)
    }
  }
  const corrections = await withDatabase(databaseUrl, async (client) => {
    const { rows } = await client.query<{ count: string }>('SELECT count(*) FROM ledger_corrections')
    return Number(rows[0]?.count)
  })
  return { ...counts, corrections, problems: [...problems, ...(await judgeReport(node, age, nano))] }
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
