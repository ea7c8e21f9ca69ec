/** docs/benchmarks.md, from the figures alone. */
import { QUESTIONS } from './answers.ts'
import { CASES, type CaseId } from './cases.ts'
import type { CaseFigures, ContenderFigures, Figures, Remeasured } from './figures.ts'

/** The row of Torana that others are held against, and that of its workers. */
const OWN = 'torana-memory'
const OWN_TWO = 'torana-workers'

export function benchmarksPage(figures: Figures): string {
  const { contenders } = figures
  return `${[
    '# Benchmarks beside other gateways',
    `This page is made by \`npm run lab -- bench/peers --write\` from \`lab/bench/peers/figures.json\`. Run it on your own machine: **ratios are reliable, microseconds are not.** The figures are of ${daysOf(contenders)}, on ${figures.machine}.`,
    '## How it was measured',
    HOW,
    settingsTable(contenders),
    ...skippedLines(figures),
    '## CPU time of a request',
    'This is what decides how many machines a load needs: CPU time of all processes of a gateway, divided by its requests, at the most that it can do. PostgreSQL and Redis are in a column of their own. "Times Torana" is beside Torana without a ledger, or beside its two workers where both cores are used; the minutes differ, so each is first held against the bare proxy of its own minutes.',
    '![CPU time of a request by gateway](pictures/benchmarks-cpu.svg)',
    ...CASES.flatMap(({ id, name }) => [...caseTable(contenders, id, name), ...newerLines(figures, id)]),
    '## Added latency at half load',
    'Each gateway gets half of the rate that it can do, in random intervals, and the bare proxy gets the same rate. The difference is what the gateway adds. A gateway that does little gets a low rate here: compare the rates too. A figure below zero is noise.',
    '![Added latency by gateway](pictures/benchmarks-latency.svg)',
    latencyTable(contenders),
    '## Start and memory',
    startTable(contenders),
    '## When an upstream does not do what it was asked for',
    'Upstreams that call themselves compatible ignore options, reorder, and sometimes send broken vectors. A broken vector in an index is found weeks later, if at all. Each gateway was asked the same question before `lab/fake-provider`, whose vectors are known in advance.',
    answersTable(contenders),
    '## What the others do better',
    betterLines(figures),
    BETTER,
  ]
    .filter((part) => part !== '')
    .join('\n\n')}\n`
}

const HOW = `One gateway at a time. The gateway has core 0 for itself; nginx as the upstream, wrk as the load, and the gateway's stores have core 1. Rows with **two cores** share both with the load. The bare proxy (\`node:http\` and undici, nothing else) takes turns with each gateway, window by window, so that a busy minute slows both. Every text differs, so nothing is answered from a cache. 64 connections; 16 for 100 inputs, 8 for images. A window in which more than one request of a thousand fails does not count: the run ends.

Each gateway is set up as its own documentation advises for production. **They don't do the same work.** Torana looks the key up in its store, checks every value of each vector, counts, prices and logs every request; with PostgreSQL it writes each request to a ledger before the answer leaves. Portkey and LiteLLM keep no records in this set-up.`

const BETTER = `Beyond figures:

- **LiteLLM** speaks to far more providers, and to chat, audio and rerank models, which Torana does not serve. Its guardrails and its SDK have no counterpart here.
- **Portkey** needs neither database nor state, also runs on edge workers, and reads its routing from the request.
- **Bifrost** is one static binary that uses every core from one process, with chat, MCP and a semantic cache. Torana needs \`--workers\` and PostgreSQL for more than one core.`

function daysOf(contenders: readonly ContenderFigures[]): string {
  const days = contenders.map(({ day }) => day).toSorted()
  const [first = '', last = ''] = [days[0], days.at(-1)]
  return first === last ? first : `${first} to ${last}`
}

function settingsTable(contenders: readonly ContenderFigures[]): string {
  return table(
    ['gateway', 'version', 'cores', 'settings'],
    contenders.map(({ name, version, cores, settings }) => [name, version, String(cores), settings]),
  )
}

function skippedLines({ skipped }: Figures): readonly string[] {
  const lines = Object.entries(skipped).map(([name, reason]) => `- **${name}** was not measured: ${reason}`)
  return lines.length > 0 ? [lines.join('\n')] : []
}

function caseTable(contenders: readonly ContenderFigures[], id: CaseId, name: string): readonly string[] {
  const rows = contenders.flatMap((one) => {
    const found = one.cases[id]
    if (!found) return []
    return [
      [
        one.name,
        count(found.requestsPerSecond),
        count(found.cpuUs),
        found.storesCpuUs > 0 ? count(found.storesCpuUs) : '',
        (found.bareCpuUs / found.cpuUs).toPrecision(2),
        timesOwn(contenders, one, id),
        spread(found.cpuWindows),
      ],
    ]
  })
  const head = [
    'gateway',
    'requests/s',
    'CPU µs/request',
    'of its stores',
    'of bare',
    'times Torana',
    'each window, µs',
  ]
  return rows.length > 0 ? [`### ${name}`, table(head, rows)] : []
}

function newerLines({ contenders, remeasured = [] }: Figures, id: CaseId): readonly string[] {
  return remeasured
    .filter((newer) => newer.case === id)
    .map(({ day, arguments: words, contenders: parts }) => {
      const found = Object.entries(parts).map(([part, { cpuUs, timesBare }]) => {
        const name = contenders.find((one) => one.id === part)?.name ?? part
        return `${name} took ${count(cpuUs)} µs, ${timesBare.toFixed(1)} times the bare proxy`
      })
      return `**Measured again on ${day}**, in the same minutes (\`npm run lab -- bench/peers ${words}\`): ${found.join('; ')}. The table above is older.`
    })
}

/** CPU time as a multiple of Torana's on as many cores; each beside the bare proxy of its own minutes. */
export function timesOwn(contenders: readonly ContenderFigures[], one: ContenderFigures, id: CaseId): string {
  const own = contenders.find((other) => other.id === (one.cores === 2 ? OWN_TWO : OWN))?.cases[id]
  const its = one.cases[id]
  if (!own || !its || one.id === 'bare') return ''
  const times = its.cpuUs / its.bareCpuUs / (own.cpuUs / own.bareCpuUs)
  return times.toFixed(times < 10 ? 1 : 0)
}

function latencyTable(contenders: readonly ContenderFigures[]): string {
  const rows = contenders
    .filter(({ id }) => id !== 'bare')
    .flatMap((one) =>
      CASES.flatMap(({ id, name }) => {
        const found = one.cases[id]
        if (!found) return []
        const { p50, p99 } = addedMs(found)
        return [[one.name, name, count(found.halfLoad.requestsPerSecond), p50.toFixed(1), p99.toFixed(1)]]
      }),
    )
  return table(['gateway', 'answer', 'requests/s', 'added p50, ms', 'added p99, ms'], rows)
}

export function addedMs({ halfLoad }: CaseFigures): { readonly p50: number; readonly p99: number } {
  const { p50Ms, p99Ms, bareP50Ms, bareP99Ms } = halfLoad
  return { p50: p50Ms - bareP50Ms, p99: p99Ms - bareP99Ms }
}

function startTable(contenders: readonly ContenderFigures[]): string {
  return table(
    ['gateway', 'ready after, s', 'memory at rest, MB', 'after the load, MB'],
    contenders.map((one) => [
      one.name,
      one.startSeconds.toFixed(1),
      count(one.idleMegabytes),
      count(one.usedMegabytes),
    ]),
  )
}

/** One of each program: how many cores it has changes no answer. */
function answersTable(contenders: readonly ContenderFigures[]): string {
  const asked = contenders.filter(({ answers }) => answers !== undefined)
  return table(
    ['', ...asked.map(({ name, version }) => `${name.replace(/, .*/, '')} (${version.replace(/, .*/, '')})`)],
    QUESTIONS.map(({ name }) => [name, ...asked.map(({ answers }) => answers?.[name] ?? '')]),
  )
}

/** Where a peer has the better figure, the page says so automatically. */
function betterLines({ contenders, remeasured = [] }: Figures): string {
  const own = contenders.find(({ id }) => id === OWN)
  if (!own) return ''
  const isBetter = (one: ContenderFigures, id: CaseId): boolean => {
    const both = remeasured.find((part) => isOfBoth(part, one, id))?.contenders
    if (both !== undefined) return (both[one.id]?.cpuUs ?? Infinity) < (both[OWN]?.cpuUs ?? 0)
    return (one.cases[id]?.cpuUs ?? Infinity) < (own.cases[id]?.cpuUs ?? 0)
  }
  const lines = contenders.flatMap((one) => {
    if (one.id === 'bare' || one.id.startsWith('torana')) return []
    const better = [
      ...(one.startSeconds < own.startSeconds
        ? [`starts in ${one.startSeconds.toFixed(1)} s (Torana ${own.startSeconds.toFixed(1)} s)`]
        : []),
      ...(one.idleMegabytes < own.idleMegabytes
        ? [`takes ${count(one.idleMegabytes)} MB at rest (Torana ${count(own.idleMegabytes)} MB)`]
        : []),
      ...(one.usedMegabytes < own.usedMegabytes
        ? [`takes ${count(one.usedMegabytes)} MB after the load (Torana ${count(own.usedMegabytes)} MB)`]
        : []),
      ...CASES.filter(({ id }) => isBetter(one, id)).map(
        ({ id, name }) => `took ${count(one.cases[id]?.cpuUs ?? 0)} µs for ${name} on ${one.day}`,
      ),
    ]
    return better.length > 0 ? [`- **${one.name}** ${better.join('; ')}.`] : []
  })
  return lines.join('\n')
}

function isOfBoth({ case: newer, contenders }: Remeasured, one: ContenderFigures, id: CaseId): boolean {
  return newer === id && OWN in contenders && one.id in contenders
}

function spread(values: readonly number[]): string {
  return values
    .toSorted((left, right) => left - right)
    .map(count)
    .join(' ')
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
