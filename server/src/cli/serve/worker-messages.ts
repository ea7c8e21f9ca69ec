/** What a supervisor and its workers say to each other. */
import type { PortName } from '#http/listeners.ts'

export type ToSupervisor =
  /** The worker takes requests from now on. `banner` is for the person at the terminal. */
  | { readonly kind: 'ready'; readonly banner: string }
  /** This worker is being scraped: it asks for the counts of all workers. */
  | { readonly kind: 'scrape'; readonly id: number }
  /** What this worker alone has counted, in answer to `count`, or as its last word with no `id`. */
  | { readonly kind: 'counted'; readonly id?: number; readonly text: string }

export type ToWorker =
  | { readonly kind: 'count'; readonly id: number }
  | { readonly kind: 'scraped'; readonly id: number; readonly text: string }
  /** Another worker stands in your place: end what you have. */
  | { readonly kind: 'replaced' }
  /** Comes with a connection that the supervisor took while no worker did: it belongs to this port. */
  | { readonly kind: 'connection'; readonly to: PortName }
