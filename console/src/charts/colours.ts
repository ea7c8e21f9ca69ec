/** Colours of series and outcomes, as names of tokens. */

/** By rank; what comes after is `rest`. */
const SERIES = ['s1', 's2', 's3', 's4', 's5', 's6'] as const
export type Colour =
  | (typeof SERIES)[number]
  | 'rest'
  | 'good'
  | 'warn'
  | 'bad'
  | 'odd'
  | 'off'
  | 'ink'
  | 'ink-2'
  | 'pale'

const VARIABLES: Record<Colour, string> = {
  s1: 'var(--s1)',
  s2: 'var(--s2)',
  s3: 'var(--s3)',
  s4: 'var(--s4)',
  s5: 'var(--s5)',
  s6: 'var(--s6)',
  rest: 'var(--line-strong)',
  good: 'var(--good-fill)',
  warn: 'var(--warn-fill)',
  bad: 'var(--bad-fill)',
  odd: 'var(--odd-fill)',
  off: 'var(--line-strong)',
  ink: 'var(--ink)',
  'ink-2': 'var(--ink-2)',
  /** What is well, in quiet. */
  pale: 'color-mix(in srgb, var(--s1) 42%, var(--surface))',
}

export function paint(colour: Colour): string {
  return VARIABLES[colour]
}

export function seriesColour(rank: number): Colour {
  return SERIES[rank] ?? 'rest'
}

/** In the order of the stack, from below. */
export const OUTCOMES = ['answered', 'refused', 'limited', 'failed', 'unknown'] as const
export type Outcome = (typeof OUTCOMES)[number]

export const OUTCOME_COLOUR: Record<Outcome, Colour> = {
  answered: 'pale',
  refused: 'off',
  limited: 'warn',
  failed: 'bad',
  unknown: 'odd',
}

/** A token as the browser computes it now: for a canvas, which knows no variables. */
export function computed(colour: Colour): string {
  const probe = document.createElement('span')
  probe.style.color = VARIABLES[colour]
  document.body.append(probe)
  const value = getComputedStyle(probe).color
  probe.remove()
  return value
}
