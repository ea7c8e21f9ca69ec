/** The generated parts of docs/benchmarks.md and README.md, by name, from the figures alone. */
import { tableOf } from '../../book/fill.ts'
import { QUESTIONS } from './answers.ts'
import { CASES, type CaseId } from './cases.ts'
import {
  addedText,
  countText,
  newestRun,
  timesBare,
  timesText,
  type ContenderFigures,
  type PeerFigures,
  type RateFigures,
  type Run,
} from './figures.ts'
import { chartPart } from './readme-plot.ts'

/** The row of Torana that others are compared with: the production setup. */
const OWN = 'torana-strict'

export function peerParts({ machine, contenders }: PeerFigures): Readonly<Record<string, string>> {
  return {
    'peers-machine': `Measured ${daysText(contenders)} on ${machine}. One of the two cores belongs to the gateway.`,
    'peers-setup': setupTable(contenders),
    'peers-latency': latencyTable(contenders),
    'peers-cpu': CASES.flatMap(({ id, name }) => caseTable(contenders, id, name)).join('\n\n'),
    'peers-faults': faultTable(contenders),
    'peers-start': startTable(contenders),
    'peers-better': betterLines(contenders),
    'peers-chart': chartPart(contenders, 'pictures/'),
    'readme-chart': chartPart(contenders, 'docs/pictures/'),
  }
}

function daysText(contenders: readonly ContenderFigures[]): string {
  const runs = contenders.flatMap(({ cases, latency, answers, start }) =>
    [latency, answers, start, ...Object.values(cases)].filter((run) => run !== undefined),
  )
  const days = [...new Set(runs.map(({ day }) => day))].toSorted()
  return days.length === 1 ? `on ${days[0]}` : `from ${days[0]} to ${days.at(-1)}`
}

function setupTable(contenders: readonly ContenderFigures[]): string {
  return tableOf(
    ['gateway', 'version', 'cores', 'setup'],
    contenders.map((one) => [one.name, newestRun(one)?.version ?? '', String(one.cores), one.settings]),
  )
}

/** The version and the day, for rows whose parts come from several runs. */
function runText({ version, day }: Run): string {
  return `${version.replace(/, .*/, '')}, ${day}`
}

function caseTable(contenders: readonly ContenderFigures[], id: CaseId, name: string): readonly string[] {
  const rows = contenders.flatMap((one) => {
    const found = one.cases[id]
    if (!found) return []
    const stores = found.storesCpuUs > 0 ? ` + ${countText(found.storesCpuUs)} µs in stores` : ''
    return [
      [
        one.name,
        countText(found.requestsPerSecond),
        `${countText(found.cpuUs)} µs${stores}`,
        one.id === 'bare' ? '1×' : timesText(timesBare(found)),
        runText(found),
      ],
    ]
  })
  const head = ['gateway', 'requests per second', 'CPU per request', '× bare proxy', 'measured']
  return rows.length > 0 ? [`### ${name}`, tableOf(head, rows)] : []
}

/** Gateways of one run alone: minutes of another run are another machine. */
function latencyTable(contenders: readonly ContenderFigures[]): string {
  const own = contenders.find(({ id }) => id === OWN)?.latency
  const measured = contenders.filter(
    ({ latency }) => latency !== undefined && latency.day === own?.day && latency.commit === own.commit,
  )
  const rates = [...new Set(measured.flatMap(({ latency }) => ratesOf(latency?.rates)))].toSorted(
    (left, right) => left - right,
  )
  const rows = measured.map((one) => [
    one.name,
    ...rates.map((rate) => {
      const found = one.latency?.rates.find(({ perSecond }) => perSecond === rate)
      return found === undefined ? 'more than it sustains' : latencyText(found, one.id === 'bare')
    }),
  ])
  return tableOf(['gateway', ...rates.map((rate) => `${countText(rate)} per second`)], rows)
}

function ratesOf(rates: readonly RateFigures[] = []): readonly number[] {
  return rates.map(({ perSecond }) => perSecond)
}

/** Of the bare proxy: the latency itself. */
function latencyText({ p50Ms, p99Ms, bareP50Ms, bareP99Ms }: RateFigures, isBare: boolean): string {
  if (isBare) return `${bareP50Ms.toFixed(1)} / ${bareP99Ms.toFixed(1)} ms in total`
  return `${addedText(p50Ms, bareP50Ms).replace(' ms', '')} / ${addedText(p99Ms, bareP99Ms)}`
}

function startTable(contenders: readonly ContenderFigures[]): string {
  return tableOf(
    ['gateway', 'ready after', 'memory at rest', 'after the load', 'measured'],
    contenders.flatMap(({ name, start }) =>
      start === undefined
        ? []
        : [
            [
              name,
              `${start.seconds.toFixed(1)} s`,
              `${countText(start.idleMegabytes)} MB`,
              `${countText(start.usedMegabytes)} MB`,
              runText(start),
            ],
          ],
    ),
  )
}

/** One of each program: the number of cores changes no answer. */
function faultTable(contenders: readonly ContenderFigures[]): string {
  const asked = contenders.flatMap(({ name, answers }) =>
    answers === undefined ? [] : [{ name, ...answers }],
  )
  const title = ({ name, version }: { readonly name: string; readonly version: string }): string =>
    `${name.replace(/ without.*| gateway| proxy|,.*/g, '')} ${version.replace(/, .*/, '')}`
  return tableOf(
    ['upstream', ...asked.map(title)],
    QUESTIONS.map(({ name }) => [name, ...asked.map(({ texts }) => shortAnswer(texts[name] ?? ''))]),
  )
}

function shortAnswer(answer: string): string {
  return answer.startsWith('**passed on**') ? '**passed on**' : answer === 'right' ? 'corrected' : answer
}

/** Where another gateway has the better figure, the page says so automatically. */
function betterLines(contenders: readonly ContenderFigures[]): string {
  const own = contenders.find(({ id }) => id === OWN)
  if (!own) return ''
  const others = contenders.filter(({ id }) => id !== 'bare' && !id.startsWith('torana'))
  return others
    .flatMap((one) => {
      const better = betterFigures(one, own)
      return better.length > 0 ? [`- **${one.name}** ${better.join('; ')}.`] : []
    })
    .join('\n')
}

function betterFigures(one: ContenderFigures, own: ContenderFigures): readonly string[] {
  const added = ({ p50Ms, bareP50Ms }: RateFigures): number => p50Ms - bareP50Ms
  const latencies = (one.latency?.rates ?? []).flatMap((its) => {
    const ours = own.latency?.rates.find(({ perSecond }) => perSecond === its.perSecond)
    if (ours === undefined || added(its) >= added(ours)) return []
    const [less, more] = [addedText(its.p50Ms, its.bareP50Ms), addedText(ours.p50Ms, ours.bareP50Ms)]
    return [`adds ${less} at ${countText(its.perSecond)} requests per second (Torana ${more})`]
  })
  const cpu = CASES.flatMap(({ id, name }) => {
    const [its, ours] = [one.cases[id], own.cases[id]]
    if (its === undefined || ours === undefined) return []
    const ownTimes = (ours.cpuUs + ours.storesCpuUs) / ours.bareCpuUs
    if (timesBare(its) >= ownTimes) return []
    return [
      `uses ${timesText(timesBare(its))} the CPU of a bare proxy for ${name} (Torana ${timesText(ownTimes)}, stores included)`,
    ]
  })
  const [its, ours] = [one.start, own.start]
  const start =
    its === undefined || ours === undefined
      ? []
      : [
          ...(its.seconds < ours.seconds
            ? [`starts in ${its.seconds.toFixed(1)} s (Torana ${ours.seconds.toFixed(1)} s)`]
            : []),
          ...(its.usedMegabytes < ours.usedMegabytes
            ? [
                `uses ${countText(its.usedMegabytes)} MB after the load (Torana ${countText(ours.usedMegabytes)} MB)`,
              ]
            : []),
        ]
  return [...latencies, ...cpu, ...start]
}
