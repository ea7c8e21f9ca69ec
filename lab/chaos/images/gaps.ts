/** The gaps in an image job's life, and what must happen to a job whose process dies there. */
import type { ModelId } from './house.ts'

export interface Gap {
  readonly name: string
  readonly model: ModelId
  /** How its jobs are brought there: held by the probe, or until the provider has seen this much of each. */
  readonly at:
    | { readonly probe: string; readonly arrivals?: number }
    | { readonly provider: 'served' | 'polled' }
    /** At a random time up to this long after the provider has served the first. */
    | { readonly randomMs: number }
  /**
   * `pictures`: all of them are there afterwards. `unknown`: the outcome can't be known. `either`: one or the
   * other, never none.
   */
  readonly afterwards: 'pictures' | 'unknown' | 'either'
  readonly fields?: Readonly<Record<string, unknown>>
}

const probe = (place: string): Gap['at'] => ({ probe: place })
const provider = (seen: 'served' | 'polled'): Gap['at'] => ({ provider: seen })

function gap(
  name: string,
  model: ModelId,
  at: Gap['at'],
  afterwards: Gap['afterwards'],
  fields: Gap['fields'] = {},
): Gap {
  return { name, model, at, afterwards, fields }
}

export const GAPS: readonly Gap[] = [
  gap('1 begun, no call noted', 'plain', probe('before-dispatch'), 'pictures'),
  gap(
    '1 begun, one of three calls not noted',
    'one-a-call',
    { probe: 'before-first-dispatch', arrivals: 3 },
    'pictures',
    { n: 3 },
  ),
  gap('2 noted, not sent', 'plain', probe('after-dispatch'), 'unknown'),
  gap('3 sent, no reply', 'hanging', provider('served'), 'unknown'),
  gap('4 reply arriving', 'large', probe('reply-arriving'), 'unknown'),
  gap('4 reply read, nothing stored', 'plain', probe('before-delivery'), 'unknown'),
  // The record comes before the images, so that there is no gap in which images are stored without their record.
  gap('5 recorded, pictures not stored', 'plain', probe('before-picture'), 'unknown'),
  gap('5 pictures stored, call not ended', 'plain', probe('after-picture'), 'pictures'),
  gap('6 delivered, not converted', 'only-png', probe('before-conversion'), 'pictures', {
    output_format: 'webp',
  }),
  gap('6 delivered, not in the ledger', 'plain', probe('before-ledger'), 'pictures'),
  gap('7 in the ledger, not ended', 'plain', probe('before-end'), 'pictures'),
  gap('8 ended, not answered', 'plain', probe('after-end'), 'pictures'),
  gap('8 ended, half answered', 'large', probe('within-answer'), 'pictures'),
  gap('9 submit sent, no reply', 'polled-hanging', provider('served'), 'unknown'),
  gap('9 submit answered, not stored', 'polled', probe('before-submitted'), 'unknown'),
  gap('10 submit stored, no poll', 'polled', probe('after-submitted'), 'pictures'),
  gap('11 between polls', 'polled-pending', provider('polled'), 'pictures'),
  gap('12 ready, not downloaded', 'polled', probe('before-download'), 'pictures'),
  gap('12 downloaded, not kept', 'polled', probe('after-download'), 'pictures'),
  gap('any moment', 'slow', { randomMs: 1500 }, 'either'),
  gap('any moment, polled', 'polled-slow', { randomMs: 4000 }, 'either'),
]
