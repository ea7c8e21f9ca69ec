/**
 * `npm run lab -- chaos/upstreams`: two of three deployments fail under load, in every way that upstreams fail, and
 * come back. Shows that callers hardly notice, that another model is not slower for it, and that the two
 * serve again by themselves.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { SentRequest } from '../sender.ts'
import { stopAll, type Started } from '../processes.ts'
import { latencyMs, OTHER_CORE, send, startGateway, statusesOf } from '../bench/load-stage.ts'
import { startProvider } from '../provider.ts'
import { loadText, median, print } from '../report.ts'
import { Workplace } from '../workplace.ts'

const { values: options } = parseArgs({
  options: {
    rate: { type: 'string', default: '500' },
    /** Selects kinds of failures, as in reset,hang. */
    kinds: { type: 'string', default: '' },
  },
})
const perSecond = Number(options.rate)
const OTHER_PER_SECOND = 50

const MODEL = 'three-w16'
const OTHER_MODEL = 'other-w16'
const FAILING = ['a', 'b']
const WARM_UP_MS = 4000
const BEFORE_MS = 4000
const FAILING_MS = 6000
const AFTER_MS = 12_000
/** Time in which the failure is detected. */
const FOUND_OUT_MS = 2000
/** Longer than a hanging call hangs. */
const PATIENCE_MS = 31_000
const LOOK_EVERY_MS = 100
/**
 * A deployment is back with a quarter of its share of the load over this many looks. One that was slow
 * recently gets less for a while.
 */
const LOOKS = 10
const BACK_SHARE = 1 / 4

const AIM_ERRORS_PERCENT = 0.1
const AIM_OTHER_RATIO = 1.5
const AIM_EXTRA_PERCENT = 20
const AIM_BACK_SECONDS = 10

interface Kind {
  readonly name: string
  readonly mode: string
  readonly retryAfterMs?: number
  readonly hangMs?: number
}
const KINDS: readonly Kind[] = [
  { name: 'reset', mode: 'reset' },
  { name: '500', mode: '500' },
  { name: '429', mode: '429' },
  { name: '429, come back in 2 s', mode: '429', retryAfterMs: 2000 },
  { name: 'hang', mode: 'hang', hangMs: 30_000 },
  { name: 'garbage', mode: 'garbage' },
]

interface Figures {
  readonly kind: string
  readonly errorsPercent: number
  readonly firstErrorsPercent: number
  readonly statuses: string
  readonly otherBeforeMs: number
  readonly otherDuringMs: number
  readonly extraPercent: number
  readonly backSeconds: number
}

await using place = new Workplace('upstreams')
const { folder } = place
const all: Figures[] = []
const chosen = options.kinds.split(',').filter((name) => name !== '')
for (const kind of KINDS.filter(({ name }) => chosen.length === 0 || chosen.includes(name)))
  all.push(await measure(kind))
process.exitCode = report(all) ? 0 : 1

/** A separate gateway for each kind: what one has learnt does not help with the next. */
async function measure(kind: Kind): Promise<Figures> {
  const provider = await startProvider(OTHER_CORE, folder)
  const modeUrl = (name: string): string => `${provider.origin}/mode-${name}/v1`
  const gateway = await startGateway(folder, {
    models: { [MODEL]: ['a', 'b', 'c'].map(modeUrl), [OTHER_MODEL]: [modeUrl('d')] },
    projects: ['all'],
  })
  const key = gateway.keyOf('all')
  const sending = send({
    port: gateway.port,
    seconds: (WARM_UP_MS + BEFORE_MS + FAILING_MS + AFTER_MS) / 1000,
    patienceMs: PATIENCE_MS,
    streams: [
      { key, model: MODEL, perSecond },
      { key, model: OTHER_MODEL, perSecond: OTHER_PER_SECOND },
    ],
  })
  await wait(WARM_UP_MS + BEFORE_MS)
  const failedAtMs = Date.now()
  const callsBefore = await callsOf(provider)
  for (const name of FAILING) await setMode(provider, { ...kind, name })
  await wait(FAILING_MS)
  const callsAfter = await callsOf(provider)
  for (const name of FAILING) await setMode(provider, { name, mode: 'ok' })
  const wellAtMs = Date.now()
  const backSeconds = await backAfter(provider)
  const [sent = [], other = []] = await sending
  await stopAll(gateway.pid, provider.pid)

  const failing = within(sent, failedAtMs, wellAtMs)
  const later = within(sent, failedAtMs + FOUND_OUT_MS, wellAtMs)
  return {
    kind: kind.name,
    errorsPercent: errorsPercent(later),
    firstErrorsPercent: errorsPercent(within(sent, failedAtMs, failedAtMs + FOUND_OUT_MS)),
    statuses: statusesOf(failing),
    otherBeforeMs: latencyMs(within(other, failedAtMs - BEFORE_MS, failedAtMs), 0.99),
    otherDuringMs: latencyMs(within(other, failedAtMs, wellAtMs), 0.99),
    extraPercent: ((callsAfter - callsBefore) / failing.length - 1) * 100,
    backSeconds,
  }
}

/** True when all aims are met. */
function report(all: readonly Figures[]): boolean {
  print([
    [
      'failure',
      'errors % after 2 s',
      'in the first 2 s',
      'extra calls %',
      'back after s',
      'other p99 ms',
      'answers',
    ],
    ...all.map((figures) => [
      figures.kind,
      figures.errorsPercent.toFixed(2),
      figures.firstErrorsPercent.toFixed(2),
      figures.extraPercent.toFixed(1),
      figures.backSeconds.toFixed(1),
      `${figures.otherBeforeMs.toFixed(1)} → ${figures.otherDuringMs.toFixed(1)}`,
      figures.statuses,
    ]),
  ])
  const otherRatio = median(all.map(({ otherBeforeMs, otherDuringMs }) => otherDuringMs / otherBeforeMs))
  console.log(`the other model's p99, during ÷ before, median: ${otherRatio.toFixed(2)} (${loadText()})`)
  const missed = [
    ...all
      .filter(({ errorsPercent: share }) => share > AIM_ERRORS_PERCENT)
      .map(({ kind }) => `errors of ${kind}`),
    ...all
      .filter(({ extraPercent: share }) => share > AIM_EXTRA_PERCENT)
      .map(({ kind }) => `extra calls of ${kind}`),
    ...all
      .filter(({ backSeconds: seconds }) => !(seconds <= AIM_BACK_SECONDS))
      .map(({ kind }) => `return of ${kind}`),
    ...(otherRatio > AIM_OTHER_RATIO ? ['the other model'] : []),
  ]
  for (const what of missed) console.log(`MISSED: ${what}`)
  return missed.length === 0
}

function within(sent: readonly SentRequest[], fromMs: number, toMs: number): readonly SentRequest[] {
  return sent.filter(([atMs]) => atMs >= fromMs && atMs < toMs)
}

function errorsPercent(sent: readonly SentRequest[]): number {
  return (sent.filter(([, , status]) => status !== 200).length / sent.length) * 100
}

interface Mode {
  readonly calls: number
  readonly served: number
}

async function setMode(
  { origin }: Started,
  mode: Omit<Kind, 'name'> & { readonly name: string },
): Promise<void> {
  const answer = await fetch(`${origin}/_mode`, { method: 'POST', body: JSON.stringify(mode) })
  if (!answer.ok) throw new Error(`no such mode: ${await answer.text()}`)
}

async function modeOf({ origin }: Started, name: string): Promise<Mode> {
  return (await (await fetch(`${origin}/_mode?name=${name}`)).json()) as Mode
}

async function callsOf(provider: Started): Promise<number> {
  const modes = await Promise.all(['a', 'b', 'c'].map((name) => modeOf(provider, name)))
  return modes.reduce((sum, { calls }) => sum + calls, 0)
}

/** Seconds until both have a good part of their share again. */
async function backAfter(provider: Started): Promise<number> {
  const startedMs = performance.now()
  const wanted = (((perSecond / 3) * (LOOK_EVERY_MS * LOOKS)) / 1000) * BACK_SHARE
  const seen = new Map(FAILING.map((name): [string, number[]] => [name, []]))
  const back = new Set<string>()
  while (performance.now() - startedMs < AFTER_MS) {
    for (const [name, counts] of seen) {
      const { served } = await modeOf(provider, name)
      counts.push(served)
      const before = counts.at(-1 - LOOKS)
      if (before !== undefined && served - before >= wanted) back.add(name)
    }
    if (back.size === FAILING.length) return (performance.now() - startedMs) / 1000
    await wait(LOOK_EVERY_MS)
  }
  return Number.POSITIVE_INFINITY
}
