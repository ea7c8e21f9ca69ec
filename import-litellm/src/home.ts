/** Where a deployment runs, and what is at hand while that is found out. */
import type { Facts } from 'torana/config'
import type { Notes } from './notes.ts'
import type { UpstreamDraft } from './torana-file.ts'
import type { Variables } from './variables.ts'

export interface Context {
  readonly facts: Facts
  readonly variables: Variables
  readonly notes: Notes
}

export interface Home {
  /** A name for the upstream, should it be free. */
  readonly wish: string
  /** Torana's provider, if it has facts about it. */
  readonly provider: string | undefined
  /** What the upstream calls the model, where that is not all that stands behind the provider's name. */
  readonly model?: string | undefined
  readonly draft: UpstreamDraft
}
