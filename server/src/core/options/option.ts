/** The support of each deployment of a model for each option of a request, as the negotiation decides it. */
import { Fault } from '../fault/fault.ts'

export type OptionGroup = 'answers' | 'takes' | 'money'

/** The support of one deployment for an option: native, emulated by Torana, none, or a figure. */
export interface OptionCell {
  readonly how: 'native' | 'emulated' | 'refused' | 'value'
  /** Torana's emulation in three words, or the figure. */
  readonly value: string
}

export interface OptionRow {
  readonly group: OptionGroup
  readonly option: string
  /** By the id of the deployment. */
  readonly byDeployment: ReadonlyMap<string, OptionCell>
}

/** The names that a table of models shows as icons. A missing one is refused. */
export type Abilities = Readonly<Record<string, 'native' | 'emulated'>>

export const NATIVE: OptionCell = { how: 'native', value: 'native' }
export const REFUSED: OptionCell = { how: 'refused', value: 'refused' }

export function emulated(value: string): OptionCell {
  return { how: 'emulated', value }
}

export function figure(value: string): OptionCell {
  return { how: 'value', value }
}

/** The result of negotiating one request with one deployment, for one option. */
export function negotiated(
  ask: () => { readonly offers: readonly { readonly emulated: readonly string[] }[] },
  option: string,
  instead: string,
): OptionCell {
  try {
    const { offers } = ask()
    return offers[0]?.emulated.includes(option) === true ? emulated(instead) : NATIVE
  } catch (error) {
    if (error instanceof Fault) return REFUSED
    throw error
  }
}

/** The best of several deployments: one with native support is enough. */
function bestOf(cells: Iterable<OptionCell>): 'native' | 'emulated' | undefined {
  let best: 'native' | 'emulated' | undefined
  for (const { how } of cells) {
    if (how === 'native') return 'native'
    if (how === 'emulated') best = 'emulated'
  }
  return best
}

export function abilitiesOf(rows: Readonly<Record<string, OptionRow | undefined>>): Abilities {
  const entries = Object.entries(rows).flatMap(([name, row]) => {
    const best = row && bestOf(row.byDeployment.values())
    return best === undefined ? [] : [[name, best] as const]
  })
  return Object.fromEntries(entries)
}
