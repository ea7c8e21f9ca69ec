/** A model in the two lines of each column. Pure, with tests. */
import type { Schema } from '../../api/client.ts'
import { count, whole } from '../../app/format.ts'
import type { Mark } from '../../ui/state-mark.tsx'
import { STATE_MARKS } from '../../parts/deployments/state-marks.ts'
import { words } from '../../words/words.ts'

export type ModelRow = Schema<'ModelRow'>
type Brief = Schema<'DeploymentBrief'>
type Lines = readonly [first: string, second: string]

/** The worst first, as far as its mark tells. */
const WORST: readonly Mark[] = ['bad', 'odd', 'warn', 'wait', 'off']

export function illOf(deployments: readonly Brief[]): readonly Brief[] {
  const rank = ({ state }: Brief): number => WORST.indexOf(STATE_MARKS[state])
  return deployments.filter(({ state }) => state !== 'healthy').toSorted((a, b) => rank(a) - rank(b))
}

export function makes({ embedding, image }: ModelRow): Lines {
  const say = words.models
  if (embedding) {
    const { width, narrower } = embedding
    if (narrower === 'any') return [say.wide(width), say.anyNarrower]
    if (narrower === 'none') return [say.wide(width), say.thisWidth]
    return [say.wide(width), narrower.map(whole).join(' · ')]
  }
  if (image === null) return ['–', '']
  const { sizes } = image
  const megapixels = say.megapixels((sizes.max_pixels / 1_000_000).toFixed(1))
  if (sizes.kind === 'list') return [say.sizes(sizes.values.length), megapixels]
  if (sizes.kind === 'any') return [say.anySize, megapixels]
  const bounds = [
    ...(sizes.multiple_of !== null && sizes.multiple_of > 1 ? [say.multiple(sizes.multiple_of)] : []),
    ...(sizes.max_ratio === null ? [] : [say.ratio(sizes.max_ratio)]),
  ]
  return [megapixels, bounds.length > 0 ? bounds.join(', ') : say.any]
}

export function takes({ embedding, image }: ModelRow): Lines {
  const say = words.models
  if (embedding) {
    const { max_input_tokens: tokens, max_inputs: inputs } = embedding
    return [tokens === null ? say.anyTokens : say.tokens(tokens), say.inputsACall(inputs)]
  }
  if (image === null) return ['–', '']
  const given = image.max_given === 0 ? say.textOnly : say.picturesIn(image.max_given)
  return [given, say.aCall(image.max_per_call)]
}

/** `warn`: something of it has no price. */
export function priceLines({ price, owned_by: owner }: ModelRow): {
  readonly lines: Lines
  readonly warn: boolean
} {
  const say = words.models
  const [first, second] = price
  if (first === undefined || first.unit === 'unpriced')
    return { lines: [say.unpriced, say.unpricedNote], warn: true }
  if (first.unit === 'free')
    return { lines: [say.free, owner === 'demo' ? say.inProcess : (first.note ?? '')], warn: false }
  const isUnpriced = first.note === 'edits unpriced'
  const note = isUnpriced ? `, ${say.editsUnpriced}` : ''
  switch (first.unit) {
    case 'image':
      return { lines: [first.amount, `${say.perImage}${note}`], warn: isUnpriced }
    case 'megapixel':
      return { lines: [first.amount, `${say.perMegapixel}${note}`], warn: isUnpriced }
    case 'million tokens':
      return { lines: [first.amount, say.perTokens], warn: false }
    default:
      return {
        lines: [say.inOut(first.amount, second?.amount ?? '–'), `${say.perTokens}${note}`],
        warn: isUnpriced,
      }
  }
}

/** How many of its cells had trouble. */
export function troubles(cells: string): number {
  return Array.from(cells).filter((cell) => cell === 'b' || cell === 'q' || cell === 'w').length
}

/** As long before the end as answers tell of it. */
const NEAR_DAYS = 90

export function isNear({ days_left: days }: { readonly days_left: number }): boolean {
  return days <= NEAR_DAYS
}

/** Undefined: nothing is known, or it is far away. */
export function endsText({ ends }: ModelRow): string | undefined {
  if (ends === null || !isNear(ends)) return undefined
  return words.models.ends(ends.on, ends.days_left, ends.successor)
}

/** A model that is gone is not well, whatever its deployments say: it has none. */
export function markOf({ deployments, retired, ends }: ModelRow): Mark {
  const [worst] = illOf(deployments)
  if (retired !== null) return 'off'
  if (worst !== undefined) return STATE_MARKS[worst.state]
  return ends !== null && isNear(ends) ? 'warn' : 'good'
}

export function askedByText({ retired }: ModelRow): string | undefined {
  if (retired === null || retired.asked_by.length === 0) return undefined
  const sum = retired.asked_by.reduce((all, { requests_7d: requests }) => all + requests, 0)
  const names = retired.asked_by.slice(0, 3).map(({ key }) => key)
  const rest = retired.asked_by.length - names.length
  return words.models.askedBy(sum, [...names, ...(rest > 0 ? [`+${count(rest)}`] : [])].join(', '))
}
