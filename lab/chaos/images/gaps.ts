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

export const GAPS: readonly Gap[] = [
  {
    name: '1 begun, no call noted',
    model: 'plain',
    at: { probe: 'before-dispatch' },
    afterwards: 'pictures',
  },
  {
    name: '1 begun, one of three calls not noted',
    model: 'one-a-call',
    at: { probe: 'before-first-dispatch', arrivals: 3 },
    afterwards: 'pictures',
    fields: { n: 3 },
  },
  { name: '2 noted, not sent', model: 'plain', at: { probe: 'after-dispatch' }, afterwards: 'unknown' },
  { name: '3 sent, no reply', model: 'hanging', at: { provider: 'served' }, afterwards: 'unknown' },
  { name: '4 reply arriving', model: 'large', at: { probe: 'reply-arriving' }, afterwards: 'unknown' },
  {
    name: '4 reply read, nothing stored',
    model: 'plain',
    at: { probe: 'before-delivery' },
    afterwards: 'unknown',
  },
  // The record comes before the images, so that there is no gap in which images are stored without their record.
  {
    name: '5 recorded, pictures not stored',
    model: 'plain',
    at: { probe: 'before-picture' },
    afterwards: 'unknown',
  },
  {
    name: '5 pictures stored, call not ended',
    model: 'plain',
    at: { probe: 'after-picture' },
    afterwards: 'pictures',
  },
  {
    name: '6 delivered, not converted',
    model: 'only-png',
    at: { probe: 'before-conversion' },
    afterwards: 'pictures',
    fields: { output_format: 'webp' },
  },
  {
    name: '6 delivered, not in the books',
    model: 'plain',
    at: { probe: 'before-ledger' },
    afterwards: 'pictures',
  },
  { name: '7 in the books, not ended', model: 'plain', at: { probe: 'before-end' }, afterwards: 'pictures' },
  { name: '8 ended, not answered', model: 'plain', at: { probe: 'after-end' }, afterwards: 'pictures' },
  { name: '8 ended, half answered', model: 'large', at: { probe: 'within-answer' }, afterwards: 'pictures' },
  {
    name: '9 submit sent, no reply',
    model: 'polled-hanging',
    at: { provider: 'served' },
    afterwards: 'unknown',
  },
  {
    name: '9 submit answered, not stored',
    model: 'polled',
    at: { probe: 'before-submitted' },
    afterwards: 'unknown',
  },
  {
    name: '10 submit stored, no poll',
    model: 'polled',
    at: { probe: 'after-submitted' },
    afterwards: 'pictures',
  },
  { name: '11 between polls', model: 'polled-pending', at: { provider: 'polled' }, afterwards: 'pictures' },
  {
    name: '12 ready, not downloaded',
    model: 'polled',
    at: { probe: 'before-download' },
    afterwards: 'pictures',
  },
  {
    name: '12 downloaded, not kept',
    model: 'polled',
    at: { probe: 'after-download' },
    afterwards: 'pictures',
  },
  { name: 'any moment', model: 'slow', at: { randomMs: 1500 }, afterwards: 'either' },
  { name: 'any moment, polled', model: 'polled-slow', at: { randomMs: 4000 }, afterwards: 'either' },
]
