/** What probes of deployments in use cost: the tokens of the project `system` beside those of callers, by the ledger of a real node. */
import { setTimeout as wait } from 'node:timers/promises'
import { withDatabase } from '../../chaos/ledger-checks.ts'
import { startFakeProvider } from '../../fake-provider/server.ts'
import { openLoop } from '../../load.ts'
import type { Report } from '../../report.ts'
import type { Workplace } from '../../workplace.ts'
import { post, startNode, WIDTH } from './node.ts'

const PER_SECOND = 10
/** Bytes of a token, as the fake provider counts them. */
const TOKEN_BYTES = 4
const LENGTHS = [500, 50, 10]
const AIM_PERCENT = 0.5
/** Time after which the ledger has everything. */
const WRITTEN_MS = 3000

interface TokenSum {
  readonly project: string
  readonly model: string
  readonly tokens: string
}

export async function measureTokens(minutes: number, place: Workplace, report: Report): Promise<string[][]> {
  const provider = await startFakeProvider()
  const database = await place.postgres()
  const nameOf = (tokens: number): string => `tokens-${tokens}`
  const torana = await startNode({
    place,
    name: 'tokens',
    databaseUrl: database.url,
    upstreams: {
      one: { dialect: 'openai', baseUrl: `${provider.url}/plain/v1`, apiKey: 'sk-upstream-0123456789' },
    },
    models: Object.fromEntries(
      LENGTHS.map((tokens) => [
        nameOf(tokens),
        {
          kind: 'embedding',
          embedding: { dimensions: WIDTH },
          price: { usdPerMillionTokens: 0.02 },
          deployments: [{ upstream: 'one', model: `embed-w${WIDTH}` }],
        },
      ]),
    ),
  })
  const sums = (): Promise<readonly TokenSum[]> =>
    withDatabase(database.url, async (client) => {
      const text = `SELECT project, model, sum(tokens)::text AS tokens FROM usage_events
        WHERE kind = 'post' GROUP BY project, model`
      return (await client.query<TokenSum>(text)).rows
    })
  // The probes that make the references are not for traffic.
  for (const tokens of LENGTHS) await post(torana.url, { model: nameOf(tokens), input: 'first' })
  await wait(WRITTEN_MS)
  const before = await sums()
  const signal = AbortSignal.timeout(minutes * 60_000)
  const open: Promise<unknown>[] = []
  let number = 0
  await openLoop({ perSecond: PER_SECOND, signal }, () => {
    number += 1
    for (const tokens of LENGTHS) {
      const input = `${number} `.padEnd(tokens * TOKEN_BYTES, 'text ')
      open.push(post(torana.url, { model: nameOf(tokens), input }))
    }
  })
  await Promise.all(open)
  await wait(WRITTEN_MS)
  const after = await sums()
  await torana.stop()
  await provider.close()
  const spent = (project: string, model: string): number => {
    const [start = 0, end = 0] = [before, after].map((rows) =>
      Number(rows.find((row) => row.project === project && row.model === model)?.tokens ?? 0),
    )
    return end - start
  }
  const figures = LENGTHS.map((tokens) => {
    const [probes, callers] = [spent('system', nameOf(tokens)), spent('app', nameOf(tokens))]
    return { tokens, probes, callers, percent: (100 * probes) / callers }
  })
  for (const { tokens, probes, callers, percent } of figures)
    report.aim(
      `tokens of probes at ${PER_SECOND} requests a second of ${tokens} tokens`,
      `${percent.toFixed(3)} % (${probes} of ${callers})`,
      `≤ ${AIM_PERCENT} %`,
      probes > 0 && percent <= AIM_PERCENT,
    )
  return [
    ['tokens of a request', 'tokens of probes', 'tokens of callers', 'share'],
    ...figures.map(({ tokens, probes, callers, percent }) => [
      String(tokens),
      String(probes),
      String(callers),
      `${percent.toFixed(2)} %`,
    ]),
  ]
}
