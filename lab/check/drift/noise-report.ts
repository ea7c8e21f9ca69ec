/** Which noise keeps serving for a simulated day, and which changes are caught on noisy deployments. */
import { median, type Report } from '../../report.ts'
import {
  changedTo,
  exact,
  float16,
  noiseOf,
  normalised,
  padded,
  quantised,
  simulated,
  type DayFigures,
  type Noise,
} from './noise.ts'

/** `isExpected`: it must serve the whole day, and every change of it must be caught. Others are only shown. */
interface NoiseCase {
  readonly name: string
  readonly noise: Noise
  readonly isExpected: boolean
}

const NOISES: readonly NoiseCase[] = [
  { name: 'none', noise: exact, isExpected: true },
  { name: 'float16', noise: float16, isExpected: true },
  { name: 'int8', noise: quantised(8), isExpected: true },
  { name: 'int4', noise: normalised(quantised(4)), isExpected: true },
  { name: 'padding, from 0.9995', noise: padded(0.9995), isExpected: true },
  { name: 'cosine 0.9999', noise: noiseOf(0.9999), isExpected: true },
  { name: 'cosine 0.9995', noise: noiseOf(0.9995), isExpected: true },
  { name: 'cosine 0.999', noise: noiseOf(0.999), isExpected: true },
  // Its lengths are off by up to 4 %.
  { name: 'int4, not normalised', noise: quantised(4), isExpected: false },
  { name: 'cosine 0.995', noise: noiseOf(0.995), isExpected: false },
  { name: 'cosine 0.99', noise: noiseOf(0.99), isExpected: false },
]
const CHANGES = [0.9, 0.98, 0.985]

/** `sole`: its own answers are the reference. `second`: those of an exact deployment, or of one that is as noisy. */
const PLACES = ['sole', 'second', 'second of two noisy'] as const

export interface NoiseTerms {
  readonly hours: number
  readonly widths: readonly number[]
  /** Days of each case at each width. */
  readonly days: number
}

/** Tables of what served, and of what was caught. */
export async function reportNoise(terms: NoiseTerms, report: Report): Promise<readonly string[][][]> {
  const served: { noise: string; place: string; figures: readonly DayFigures[]; isExpected: boolean }[] = []
  for (const { name, noise, isExpected } of NOISES)
    for (const place of PLACES)
      served.push({ noise: name, place, isExpected, figures: await days(terms, noisesIn(place, noise)) })
  const servedTable = [
    ['noise', 'deployment', 'days', 'days with a quarantine', 'quarantines', 'share of time', 'least cosine'],
    ...served.map(({ noise, place, figures }) => [
      noise,
      place,
      String(figures.length),
      String(figures.filter(({ quarantines }) => quarantines > 0).length),
      String(total(figures, ({ quarantines }) => quarantines)),
      `${((100 * total(figures, ({ quarantinedShare }) => quarantinedShare)) / figures.length).toFixed(1)} %`,
      Math.min(...figures.map(({ leastCosine }) => leastCosine)).toFixed(5),
    ]),
  ]
  const wrong = total(
    served.filter(({ isExpected }) => isExpected).flatMap(({ figures }) => figures),
    ({ quarantines }) => quarantines,
  )
  const all = served.filter(({ isExpected }) => isExpected).flatMap(({ figures }) => figures).length
  report.aim(`false quarantines in ${all} days of ${terms.hours} hours`, String(wrong), '0', wrong === 0)

  const caught: { noise: string; place: string; cosine: number; figures: readonly DayFigures[] }[] = []
  for (const { name, noise } of NOISES)
    for (const place of ['sole', 'second'] as const)
      for (const cosine of CHANGES) {
        const change = changedTo(cosine)
        const figures = await days({ ...terms, hours: CHANGE_HOURS }, noisesIn(place, noise), change)
        caught.push({ noise: name, place, cosine, figures })
      }
  const caughtTable = [
    ['noise', 'deployment', 'changed to', 'caught', 'probes: median, worst'],
    ...caught.map(({ noise, place, cosine, figures }) => {
      const probes = figures.flatMap(({ probesUntilCaught }) => probesUntilCaught ?? [])
      return [
        noise,
        place,
        String(cosine),
        `${probes.length} of ${figures.length}`,
        `${median(probes)}, ${Math.max(...probes)}`,
      ]
    }),
  ]
  const expected = new Set(NOISES.filter(({ isExpected }) => isExpected).map(({ name }) => name))
  const changed = caught.filter(({ noise }) => expected.has(noise)).flatMap(({ figures }) => figures)
  const missed = changed.filter(({ probesUntilCaught = Infinity }) => probesUntilCaught > 1).length
  report.aim(
    `changes of ${changed.length} that the first probe did not catch`,
    String(missed),
    '0',
    missed === 0,
  )
  return [servedTable, caughtTable]
}

/** The change comes after one, and has one to be caught. */
const CHANGE_HOURS = 2

function noisesIn(place: (typeof PLACES)[number], noise: Noise): readonly Noise[] {
  if (place === 'sole') return [noise]
  return place === 'second' ? [exact, noise] : [noise, noise]
}

async function days(terms: NoiseTerms, noises: readonly Noise[], change?: Noise): Promise<DayFigures[]> {
  const figures: DayFigures[] = []
  for (const width of terms.widths)
    for (let seed = 1; seed <= terms.days; seed += 1)
      figures.push(await simulated({ width, seed, hours: terms.hours, noises, ...(change && { change }) }))
  return figures
}

function total(figures: readonly DayFigures[], of: (one: DayFigures) => number): number {
  return figures.reduce((sum, one) => sum + of(one), 0)
}
