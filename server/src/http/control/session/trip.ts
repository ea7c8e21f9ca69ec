/** What the browser carries from the console to the identity provider and back, sealed. */
import type { SignOnTrip } from '#ports/sign-on.ts'
import type { PeopleDependencies } from '../access/people.ts'

/** As long as the cookie. */
const TRIP_MS = 600_000

export interface Trip extends SignOnTrip {
  /** The page of the console to go to. */
  readonly return: string
  /** Nobody signs in: an admin looks at the claims. */
  readonly isTest: boolean
}

type Needed = Pick<PeopleDependencies, 'seal' | 'nowMs'>

export function sealedTrip(trip: Trip, { seal, nowMs }: Needed): string {
  return seal.seal(JSON.stringify({ ...trip, untilMs: nowMs() + TRIP_MS }))
}

export function openedTrip(sealed: string | undefined, { seal, nowMs }: Needed): Trip | undefined {
  const text = sealed === undefined ? undefined : seal.open(sealed)
  if (text === undefined) return undefined
  const trip = JSON.parse(text) as Trip & { untilMs: number; kind?: string }
  return trip.kind === undefined && trip.untilMs > nowMs() ? trip : undefined
}

/** An admin may look at claims by this, once it is in the address of a window of its own. */
export function testTicket({ seal, nowMs }: Needed): string {
  return seal.seal(JSON.stringify({ kind: 'test', untilMs: nowMs() + TRIP_MS }))
}

export function isTestTicket(sealed: string, { seal, nowMs }: Needed): boolean {
  const text = seal.open(sealed)
  if (text === undefined) return false
  const { kind, untilMs } = JSON.parse(text) as { kind?: string; untilMs: number }
  return kind === 'test' && untilMs > nowMs()
}

/** Only a page of the console itself: an address of others would be handed to a person who has just signed in. */
export function ownPath(asked: string | undefined): string {
  const here = 'http://console.invalid'
  const url = asked?.startsWith('/') === true ? URL.parse(asked, here) : null
  return url?.origin === here ? `${url.pathname}${url.search}` : '/'
}
