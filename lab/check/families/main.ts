/**
 * Families: whether the rank agreement of the server admits true members and refuses strangers. Every simulated model is made of the
 * demo model's vectors of real sentences, and judged by the texts that a node sends. The truth comes from other sentences: the share of
 * the ten nearest that a query by one model finds in an index by the other, in the worse direction. The limit was derived with
 * `--seed 1` and `--seed 10001`; the default is families that it has never seen. `--quick`: 20 families; `--write` draws
 * docs/pictures/families-*.svg. Exits with 1 when a model is judged wrongly.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { agreementOf, disagreementOf, MIN_AGREEMENT } from '../../../server/src/core/embedding/family.ts'
import { FAMILY_TEXTS } from '../../../server/src/core/embedding/family-texts.ts'
import { print, Report } from '../../report.ts'
import { REPOSITORY } from '../../torana.ts'
import { Workplace } from '../../workplace.ts'
import { startDemoNode } from '../vector-types/demo-node.ts'
import { realTexts } from '../vector-types/recall.ts'
import { familyOf, MEMBERS, STRANGERS, UNCERTAIN, type Corpus, type Difference } from './models.ts'
import { plotsOf, type Point } from './plot.ts'
import { Chance, nearest, unit, type Vectors } from './vectors.ts'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    seed: { type: 'string', default: '20001' },
  },
})
const FAMILIES = options.quick ? 20 : 200
/** Simulated members, and strangers, of each family. */
const MODELS_EACH = 3
/** Other sentences than those of the judgement. */
const INDEXED = 400
const ASKS_EACH = 8
const NEAREST = 10
/** A model that keeps as many of the ten nearest is a member. */
const MEMBER_KEEPS = 0.7
/** A model that keeps no more is a stranger. What lies between may be judged either way. */
const STRANGER_KEEPS = 1 / 3

const corpus = await demoCorpus()
const all = Array.from({ length: FAMILIES }, (_, family) => judgedIn(family)).flat()
const judged = all.filter(({ name }) => name !== UNCERTAIN.name)
const members = judged.filter(({ kept }) => kept >= MEMBER_KEEPS)
const strangers = judged.filter(({ kept }) => kept <= STRANGER_KEEPS)
const wrong = [
  ...members.filter(({ isAdmitted }) => !isAdmitted),
  ...strangers.filter(({ isAdmitted }) => isAdmitted),
]
printKinds()
printCounts()
printEdges()
const report = new Report()
const [worst, best] = [least(members, FAMILY_TEXTS.length), most(strangers, FAMILY_TEXTS.length)]
const families = new Set(wrong.map(({ family }) => family)).size
report.aim(
  'families in which a model is judged wrongly',
  `${families} of ${FAMILIES}`,
  'none',
  families === 0,
)
const gap = `${worst.toFixed(3)} and ${best.toFixed(3)}`
report.aim(
  'worst member and best stranger',
  gap,
  `around ${MIN_AGREEMENT}`,
  worst >= MIN_AGREEMENT && best < MIN_AGREEMENT,
)
report.print(
  `${judged.length} models of ${FAMILIES} families: ${members.length} members, ${strangers.length} strangers`,
)
const uncertain = all.filter(({ name }) => name === UNCERTAIN.name)
const admitted = uncertain.filter(({ kept, isAdmitted }) => kept <= STRANGER_KEEPS && isAdmitted).length
const refused = uncertain.filter(({ kept, isAdmitted }) => kept >= MEMBER_KEEPS && !isAdmitted).length
process.stdout.write(
  `Not counted, ${UNCERTAIN.name}: ${admitted} strangers admitted and ${refused} members refused of ${uncertain.length}\n`,
)
if (options.write)
  for (const [name, text] of Object.entries(plotsOf(judged, { MEMBER_KEEPS, STRANGER_KEEPS, MIN_AGREEMENT })))
    writeFileSync(join(REPOSITORY, 'docs/pictures', name), text)
process.exitCode = report.isKept ? 0 : 1

interface Judged extends Point {
  readonly family: number
  readonly isAdmitted: boolean
  /** By the number of texts. */
  readonly agreements: ReadonlyMap<number, number>
}

async function demoCorpus(): Promise<Corpus> {
  await using place = new Workplace('families')
  const all = realTexts()
  const step = Math.floor(all.length / INDEXED)
  const texts = [...FAMILY_TEXTS, ...all.filter((_, index) => index % step === 0).slice(0, INDEXED)]
  const node = await startDemoNode(place.folder)
  const made = (await node.vectorsOf(texts, ['float', 'float16'])).get('float') ?? []
  const vectors = made.map((bytes) => unit(new Float32Array(new Uint8Array(bytes).buffer)))
  return { texts, vectors }
}

function judgedIn(family: number): readonly Judged[] {
  const chance = new Chance(Number(options.seed) + family)
  const first = familyOf(corpus, chance)
  const kinds = [MEMBERS, STRANGERS].flatMap((all) =>
    Array.from({ length: MODELS_EACH }, () => chance.pick(all)),
  )
  return [...kinds, UNCERTAIN].map((difference) =>
    judgedOf(family, difference, first, difference.make(first, chance, corpus)),
  )
}

function judgedOf(family: number, { name }: Difference, first: Vectors, other: Vectors): Judged {
  const agreements = new Map(
    [8, 16, 24, 32, FAMILY_TEXTS.length].map((count) => {
      const some = Array.from({ length: count }, (_, index) =>
        Math.floor((index * FAMILY_TEXTS.length) / count),
      )
      const [ones, others] = [first, other].map((vectors) => some.map((text) => vectors[text]!))
      return [count, agreementOf(ones!, others!)?.order ?? -1]
    }),
  )
  const agreement = agreementOf(first.slice(0, FAMILY_TEXTS.length), other.slice(0, FAMILY_TEXTS.length))
  return {
    family,
    name,
    agreements,
    agreement: agreement?.order ?? -1,
    isAdmitted: agreement !== undefined && disagreementOf(agreement) === undefined,
    kept: keptOf(first, other),
  }
}

/** At the width that both have. */
function keptOf(one: Vectors, other: Vectors): number {
  const width = Math.min(one[0]!.length, other[0]!.length)
  const [first, second] = [one, other].map((vectors) =>
    vectors
      .slice(FAMILY_TEXTS.length)
      .map((vector) => (vector.length === width ? vector : unit(vector.slice(0, width)))),
  )
  return Math.min(keptIn(first!, second!), keptIn(second!, first!))
}

function keptIn(index: Vectors, asking: Vectors): number {
  let [kept, wanted] = [0, 0]
  for (let text = 0; text < index.length; text += ASKS_EACH) {
    const own = new Set(nearest(index[text]!, index, text, NEAREST))
    kept += nearest(asking[text]!, index, text, NEAREST).filter((found) => own.has(found)).length
    wanted += NEAREST
  }
  return kept / wanted
}

function printKinds(): void {
  const rows = [...Map.groupBy(all, ({ name }) => name)].map(([name, some]) => {
    const [kept, agreement] = [some.map((one) => one.kept), some.map((one) => one.agreement)]
    return [
      name,
      String(some.length),
      rangeOf(kept),
      rangeOf(agreement),
      `${some.filter((one) => one.isAdmitted).length}`,
    ]
  })
  print([['model', 'count', 'kept of the ten nearest', 'agreement', 'admitted'], ...rows])
}

/** The models nearest to the limit. */
function printEdges(): void {
  const rowsOf = (what: string, all: readonly Judged[]): string[][] =>
    all.slice(0, 5).map(({ name, kept, agreement }) => [what, name, kept.toFixed(3), agreement.toFixed(3)])
  const byAgreement = (one: Judged, other: Judged): number => one.agreement - other.agreement
  const worstMembers = rowsOf('worst member', members.toSorted(byAgreement))
  const bestStrangers = rowsOf('best stranger', strangers.toSorted(byAgreement).toReversed())
  print([['', 'model', 'kept', 'agreement'], ...worstMembers, ...bestStrangers])
}

/** Whether fewer texts would do. */
function printCounts(): void {
  const rows = [8, 16, 24, 32, FAMILY_TEXTS.length].map((count) => {
    const [low, high] = [least(members, count), most(strangers, count)]
    return [String(count), low.toFixed(3), high.toFixed(3), (low - high).toFixed(3)]
  })
  print([['texts', 'worst member', 'best stranger', 'gap'], ...rows])
}

function least(all: readonly Judged[], texts: number): number {
  return Math.min(...all.map(({ agreements }) => agreements.get(texts) ?? -1))
}

function most(all: readonly Judged[], texts: number): number {
  return Math.max(...all.map(({ agreements }) => agreements.get(texts) ?? -1))
}

function rangeOf(values: readonly number[]): string {
  return `${Math.min(...values).toFixed(3)} to ${Math.max(...values).toFixed(3)}`
}
