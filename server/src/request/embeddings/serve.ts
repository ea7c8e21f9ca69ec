/**
 * Distinct inputs in, their vectors out, from the deployments that have a free turn. The caps of the
 * deployment decide how the inputs are split, each part is a call, and a failed part is tried at another
 * deployment, split again by that one's caps.
 */
import { slice, type Input } from '#core/embedding/input.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import type { CalledWork } from '../traffic/ended-call.ts'
import type { Turn } from '../traffic/turn.ts'
import { offersAfter } from '../traffic/next-deployment.ts'
import { endOf, type AdmittedRequest } from './admitted-request.ts'
import { attempt } from './attempt.ts'
import { Calls, type Part } from './calls.ts'
import { countedRunsOf, isReady, readyFor } from './one-call.ts'
import type { AccountedAnswer, ServedInputs } from './served.ts'

export function serve(
  request: AdmittedRequest,
  input: Input,
  slots: readonly number[],
  work: CalledWork = { part: 0, attempt: undefined },
): Promise<ServedInputs[]> {
  return servePart(request, new Calls(request), { input, slots, offers: request.offers, tries: 0, work })
}

/** An error thrown here ends the request: no further call begins for it. */
async function servePart(request: AdmittedRequest, calls: Calls, part: Part): Promise<ServedInputs[]> {
  try {
    const asked = calls.turn(part)
    const turn = asked instanceof Promise ? await asked : asked
    const preparing = prepared(request, calls, part, turn)
    const { ready, runs } = preparing instanceof Promise ? await preparing : preparing
    const [first, ...others] = runs
    if (first === undefined) throw new Fault('internal_error', 'There was nothing to serve.')
    if (others.length === 0) return await callOnce(request, calls, part, turn, ready)
    if (request.isLarge) await request.outside.yieldLoop()
    const cut = ([start, end]: readonly [number, number]): Part => ({
      ...part,
      input: slice(part.input, start, end),
      slots: part.slots.slice(start, end),
    })
    const later = others.map((run) => ({ ...cut(run), cause: undefined, work: calls.cutFrom(part.work) }))
    const served = await Promise.all([
      callOnce(request, calls, cut(first), turn, slice(ready, ...first)),
      ...later.map((one) => servePart(request, calls, one)),
    ])
    return served.flat()
  } catch (error) {
    calls.fail(error)
    throw error
  }
}

/** Inputs as a deployment takes them, and the call that each belongs to. */
interface PreparedInputs {
  readonly ready: Input
  readonly runs: readonly (readonly [number, number])[]
}

/** Immediate where the deployment takes the inputs unchanged. */
function prepared(
  request: AdmittedRequest,
  calls: Calls,
  { input, slots }: Part,
  turn: Turn<Offer>,
): PreparedInputs | Promise<PreparedInputs> {
  const { offer } = turn
  const runsFor = (ready: Input): PreparedInputs | Promise<PreparedInputs> => {
    const runs = countedRunsOf(ready, offer, request)
    return runs instanceof Promise ? runs.then((counted) => ({ ready, runs: counted })) : { ready, runs }
  }
  const giveUp = (error: unknown): never => {
    calls.gaveBack(turn)
    throw error
  }
  if (!isReady(offer)) return readyFor(request, input, slots, offer).then(runsFor).catch(giveUp)
  try {
    const preparing = runsFor(input)
    return preparing instanceof Promise ? preparing.catch(giveUp) : preparing
  } catch (error) {
    return giveUp(error)
  }
}

async function callOnce(
  request: AdmittedRequest,
  calls: Calls,
  part: Part,
  turn: Turn<Offer>,
  ready: Input,
): Promise<ServedInputs[]> {
  try {
    calls.check()
    const share = { request, inputs: ready, work: part.work }
    const [answer] = await attempt([share], turn.offer, request.wantedForm, turn.waitedMs)
    calls.ended(turn)
    return [{ offer: turn.offer, slots: part.slots, answer: answer as AccountedAnswer }]
  } catch (error) {
    return serveAfter(error, request, calls, part, turn)
  }
}

/** The call made with this turn has failed. The part is tried again, or the error ends the request. */
export async function serveAfter(
  error: unknown,
  request: AdmittedRequest,
  calls: Calls,
  part: Part,
  turn: Turn<Offer>,
): Promise<ServedInputs[]> {
  const next = nextPart(request, part, turn.offer, error)
  // Done before the turn is given back, so that the part that gets it sees the failure.
  if (next === undefined)
    calls.fail(endOf(error, request, (index) => request.placeOf(part.slots[index] ?? index)))
  calls.ended(turn, error)
  calls.check()
  if (next === undefined) throw error
  return servePart(request, calls, next)
}

/** The part as it is tried again after this error. Undefined when the error ends the request. */
function nextPart(request: AdmittedRequest, part: Part, failed: Offer, error: unknown): Part | undefined {
  const { clock, limits } = request.outside
  const isTimeOut = error instanceof UpstreamFailure && error.kind === 'timedOut'
  if (isTimeOut && clock.monotonicMs() >= request.deadlineMs) return undefined
  const { maxAttempts } = limits
  const offers = offersAfter(error, failed, part, { maxAttempts, buysOnce: false })
  return offers.length === 0 ? undefined : { ...part, offers, tries: part.tries + 1, cause: error }
}
