/**
 * Four witnesses are compared for each image request: what the provider served, the stored images, the
 * ledger, and what a client gets that asks again.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { checkSums, withDatabase } from '../ledger-checks.ts'
import { ask, job, promptDigest, type Answer, type JobView, type Order } from './client.ts'
import type { Gap } from './gaps.ts'
import { NANO_USD_PER_PICTURE, type House, type Place } from './house.ts'

/** Counts of images, except for jobs and kills. */
export interface Tally {
  readonly name: string
  readonly kills: number
  readonly jobs: number
  readonly served: number
  readonly delivered: number
  readonly retrieved: number
  readonly second: number
  readonly unknown: number
  readonly lost: number
  readonly other: readonly string[]
}

interface Standing {
  readonly jobId: string
  readonly state: string
  readonly posts: number
  readonly images: number
  readonly openUnknowns: number
  readonly nanoUsd: bigint
}

interface Seen {
  readonly order: Order
  /** Digests of images that the provider charged for. */
  readonly served: readonly string[]
  /** Those of them that were received whole and are on disk. */
  readonly delivered: readonly string[]
  readonly standing: Standing | undefined
  readonly view: JobView | undefined
  readonly replay: Answer
}

export interface Expected {
  readonly name: string
  readonly kills: number
  readonly afterwards: Gap['afterwards']
  /** Images come in another format than the provider's. */
  readonly isConverted?: boolean
}

export async function testify(
  place: Place,
  url: string,
  orders: readonly Order[],
  expected: Expected,
): Promise<Tally> {
  const standings = await standingsIn(place)
  const servedBefore = servedByPrompt(place.house)
  const seen: Seen[] = []
  for (const one of orders) {
    const standing = standings.get(one.idempotencyKey)
    const view = standing && (await job(url, standing.jobId))
    const replay = await ask(url, one)
    const served = servedBefore.get(promptDigest(one)) ?? []
    const delivered = served.filter((sha256) => isOnDisk(place, sha256))
    seen.push({ order: one, served, delivered, standing, view, replay })
  }
  const wrongs = [...seen.flatMap((one) => judged(one, expected)), ...(await wrongInLedger(place, seen))]
  const soldAgain = servedByPrompt(place.house)
  for (const { order, served } of seen) {
    const now = soldAgain.get(promptDigest(order))?.length ?? 0
    if (now > served.length)
      wrongs.push({
        kind: 'second',
        pictures: now - served.length,
        what: `${order.body.prompt}: by its replay`,
      })
  }
  const sum = (of: (one: Seen) => number): number => seen.reduce((total, one) => total + of(one), 0)
  const count = (kind: Wrong['kind']): number =>
    wrongs.filter((wrong) => wrong.kind === kind).reduce((total, { pictures }) => total + pictures, 0)
  return {
    name: expected.name,
    kills: expected.kills,
    jobs: seen.length,
    served: sum(({ served }) => served.length),
    delivered: sum(({ delivered }) => delivered.length),
    retrieved: sum((one) => retrieved(one, expected).length),
    second: count('second'),
    unknown: seen.filter(({ standing }) => standing?.state === 'unknown').length,
    lost: count('lost'),
    other: wrongs.map(({ kind, what }) => (kind === 'other' ? what : `${kind}: ${what}`)),
  }
}

interface Wrong {
  readonly kind: 'second' | 'lost' | 'other'
  readonly pictures: number
  readonly what: string
}

/** What is wrong with the end of one job. */
function judged(one: Seen, expected: Expected): Wrong[] {
  const { order, served, delivered, standing, view, replay } = one
  const { prompt, n } = order.body
  const wrongs: Wrong[] = []
  const wrong = (kind: Wrong['kind'], what: string, pictures = 1): void =>
    void wrongs.push({ kind, pictures, what: `${prompt}: ${what}` })
  if (standing === undefined || view === undefined) {
    wrong('other', 'there is no job')
    return wrongs
  }
  if (served.length > n) wrong('second', `${served.length} pictures were bought for ${n}`, served.length - n)
  if (standing.state === 'leased' || standing.state === 'dispatched')
    wrong('other', `it is ${standing.state} for ever`)
  const got = retrieved(one, expected)
  const missing = delivered.length - got.length
  if (missing > 0)
    wrong('lost', `${missing} of ${delivered.length} pictures on the disk can't be had`, missing)
  const owed = expected.afterwards === 'pictures' || view.status === 'succeeded' ? n : delivered.length
  if (got.length < owed)
    wrong('lost', `${got.length} of ${owed} pictures can be had, it is ${view.status}`, owed - got.length)
  if (view.status === 'succeeded') {
    if (expected.afterwards === 'unknown') wrong('other', 'succeeded, though nobody could know')
    if (standing.openUnknowns > 0)
      wrong('other', `${standing.openUnknowns} unknowns stand beside its pictures`)
    if (standing.images !== got.length)
      wrong('other', `${standing.images} pictures are posted, not ${got.length}`)
    if (standing.nanoUsd !== BigInt(got.length) * NANO_USD_PER_PICTURE)
      wrong('other', `its sum in the ledger is ${standing.nanoUsd}`)
  } else if (view.status === 'unknown') {
    const isReported =
      replay.status === 424 && replay.code === 'outcome_unknown' && replay.shouldRetry === 'false'
    if (!isReported)
      wrong('other', `its replay is ${replay.status} ${replay.code}, retry ${replay.shouldRetry}`)
    if (standing.openUnknowns === 0) wrong('other', 'no unknown is in the ledger')
    if (standing.posts > 0) wrong('other', 'it is posted')
  } else wrong('other', `it is ${view.status} with ${view.code}`)
  return wrongs
}

/** What the job and its replay both return, and the provider served. */
function retrieved({ served, view, replay }: Seen, { isConverted = false }: Expected): readonly string[] {
  const again = new Set(replay.pictures.map(({ sha256 }) => sha256))
  return (view?.pictures ?? [])
    .filter(({ sha256, format }) => (isConverted ? format === 'webp' : served.includes(sha256)))
    .map(({ sha256 }) => sha256)
    .filter((sha256) => again.has(sha256))
}

/** Bought images by the digest of the prompt. */
export function servedByPrompt({ provider }: Pick<House, 'provider'>): Map<string, string[]> {
  const served = new Map<string, string[]>()
  for (const entry of provider.entries()) {
    if (!entry.served || entry.promptSha256 === undefined) continue
    const before = served.get(entry.promptSha256) ?? []
    served.set(entry.promptSha256, [...before, ...(entry.pictures ?? []).map(({ sha256 }) => sha256)])
  }
  return served
}

function isOnDisk({ assets }: Place, sha256: string): boolean {
  return existsSync(join(assets, 'pictures', sha256.slice(0, 2), sha256))
}

async function standingsIn({ databaseUrl }: Place): Promise<Map<string, Standing>> {
  const { rows } = await withDatabase(databaseUrl, (client) =>
    client.query<Record<'key' | 'job_id' | 'state' | 'posts' | 'images' | 'unknowns' | 'nano', string>>(`
      SELECT idempotency_key AS key, job_id, state,
        count(*) FILTER (WHERE kind = 'post') AS posts,
        coalesce(sum(images), 0) AS images,
        coalesce(sum(amount_nano), 0) AS nano,
        count(*) FILTER (WHERE kind = 'unknown' AND NOT EXISTS (
          SELECT FROM usage_events AS resolution
          WHERE resolution.request_id = entry.request_id AND resolution.attempt = entry.attempt
            AND resolution.kind IN ('post', 'void'))) AS unknowns
      FROM image_jobs LEFT JOIN usage_events AS entry ON entry.request_id = job_id
      WHERE idempotency_key IS NOT NULL GROUP BY 1, 2, 3`),
  )
  return new Map(
    rows.map((row) => [
      row.key,
      {
        jobId: row.job_id,
        state: row.state,
        posts: Number(row.posts),
        images: Number(row.images),
        openUnknowns: Number(row.unknowns),
        nanoUsd: BigInt(row.nano),
      },
    ]),
  )
}

/** Σ ledger = Σ rollups, and nothing in it but the existing images. */
async function wrongInLedger({ databaseUrl }: Place, seen: readonly Seen[]): Promise<Wrong[]> {
  const other = (what: string): Wrong => ({ kind: 'other', pictures: 0, what })
  return withDatabase(databaseUrl, async (client) => {
    const sums = await checkSums(client)
    const { rows } = await client.query<Record<'posted' | 'rolled' | 'open', string>>(`
      SELECT (SELECT coalesce(sum(images), 0) FROM usage_events) AS posted,
        (SELECT coalesce(sum(images), 0) FROM usage_hours) AS rolled,
        (SELECT count(*) FROM image_jobs WHERE state IN ('leased', 'dispatched')) AS open`)
    const [{ posted, rolled, open } = { posted: '', rolled: '', open: '' }] = rows
    const settled = seen.reduce((total, { view }) => total + (view?.pictures.length ?? 0), 0)
    return [
      ...sums.map(({ what, ids }) => other(`${what}: ${JSON.stringify(ids)}`)),
      ...(posted === rolled ? [] : [other(`${posted} pictures in the ledger, ${rolled} in its rollup`)]),
      ...(Number(posted) === settled
        ? []
        : [other(`${posted} pictures in the ledger, ${settled} delivered`)]),
      ...(open === '0' ? [] : [other(`${open} jobs have not ended`)]),
    ]
  })
}
