/** What the browser carries from the console to the identity provider and back, sealed. */
import type { FastifyRequest } from 'fastify'
import type { SignOnTrip } from '#ports/sign-on.ts'
import type { ControlNode } from './node.ts'

/** Life of a trip: as long as its cookie. */
const TRIP_MS = 600_000

export interface Trip extends SignOnTrip {
  /** The page of the console to go to. */
  readonly return: string
  /** An admin looks at the claims; the trip signs no person in. */
  readonly isTest: boolean
}

type Needed = Pick<ControlNode, 'seal' | 'clock'>

export function sealedTrip(trip: Trip, { seal, clock }: Needed): string {
  return seal.seal(JSON.stringify({ ...trip, untilMs: clock.nowMs() + TRIP_MS }))
}

export function openedTrip(sealed: string | undefined, { seal, clock }: Needed): Trip | undefined {
  const text = sealed === undefined ? undefined : seal.open(sealed)
  if (text === undefined) return undefined
  const trip = JSON.parse(text) as Trip & { untilMs: number; kind?: string }
  return trip.kind === undefined && trip.untilMs > clock.nowMs() ? trip : undefined
}

/** Goes into the address of a window in which an admin looks at the claims. */
export function testTicket({ seal, clock }: Needed): string {
  return seal.seal(JSON.stringify({ kind: 'test', untilMs: clock.nowMs() + TRIP_MS }))
}

export function isTestTicket(sealed: string, { seal, clock }: Needed): boolean {
  const text = seal.open(sealed)
  if (text === undefined) return false
  const { kind, untilMs } = JSON.parse(text) as { kind?: string; untilMs: number }
  return kind === 'test' && untilMs > clock.nowMs()
}

/** As the settings of the identity provider must have it. */
export function callbackUrl(
  request: FastifyRequest,
  { transports }: Pick<ControlNode, 'transports'>,
): string {
  return transports.link(request, 'api/v1/session/oidc/callback')
}
